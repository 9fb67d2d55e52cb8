import BackendRegistry
import Conformance
import RandomAccess
import Results
import Testing
import Vectors

@Suite("vectors of hls-aes128")
struct PlaylistMutantTests {
    private static let groups = PlaylistSet.all

    private static func run(_ subject: ConformanceSubject, _ groups: [VectorGroup] = groups) throws -> ConformanceRecord
    {
        try #require(Verification(subjects: [subject]).run(groups).first)
    }

    @Test("every backend passes all of them", arguments: BackendRegistry.availableNames)
    func backends(_ name: String) throws {
        let backend = try BackendRegistry.backend(named: name)
        guard backend.modes.contains(.cbc), backend.keyByteCounts.contains(16) else { return }
        // The reference takes a minute over all, and shows nothing that others do not.
        let groups = name == "swift-reference" ? Array(Self.groups.prefix(2)) : Self.groups
        let record = try Self.run(ConformanceSubject(backend: backend), groups)
        #expect(record.failures == [])
        #expect(record.passed == groups.reduce(0) { $0 + $1.vectorCount })
    }

    @Test("each planted fault is noticed by vectors of its own class", arguments: PlaylistFault.allCases)
    func faults(_ fault: PlaylistFault) throws {
        let backend = try BackendRegistry.backend(named: "openssl")
        let mutant = try #require(Mutant.named(fault.rawValue))
        // Those of its class, and two of which most faults leave one alone.
        let groups = Self.groups.filter {
            $0.flags.contains(fault.flag) || ["hls/ranges/plain", "hls/rotation/keys"].contains($0.id)
        }
        let record = try Self.run(mutant.subject(over: backend), groups)
        #expect((record.flags ?? []).contains { $0.flag == fault.flag.rawValue && $0.failed > 0 })
        // A reader that fails everything would show nothing.
        #expect(record.passed > 0)
    }

    @Test("a textbook reader without a fault passes all of them, beside one that has nothing else")
    func textbook() throws {
        let backend = try BackendRegistry.backend(named: "openssl")
        let mutant = try #require(Mutant.named("hls-first-key-only"))
        let matrix = KillMatrix.run([mutant], over: backend, groups: Self.groups)
        #expect(matrix.controls.map(\.failed) == [0, 0])
        #expect(matrix.controls.allSatisfy { $0.passed == matrix.controls[0].passed && $0.unsupported == 0 })
        #expect(matrix.isComplete)
    }

    @Test("a playlist is unsupported by what does not know them, and failed by nothing that does")
    func unsupported() throws {
        let backend = try BackendRegistry.backend(named: "openssl")
        let other = try #require(Mutant.named("iv-zero"))
        let record = try Self.run(other.subject(over: backend))
        #expect(record.unsupported == Self.groups.reduce(0) { $0 + $1.vectorCount })
        #expect(record.passed == 0 && record.failed == 0)
    }

    @Test("identifiers are unique, and so are the keys of a playlist")
    func identifiers() {
        for group in Self.groups {
            let keys = group.playlist?.keys ?? [:]
            #expect(Set(keys.values).count == keys.count)
        }
        #expect(Set(Self.groups.map(\.id)).count == Self.groups.count)
    }
}
