import Keys
import RandomAccess
import Synchronization

/// An exchange that has one key for all, and counts its questions.
final class OneKey: KeyExchange {
    static let bytes: [UInt8] = Array("0123456789abcdef".utf8)

    private let terms: KeyTerms
    private let questions = Mutex(0)

    init(terms: KeyTerms = .online(validity: nil)) {
        self.terms = terms
    }

    var count: Int { questions.withLock { $0 } }

    func answer(_ query: KeyQuery) async throws(KeyFailure) -> [ExchangedKey] {
        questions.withLock { $0 += 1 }
        guard let key = try? SecretKey(Self.bytes) else { throw .missing }
        return query.identifiers.map { ExchangedKey($0, key: key, terms: terms) }
    }
}

/// A clock that a test sets; it never wakes anybody.
final class StillClock: KeyClock {
    let wall = Mutex(Duration.seconds(1_700_000_000))

    func now() -> ClockSample { ClockSample(monotonic: .zero, wall: wall.withLock { $0 }) }

    func sleep(until monotonic: Duration) async throws { try await Task.sleep(for: .seconds(1 << 30)) }
}
