import Crypto
import Foundation
import Report
import Results
import Testing

/// The page: its golden files, what a browser may do with it, and what stands where.
@Suite struct PageTests {
    private static let folder = GoldenFolder("GoldenPage")
    private static let seen = renderReport(PageFixture.results)
        .filter { $0.name.hasSuffix(".html") || $0.name.hasSuffix(".svg") }

    @Test("a page with everything in it, and each of its pictures, are the same as ever", arguments: seen)
    func golden(file: ReportFile) throws {
        try Self.folder.expect(
            file.bytes, in: file.name, withStyle: ["index.html", "throughput.svg"].contains(file.name))
    }

    @Test("every picture has the style of the one that is compared with it")
    func style() {
        let styles = Self.seen.filter { $0.name.hasSuffix(".svg") }.map {
            String(decoding: $0.bytes, as: UTF8.self).components(separatedBy: "<style>")[1]
                .components(separatedBy: "</style>")[0]
        }
        #expect(Set(styles).count == 1)
    }

    @Test("every golden file belongs to the page, and every picture has one")
    func noStaleFiles() throws {
        #expect(Set(try Self.folder.names) == Set(Self.seen.map(\.name)))
        #expect(
            Set(Self.seen.map(\.name)) == [
                "index.html", "pareto.svg", "throughput.svg", "heat.svg", "ratios.svg", "memory.svg", "first-byte.svg",
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

    /// Expects a file to hold these bytes; the contents of `style` and `script` elements stand in one page and one picture
    /// only, and are an ellipsis elsewhere.
    func expect(_ bytes: [UInt8], in name: String, withStyle: Bool = false) throws {
        let isMarkup = name.hasSuffix(".html") || name.hasSuffix(".svg")
        let bytes = isMarkup && !withStyle ? Self.withoutStyle(bytes) : bytes
        let file = url.appendingPathComponent(name)
        if ProcessInfo.processInfo.environment["CHUNKWISE_UPDATE_GOLDEN"] == "1" {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            try Data(bytes).write(to: file)
        }
        let difference = firstDifference([UInt8](try Data(contentsOf: file)), bytes)
        #expect(difference == nil, "\(name), \(difference ?? "")")
    }

    private static func withoutStyle(_ bytes: [UInt8]) -> [UInt8] {
        var text = String(decoding: bytes, as: UTF8.self)
        for element in ["style", "script"] {
            guard let start = text.range(of: "<\(element)>"), let end = text.range(of: "</\(element)>") else {
                continue
            }
            text.replaceSubrange(start.upperBound..<end.lowerBound, with: "…")
        }
        return Array(text.utf8)
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

extension ReportFile: CustomTestStringConvertible {
    /// The name; the content would fill pages.
    public var testDescription: String { name }
}
