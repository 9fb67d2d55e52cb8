import Foundation
import Report
import Results
import Testing

/// Compares whole reports with files beside this one.
///
/// `CHUNKWISE_UPDATE_GOLDEN=1 swift test --filter ReportTests` rewrites them; the difference is then for a person to
/// read. `CHUNKWISE_SHOWCASE=DIR` writes the report of the realistic fixture to a folder that exists, to be looked at.
@Suite struct GoldenTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Golden")
    private static let environment = ProcessInfo.processInfo.environment

    @Test("a report is the same as ever, byte for byte", arguments: renderReport(Fixture.small))
    func golden(file: ReportFile) throws {
        let url = Self.folder.appendingPathComponent(file.name)
        if Self.environment["CHUNKWISE_UPDATE_GOLDEN"] == "1" {
            try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
            try Data(file.bytes).write(to: url)
        }
        let expected = [UInt8](try Data(contentsOf: url))
        let difference = firstDifference(expected, file.bytes)
        #expect(difference == nil, "\(file.name), \(difference ?? "")")
    }

    @Test("every golden file belongs to the report")
    func noStaleFiles() throws {
        let found = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(Set(found) == Set(renderReport(Fixture.small).map(\.name)))
    }

    @Test("the same results give the same bytes")
    func determinism() throws {
        let files = renderReport(RealisticFixture.results)
        #expect(files == renderReport(RealisticFixture.results))
        if let folder = Self.environment["CHUNKWISE_SHOWCASE"] {
            for file in files {
                try Data(file.bytes).write(to: URL(fileURLWithPath: folder).appendingPathComponent(file.name))
            }
        }
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
