import Foundation
import Report
import Results
import TestSupport
import Testing

/// Colours and lines, as far as a program can judge them: contrast, and that no two series look the same.
@Suite struct AppearanceTests {
    private static let page = PageTests.page(PageFixture.results)

    /// The colours of a theme by name, as the page's style states them.
    private static func colours(_ theme: String) -> [String: String] {
        let blocks = page.components(separatedBy: ":root {")
        let block = theme == "light" ? blocks[1] : blocks[2]
        var colours: [String: String] = [:]
        for line in block.components(separatedBy: "}")[0].components(separatedBy: "\n") where line.hasPrefix("--") {
            let parts = line.dropFirst(2).dropLast().components(separatedBy: ": ")
            if parts.count == 2 { colours[parts[0]] = parts[1] }
        }
        return colours
    }

    /// The contrast of two colours.
    /// - Source: WCAG 2.2, definitions of contrast ratio and relative luminance.
    private static func contrast(_ one: String, _ other: String) -> Double {
        func luminance(_ colour: String) -> Double {
            let value = UInt32(colour.dropFirst(), radix: 16) ?? 0
            func channel(_ shift: UInt32) -> Double {
                let share = Double((value >> shift) & 255) / 255
                return share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4)
            }
            return 0.2126 * channel(16) + 0.7152 * channel(8) + 0.0722 * channel(0)
        }
        let (a, b) = (luminance(one), luminance(other))
        return (max(a, b) + 0.05) / (min(a, b) + 0.05)
    }

    @Test("all text has a contrast of 4.5:1 on what lies under it", arguments: ["light", "dark"])
    func contrast(theme: String) throws {
        let colours = Self.colours(theme)
        var pairs = ["ink", "muted", "link", "good", "bad"].flatMap { [($0, "paper"), ($0, "panel")] }
        pairs += (0..<6).map { ("s\($0)", "paper") } + (0..<7).map { ("i\($0)", "h\($0)") } + [("ink", "badpaper")]
        for (text, ground) in pairs {
            let one = try #require(colours[text], "\(text)")
            let other = try #require(colours[ground], "\(ground)")
            #expect(Self.contrast(one, other) >= 4.5, "\(theme): \(text) \(one) on \(ground) \(other)")
        }
    }

    @Test("each shade of the heat map is lighter or darker than the one before by a step that can be seen")
    func shades() throws {
        for theme in ["light", "dark"] {
            let colours = Self.colours(theme)
            for shade in 1..<7 {
                let (one, other) = (try #require(colours["h\(shade - 1)"]), try #require(colours["h\(shade)"]))
                #expect(Self.contrast(one, other) > 1.1, "\(theme): h\(shade)")
            }
        }
    }

    @Test("twelve backends have twelve lines that differ in colour or dashes, and marks that differ too")
    func manySeries() throws {
        var results = PageFixture.results
        results.conformance = []
        results.header.backends = []
        results.cells = (0..<14).flatMap { backend in
            [4096, 65536].map {
                Fixture.sequential("b\(backend)", window: $0, milliseconds: Double(backend + 1), growth: $0)
            }
        }
        let file = try #require(renderReport(results).first { $0.name == "throughput.svg" })
        let svg = String(decoding: file.bytes, as: UTF8.self)
        let lines = svg.components(separatedBy: "<line class=\"line ").dropFirst().map {
            $0.components(separatedBy: "\"")[0]
        }
        #expect(lines.count == 12 && Set(lines).count == 12, "\(lines)")
        #expect(svg.contains("Of 14 backends the first 12 are drawn"))
    }
}

/// Pages in headless Chromium; `scripts/check-page` says what is looked at.
///
/// `CHUNKWISE_SCREENSHOTS=DIR` keeps the pictures.
@Suite(.serialized) struct BrowserTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path(percentEncoded: false)

    private static var isInstalled: Bool {
        Programs.installed("chromium") != nil && Programs.installed("chromedriver") != nil
            && FileManager.default.fileExists(atPath: root + ".build-browser/ready")
    }

    @Test(
        "the page has no fault in a browser: a full default sweep, odd contents, and keys alone",
        .enabled(if: isInstalled, "chromium, chromium-driver, selenium and axe-core: scripts/setup tests"),
        arguments: ["sweep", "odd", "keys"])
    func page(name: String) throws {
        let folder = try TemporaryFolder()
        for file in try Self.files(name) { try folder.file(file.name, file.bytes) }
        var arguments = [folder.path]
        if let kept = ProcessInfo.processInfo.environment["CHUNKWISE_SCREENSHOTS"] {
            arguments.append(URL(filePath: kept).appending(path: name).path(percentEncoded: false))
        }
        let run = try CommandRun.run(Self.root + "scripts/check-page", arguments)
        #expect(run.status == 0, "\(run.errorLines.joined(separator: "\n"))")
        #expect(run.text.contains("\"problems\": 0"), "\(run.text)")
        let page = try #require(folder.bytes("index.html"))
        #expect(page.count < 2_000_000, "\(page.count) bytes")
    }

    private static func files(_ name: String) throws -> [ReportFile] {
        let keys = KeyResults(waits: KeySamples.waits, load: KeySamples.load, loopback: KeySamples.loopback)
        return switch name {
        case "odd": renderReport(PageFixture.odd)
        case "keys": KeyReport(keys).files
        default: RunReport(try sweep(), keys: keys).files
        }
    }

    private static func sweep() throws -> RunResults {
        let path = URL(filePath: root + "reports/reference/results.jsonl")
        return try RunResults(records: ResultRecord.read([UInt8](Data(contentsOf: path))).records)
    }
}
