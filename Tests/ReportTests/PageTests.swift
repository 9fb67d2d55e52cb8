import Crypto
import Foundation
import Report
import Results
import Testing

/// The page: its golden file, its pictures in files of their own, what a browser may do with it, and what stands where.
@Suite struct PageTests {
    private static let full = page(PageFixture.results)
    private static let pictures = renderReport(PageFixture.results).filter { $0.name.hasSuffix(".svg") }

    @Test("a page with everything in it is the same as ever, byte for byte")
    func golden() throws {
        let folder = GoldenFolder("GoldenPage")
        try folder.expect(Array(Self.full.utf8), in: "index.html")
        #expect(try folder.names == ["index.html"])
    }

    @Test("a picture in a file of its own is drawn as on the page, and has its words", arguments: pictures)
    func picture(file: ReportFile) {
        expectWhole(file)
        let parts = String(decoding: file.bytes, as: UTF8.self).components(
            separatedBy: "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n")
        #expect(parts.count == 2 && parts[1].hasSuffix("</svg>\n") && Self.full.contains(parts[1]))
        #expect(parts[0].contains("<title id=") && parts[0].contains("<desc id="))
    }

    @Test("the pictures are these, and have one style")
    func style() {
        let styles = Self.pictures.map {
            String(decoding: $0.bytes, as: UTF8.self).components(separatedBy: "<style>")[1]
                .components(separatedBy: "</style>")[0]
        }
        #expect(Set(styles).count == 1 && styles[0].contains(".chart .paper { fill: #ffffff; }"))
        #expect(
            Set(Self.pictures.map(\.name)) == [
                "pareto.svg", "throughput.svg", "heat.svg", "ratios.svg", "memory.svg", "first-byte.svg",
                "window-latency.svg", "latency.svg", "traces.svg", "amplification.svg",
            ])
    }

    @Test("the policy allows the one script that is there, and nothing else")
    func policy() throws {
        let page = Self.page(PageFixture.results)
        let scripts = page.components(separatedBy: "<script>").dropFirst()
            .map { $0.components(separatedBy: "</script>")[0] }
        let script = try #require(scripts.first)
        #expect(scripts.count == 1 && page.components(separatedBy: "<script").count == 2)
        let digest = Data(SHA256.hash(data: Data(script.utf8))).base64EncodedString()
        #expect(page.contains("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-\(digest)';"))
        #expect(!page.contains(" style=\"") && !page.contains(" onclick="))
    }

    @Test("verdict, pictures, matrices, tables and provenance come in this order")
    func order() throws {
        let page = Self.page(PageFixture.results)
        let identifiers = page.components(separatedBy: "<section id=\"").dropFirst().map {
            $0.components(separatedBy: "\"")[0]
        }
        let expected = [
            "verdict", "throughput", "ratios", "memory", "first-byte", "latency", "amplification", "conformance",
            "mutants", "failures", "published", "other-reads", "cells", "usage", "warnings", "provenance", "reading",
        ]
        #expect(identifiers.filter(expected.contains) == expected)
    }

    @Test(
        "each picture has a description, and a table in its section", arguments: [PageFixture.results, PageFixture.odd])
    func words(results: RunResults) {
        let page = Self.page(results)
        for section in page.components(separatedBy: "<section ").dropFirst() where section.contains("<svg") {
            #expect(section.contains("<table>") && section.contains("<caption>"), "\(section.prefix(60))")
        }
        for picture in page.components(separatedBy: "<figure class=\"picture\">").dropFirst() {
            #expect(picture.components(separatedBy: "</figure>")[0].contains("<figcaption id="))
        }
    }

    @Test("odd names stay text, in the page and in every picture")
    func escaping() {
        for file in renderReport(PageFixture.odd) where file.name.hasSuffix(".html") || file.name.hasSuffix(".svg") {
            let text = String(decoding: file.bytes, as: UTF8.self)
            #expect(!text.contains("alert(1)<") && !text.contains("<b>"), "\(file.name)")
            #expect(text.components(separatedBy: "<script").count == (file.name == "index.html" ? 2 : 1))
        }
    }

    @Test("what is missing for injected faults is said")
    func withoutMutants() {
        #expect(Self.page(Fixture.small).contains("verify mutants"))
        let page = Self.page(PageFixture.results)
        #expect(page.contains("tail-doubled") && page.contains("Injected faults survived"))
    }

    @Test("a page of more cells than tables show says so, and stays small")
    func manyCells() {
        var results = PageFixture.results
        let cell = results.cells[0]
        results.cells = (0..<1500).map { index in
            var copy = cell
            copy.cell.windowByteCount = 4096 + UInt64(index)
            copy.check?.cell = copy.cell
            return copy
        }
        let page = Self.page(results)
        #expect(page.contains("The first 300 of 1,500"))
        #expect(page.utf8.count < 4_000_000, "\(page.utf8.count)")
    }

    static func page(_ results: RunResults) -> String {
        renderReport(results).first { $0.name == "index.html" }.map { String(decoding: $0.bytes, as: UTF8.self) } ?? ""
    }
}

