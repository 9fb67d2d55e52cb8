import BackendRegistry
import Results
import Testing
import Vectors

@testable import Conformance

/// Faults that were reported of programs, and are about more than a range of one object.
@Suite(
    "reported faults", .enabled(if: SubjectPrograms.hasPython, "python3 with cryptography is not installed"))
struct ReportedFaultTests {
    private static func record(_ fault: String, _ groups: [VectorGroup]) throws -> ConformanceRecord {
        try ExternalVerification(
            command: "python3 '\(SubjectPrograms.package)/Tests/Subjects/faulty_reader.py' \(fault)",
            timeout: .seconds(30)
        ).run(groups).record
    }

    @Test(
        "each is noticed by checks of its kind, and by no others",
        arguments: [
            ("skips_by_decrypting", "GrowsWithOffset"), ("fitted_keys", "WrongLengths"), ("cache_by_path", "StaleFile"),
        ])
    func checks(fault: String, flag: String) throws {
        let record = try Self.record(fault, SubjectPrograms.groups)
        let failed = (record.flags ?? []).filter { $0.failed > 0 }.map(\.flag)
        #expect(failed.contains(flag), "\(record.failures.map { "\($0.id): \($0.reason)" })")
        // Who fills up a key answers requests that cannot be.
        let others: Set = fault == "fitted_keys" ? ["Protocol", "ErrorOrder"] : []
        #expect(Set(failed).isSubset(of: others.union([flag])), "\(failed)")
    }

    @Test(
        "each is noticed by the choice of its class's vectors",
        arguments: [
            ("empty_is_end", VectorFlag.afterEmptyRead), ("strips_pieces", .paddingLookalike),
            ("nonce_of_12_bytes", .shortNonce),
        ])
    func vectors(fault: String, flag: VectorFlag) throws {
        let groups = VectorSet.readOrders() + VectorSet.lookalikePieces() + VectorSet.shortNonces()
        let record = try Self.record(fault, groups)
        let failed = (record.flags ?? []).filter { $0.failed > 0 }.map(\.flag)
        #expect(failed.contains(flag.rawValue), "\(failed)")
    }

    @Test("a right reader passes all of it")
    func right() throws {
        let groups = VectorSet.readOrders() + VectorSet.lookalikePieces() + VectorSet.shortNonces()
        let record = try Self.record("", groups)
        #expect(record.failed == 0, "\(record.failures.map { "\($0.id): \($0.reason)" })")
        #expect(record.choice != nil && record.vectorCount ?? 0 > 200)
    }

    @Test("a program that runs none of the vectors that it was given has no vectors, whatever else passes")
    func noVectors() throws {
        let groups = VectorSet.chunkRests()
        let record = try Self.record("", groups)
        #expect(record.vectorCount == 0 && record.passed > 100 && record.failed == 0)
    }
}
