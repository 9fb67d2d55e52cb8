import BackendRegistry
import Conformance
import Mutants
import RandomAccess
import Testing
import Vectors

@Suite("vectors of hls-aes128")
struct PlaylistMutantTests {
    private static let groups = PlaylistSet.all

    @Test("every backend passes all of them", arguments: BackendRegistry.availableNames)
    func backends(_ name: String) throws {
        let backend = try BackendRegistry.backend(named: name)
        guard backend.modes.contains(.cbc), backend.keyByteCounts.contains(16) else { return }
        // The reference takes a minute over all, and shows nothing that others do not.
        let groups = name == "swift-reference" ? Array(Self.groups.prefix(2)) : Self.groups
        let verification = PlaylistVerification(groups, subject: PlaylistSubject(backend: backend))
        #expect(verification.isComplete)
        for failure in verification.failures { Issue.record("\(failure.id): \(failure.reason)") }
    }

    @Test("a textbook reader without a fault passes all of them")
    func textbook() throws {
        let backend = try BackendRegistry.backend(named: "openssl")
        let verification = PlaylistVerification(Self.groups, subject: PlaylistSubject(fault: nil, over: backend))
        #expect(verification.isComplete)
        for failure in verification.failures { Issue.record("\(failure.id): \(failure.reason)") }
    }

    @Test("each planted fault is noticed by vectors of its own class", arguments: PlaylistFault.allCases)
    func faults(_ fault: PlaylistFault) throws {
        let backend = try BackendRegistry.backend(named: "openssl")
        // Those of its class, and two of which most faults leave one alone.
        let groups = Self.groups.filter {
            $0.flags.contains(fault.flag) || ["hls/ranges/plain", "hls/rotation/keys"].contains($0.id)
        }
        let verification = PlaylistVerification(groups, subject: PlaylistSubject(fault: fault, over: backend))
        #expect(verification.failures.contains { $0.flags.contains(fault.flag) })
        // A reader that fails everything would show nothing.
        #expect(verification.passed > 0)
    }

    @Test("each class has vectors, and a fault", arguments: PlaylistFlag.allCases)
    func classes(_ flag: PlaylistFlag) {
        #expect(Self.groups.contains { $0.flags.contains(flag) })
        #expect(PlaylistFault.allCases.contains { $0.flag == flag })
        #expect(!flag.explanation.isEmpty && !flag.source.isEmpty)
    }

    @Test("identifiers are unique, and so are the keys of a playlist")
    func identifiers() {
        for group in Self.groups { #expect(Set(group.keys.values).count == group.keys.count) }
        #expect(Set(Self.groups.map(\.id)).count == Self.groups.count)
    }
}