/// Compares the files of a report that are no page and no picture with files beside this one; `PageTests` has those.
///
/// `CHUNKWISE_UPDATE_GOLDEN=1 swift test --filter ReportTests` rewrites them; the difference is then for a person to
/// read. `CHUNKWISE_SHOWCASE=DIR` writes the report of the realistic fixture to a folder that exists, to be looked at.
@Suite struct GoldenTests {
    private static let folder = GoldenFolder("Golden")
    private static let files = renderReport(Fixture.small)
        .filter { !$0.name.hasSuffix(".html") && !$0.name.hasSuffix(".svg") }

    @Test("a report is the same as ever, byte for byte", arguments: files)
    func golden(file: ReportFile) throws {
        try Self.folder.expect(file.bytes, in: file.name)
    }

    @Test("every golden file belongs to the report")
    func noStaleFiles() throws {
        #expect(Set(try Self.folder.names) == Set(Self.files.map(\.name)))
    }

    @Test("the same results give the same bytes")
    func determinism() throws {
        let files = renderReport(RealisticFixture.results)
        #expect(files == renderReport(RealisticFixture.results))
        if let folder = ProcessInfo.processInfo.environment["CHUNKWISE_SHOWCASE"] {
            for file in files {
                try Data(file.bytes).write(to: URL(fileURLWithPath: folder).appendingPathComponent(file.name))
            }
        }
    }
}

/// A folder beside this file with what renderers wrote when somebody last looked.
///
/// `CHUNKWISE_UPDATE_GOLDEN=1 swift test --filter ReportTests` rewrites its files; the difference is then for a person to
/// read.
struct GoldenFolder {
    private let url: URL

    init(_ name: String) {
        url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(name)
    }

    /// The names of its files.
    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: url.path) }
    }

    /// Expects a file to hold these bytes.
    func expect(_ bytes: [UInt8], in name: String) throws {
        let file = url.appendingPathComponent(name)
        if ProcessInfo.processInfo.environment["CHUNKWISE_UPDATE_GOLDEN"] == "1" {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            try Data(bytes).write(to: file)
        }
        let difference = firstDifference([UInt8](try Data(contentsOf: file)), bytes)
        #expect(difference == nil, "\(name), \(difference ?? "")")
    }

    /// Returns the first line in which two texts differ, or `nil` if they are the same.
    private func firstDifference(_ expected: [UInt8], _ found: [UInt8]) -> String? {
        guard expected != found else { return nil }
        let newline = UInt8(ascii: "\n")
        let expectedLines = expected.split(separator: newline, omittingEmptySubsequences: false)
        let foundLines = found.split(separator: newline, omittingEmptySubsequences: false)
        let index = zip(expectedLines, foundLines).enumerated().first { $0.element.0 != $0.element.1 }?.offset
        let line = index ?? min(expectedLines.count, foundLines.count)
        func text(_ lines: [ArraySlice<UInt8>]) -> String {
            line < lines.count ? String(decoding: lines[line], as: UTF8.self) : "(end)"
        }
        return "line \(line + 1): expected \(text(expectedLines)), found \(text(foundLines))"
    }
}

/// Expects parts in a text for a terminal, whatever its line breaks and its columns, and at most 80 columns.
func expectText(_ text: String, has parts: [String], sourceLocation: SourceLocation = #_sourceLocation) {
    let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    for part in parts { #expect(words.contains(part), "\(part)", sourceLocation: sourceLocation) }
    let widest = text.split(separator: "\n").max { $0.count < $1.count } ?? ""
    #expect(widest.count <= 80, "\(widest)", sourceLocation: sourceLocation)
}

extension ReportFile: CustomTestStringConvertible {
    /// The name; the content would fill pages.
    public var testDescription: String { name }
}
