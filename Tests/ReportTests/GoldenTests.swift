import Foundation
import Report
import Results
import Testing

/// Compares whole reports with files beside this one.
///
/// `CHUNKWISE_UPDATE_GOLDEN=1 swift test --filter ReportTests` rewrites them; the difference is then for a person to
/// read. `CHUNKWISE_SHOWCASE=DIR` writes the report of the realistic fixture to a folder that exists, to be looked at.
@Suite struct GoldenTests {
    private static let folder = GoldenFolder("Golden")

    @Test("a report is the same as ever, byte for byte", arguments: renderReport(Fixture.small))
    func golden(file: ReportFile) throws {
        try Self.folder.expect(file.bytes, in: file.name)
    }

    @Test("every golden file belongs to the report")
    func noStaleFiles() throws {
        #expect(Set(try Self.folder.names) == Set(renderReport(Fixture.small).map(\.name)))
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
