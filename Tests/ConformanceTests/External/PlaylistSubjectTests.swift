import Results
import Testing
import Vectors

@testable import Conformance

@Suite("playlists over the protocol", .enabled(if: SubjectPrograms.hasPython, "no python3 with cryptography"))
struct PlaylistSubjectTests {
    private static let command = "python3 '\(SubjectPrograms.package)/Tests/Subjects/playlists_only.py'"

    private static func record(_ command: String, _ groups: [VectorGroup] = PlaylistSet.all) throws -> ConformanceRecord
    {
        try ExternalVerification(command: command, timeout: .seconds(300)).run(
            groups, tier: VectorTier(of: groups, largestCount: 600)
        ).record
    }

    @Test("a subject that can do nothing else passes, served and from folders", arguments: ["served path", "path"])
    func alone(sources: String) throws {
        let record = try Self.record("\(Self.command) \(sources)")
        #expect(record.failures == [])
        #expect(record.passed > 700)
        // What it fetches, nobody judges; all else there is, it was asked.
        let flags = Dictionary(uniqueKeysWithValues: (record.flags ?? []).map { ($0.flag, $0) })
        #expect(flags[ExternalFlag.subjectProtocol.rawValue].map { $0.passed > 30 } == true)
        #expect(flags[ExternalFlag.measurement.rawValue].map { $0.passed > 10 } == true)
        #expect(flags[VectorFlag.initializationSection.rawValue].map { $0.passed > 20 } == true)
        #expect((flags[ExternalFlag.path.rawValue] != nil) == (sources == "served path"))
    }

    @Test("what such a subject cannot do is unsupported, and no failure")
    func others() throws {
        let record = try Self.record(Self.command, VectorSet.exhaustive(blockCounts: 0...0))
        #expect(record.failures == [])
        #expect(record.unsupported > 20)
    }

    @Test("the example in Python reads playlists beside all else")
    func example() throws {
        let command = "python3 '\(SubjectPrograms.package)/Examples/subjects/python_cryptography.py'"
        let record = try Self.record(command)
        #expect(record.failures == [] && record.passed > 1000)
        #expect((record.flags ?? []).contains { $0.flag == VectorFlag.sequenceIV.rawValue && $0.passed > 20 })
    }
}
