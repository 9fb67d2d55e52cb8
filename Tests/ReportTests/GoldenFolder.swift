import Foundation
import Report
import Testing

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

extension ReportFile: CustomTestStringConvertible {
    /// The name; the content would fill pages.
    public var testDescription: String { name }
}
