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
        // Its fetches are not judged; everything else was asked.
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

@Suite("films over the protocol", .enabled(if: SubjectPrograms.hasPython, "no python3 with cryptography"))
struct FilmSubjectTests {
    private func record(_ words: String) throws -> ConformanceRecord {
        let groups = FilmSet.all
        let command = "python3 '\(SubjectPrograms.package)/Tests/Subjects/films_only.py' \(words)"
        return try ExternalVerification(command: command, timeout: .seconds(300)).run(
            groups, tier: VectorTier(of: groups, largestCount: 600)
        ).record
    }

    private func flags(_ record: ConformanceRecord) -> [String: ConformanceRecord.FlagOutcome] {
        Dictionary(uniqueKeysWithValues: (record.flags ?? []).map { ($0.flag, $0) })
    }

    @Test("a subject that reads boxes alone passes the checks of the protocol with a film that has them")
    func boxes() throws {
        let record = try record("boxes")
        #expect(record.failures == [] && record.unsupported > 0)
        #expect(flags(record)[ExternalFlag.subjectProtocol.rawValue].map { $0.passed > 20 } == true)
        // There is no other film for a check of two.
        #expect(flags(record)[ExternalFlag.severalObjects.rawValue].map { $0.notRun == 1 && $0.passed == 1 } == true)
    }

    @Test("a subject that can do nothing else passes, served and from files", arguments: ["served path", "path"])
    func alone(sources: String) throws {
        let record = try record(sources)
        #expect(record.failures == [] && record.unsupported == 0)
        let flags = flags(record)
        for flag in [VectorFlag.filmSubsamples, .filmPattern, .filmIV, .filmRest, .badFilm] {
            #expect(flags[flag.rawValue].map { $0.passed > 20 } == true, "\(flag)")
        }
    }
}

@Suite(
    "tampering over the protocol", .enabled(if: SubjectPrograms.hasPython, "no python3 with cryptography"))
struct TamperSubjectTests {
    private static let cbc = TamperTarget.all.filter { $0.label == "cbc-continuous" }

    private static func row(_ command: String, seconds: Double = 60) throws -> TamperRecord.Row {
        let record = try TamperVerification(targets: cbc).run(command: command, timeout: .seconds(seconds))
        return try #require(record.rows.first)
    }

    @Test("Python's cryptography notices as much as there is to notice")
    func python() throws {
        let row = try Self.row("python3 '\(SubjectPrograms.package)/Examples/subjects/python_cryptography.py'")
        let first = row.cases.first { $0.failure != nil }
        #expect(row.failed == 0, "\(first?.place ?? ""): \(first?.failure ?? "")")
        let demanded = row.cases.count { !$0.openingErrors.isEmpty }
        #expect(row.counts().detected == demanded && demanded > 20 && demanded < row.cases.count)
        #expect(row.counts().wrongByteCount > 0)
    }

    @Test("what it does not offer is unsupported, and playlists are tampered with as well")
    func unsupported() throws {
        let targets = TamperTarget.all.filter { $0.isAuthenticated || $0.label == "hls-aes128" }
        let record = try TamperVerification(targets: targets).run(
            command: "python3 '\(SubjectPrograms.package)/Examples/subjects/python_cryptography.py'",
            timeout: .seconds(60))
        #expect(record.rows.map(\.state) == targets.dropLast().map { _ in .unsupported } + [.run])
        let playlists = try #require(record.rows.last)
        #expect(playlists.failed == 0 && playlists.counts().detected > 0 && playlists.counts().wrongByteCount > 0)
    }

    @Test("the article's reader takes impossible lengths, and each is a failure")
    func article() throws {
        let row = try Self.row("python3 '\(SubjectPrograms.package)/Examples/subjects/huge_files_on_ios.py'")
        let failures = row.cases.filter { $0.failure != nil }
        #expect(!failures.isEmpty && failures.allSatisfy { !$0.openingErrors.isEmpty })
    }

    @Test("an error that says something else is no change noticed")
    func otherError() throws {
        let row = try Self.row(SubjectPrograms.hostile("unsupported-to-all"))
        #expect(row.counts().detected == 0 && row.cases.allSatisfy { $0.sequential.state == .otherError })
        #expect(row.failed == row.cases.count { !$0.openingErrors.isEmpty } && row.failed > 0)
    }

    @Test("a subject that dies at a read has failed the case, and goes on with the next")
    func dies() throws {
        let row = try Self.row(SubjectPrograms.hostile("dies-at-80"))
        let dead = row.cases.filter { $0.sequential.state == .noAnswer }
        #expect(dead.count > 20 && dead.allSatisfy { $0.sequential.offset == 80 && $0.failure != nil })
        #expect(row.cases.contains { $0.sequential.state == .detectedAtOpen } && row.state == .run)
    }

    @Test("a command that is none is no record")
    func notStarted() {
        #expect(throws: ExternalVerification.Failure.self) {
            try TamperVerification(targets: Self.cbc).run(command: "exit 127")
        }
    }
}
