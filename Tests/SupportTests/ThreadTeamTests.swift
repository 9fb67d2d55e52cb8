import Support
import Synchronization
import Testing

/// The number of calls of each member.
private final class Tally: Sendable {
    private let counts: Mutex<[Int]>

    init(threadCount: Int) { counts = Mutex([Int](repeating: 0, count: threadCount)) }

    func note(_ index: Int) { counts.withLock { $0[index] += 1 } }

    var value: [Int] { counts.withLock { $0 } }
}

@Suite("thread teams")
struct ThreadTeamTests {
    @Test("each member runs each piece of work once, again and again", arguments: [1, 2, 3, 8, 33])
    func everyMember(threadCount: Int) {
        let tally = Tally(threadCount: threadCount)
        let team = ThreadTeam(threadCount: threadCount)
        for round in 1...50 {
            team.run { tally.note($0) }
            #expect(tally.value == [Int](repeating: round, count: threadCount), "round \(round)")
        }
    }

    @Test("members run at the same time", arguments: [2, 4])
    func sideBySide(threadCount: Int) {
        let arrived = Atomic<Int>(0)
        // Would not end if one member waited for another to finish.
        ThreadTeam(threadCount: threadCount).run { _ in
            arrived.wrappingAdd(1, ordering: .acquiringAndReleasing)
            while arrived.load(ordering: .acquiring) < threadCount {}
        }
        #expect(arrived.load(ordering: .acquiring) == threadCount)
    }

    @Test("what members wrote is seen after the run")
    func visibility() {
        let team = ThreadTeam(threadCount: 4)
        for _ in 0..<200 {
            let places = UnsafeMutableBufferPointer<Int>.allocate(capacity: 4)
            places.initialize(repeating: 0)
            defer { places.deallocate() }
            nonisolated(unsafe) let shared = places
            team.run { shared[$0] = $0 + 1 }
            #expect(Array(places) == [1, 2, 3, 4])
        }
    }

    @Test("a team that never ran ends, and so do many in a row", arguments: [1, 2, 16])
    func ending(threadCount: Int) {
        for _ in 0..<20 { #expect(ThreadTeam(threadCount: threadCount).threadCount == threadCount) }
    }

    @Test("a team that ended has let go of its work")
    func release() {
        final class Token: Sendable {}
        weak var token: Token?
        do {
            let held = Token()
            token = held
            ThreadTeam(threadCount: 3).run { _ in withExtendedLifetime(held) {} }
        }
        #expect(token == nil)
    }
}
