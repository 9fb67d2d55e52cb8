import Report
import Results
import Support
import Testing

@Suite("runs side by side")
struct SideBySideTests {
    private static let folder = GoldenFolder("GoldenSideBySide")

    /// Two runs of one machine and one of another, which is exactly twice as fast.
    private static let three: SideBySide = {
        var later = Fixture.small
        later.header.startedAt = "2026-11-22T12:00:00Z"
        later.isComplete = false
        later.cells.removeLast(3)
        var other = Fixture.small
        other.header.host.name = "bench-2"
        other.header.host.cpuModel = "Other <CPU>"
        other.header.backends[0].version = "3.5.0"
        other.cells = other.cells.map { cell in
            var cell = cell
            cell.rounds = cell.rounds.map { $0.map { $0 / 2 } }
            return cell
        }
        return SideBySide([("later", later), ("other", other), ("first", Fixture.small)])
    }()

    @Test("a page of several runs is the same as ever, byte for byte", arguments: three.files)
    func golden(file: ReportFile) throws {
        try Self.folder.expect(file.bytes, in: file.name)
    }

    @Test("every golden file belongs to the page")
    func noStaleFiles() throws {
        #expect(Set(try Self.folder.names) == Set(Self.three.files.map(\.name)))
    }

    @Test("figures are those of each run, and none lies between two hosts")
    func noAverage() throws {
        let json = try #require(JSONValue.parse(Self.three.file(.json).bytes))
        let runs = try #require(json["runs"]?.array)
        #expect(json["hostCount"] == 2 && runs.count == 3)
        // The runs of the first host stand together, in the order of their starts.
        #expect(runs.compactMap { $0["name"]?.string } == ["first", "later", "other"])
        let rates = runs.compactMap { $0["cells"]?.array?.first?["bytesPerSecond"]?.integer }
        #expect(rates.count == 3 && rates[0] == rates[1] && abs(Double(rates[2]) / Double(rates[0]) - 2) < 1e-3)
        let own = try #require(JSONValue.parse(RunReport(Fixture.small).file(.json).bytes))
        #expect(own["cells"]?.array?.first?["bytesPerSecond"]?.integer == rates[0])
    }

    @Test("the same run given twice is said")
    func twice() {
        let page = String(
            decoding: SideBySide([("a", Fixture.small), ("b", Fixture.small)]).file(.html).bytes, as: UTF8.self)
        #expect(page.contains("the same run, given twice"))
    }

    @Test("the document of several runs keeps to JUnit's schema")
    func junit() {
        let schema = JUnitSchema(String(decoding: Self.three.file(.junit).bytes, as: UTF8.self))
        #expect(schema.mismatches.isEmpty, "\(schema.mismatches)")
    }
}
