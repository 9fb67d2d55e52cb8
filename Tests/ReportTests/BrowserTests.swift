import Foundation
import Report
import Results
import TestSupport
import Testing

/// Pages in headless Chromium; `scripts/check-page` says what is looked at.
///
/// `CHUNKWISE_SCREENSHOTS=DIR` keeps the pictures.
@Suite(.serialized) struct BrowserTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path(percentEncoded: false)

    private static var isInstalled: Bool {
        Programs.installed("chromium") != nil && Programs.installed("chromedriver") != nil
            && FileManager.default.fileExists(atPath: root + ".build-browser/ready-1")
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
        let path = URL(filePath: root + "reports/2026-11-21-vm/results.jsonl")
        return try RunResults(records: ResultRecord.read([UInt8](Data(contentsOf: path))).records)
    }
}
