import HLS
import Keys
import OpenSSLBackend
import RandomAccess
import Synchronization
import TestSupport

/// A storage in memory, which may fail.
final class MemoryKeys: KeyStorage {
    struct State {
        var records: [String: [Int: [UInt8]]] = [:]
        var isFull = false
    }

    let state = Mutex(State())

    func write(_ sealed: [UInt8], identifier: String, generation: Int) throws(DecryptionError) {
        let isFull = state.withLock { state in
            if !state.isFull { state.records[identifier, default: [:]][generation] = sealed }
            return state.isFull
        }
        if isFull { throw .io(operation: "write", code: 0, reason: "full") }
    }

    func erase(identifier: String, generation: Int) throws(DecryptionError) {
        state.withLock { state in
            state.records[identifier] = state.records[identifier]?.filter { $0.key > generation }
        }
    }

    func sealed(identifier: String) throws(DecryptionError) -> [[UInt8]] {
        state.withLock { state in
            (state.records[identifier] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
        }
    }

    func generations(_ identifier: String) -> [Int] {
        state.withLock { ($0.records[identifier] ?? [:]).keys.sorted() }
    }
}

/// Answers each question with keys of 16 equal bytes, and counts them; or holds its answers back.
final class ScriptedExchange: KeyExchange {
    struct State {
        var queries: [KeyQuery] = []
        var held: [CheckedContinuation<Void, Never>] = []
        var isHolding = false
    }

    let state = Mutex(State())
    let terms: KeyTerms

    init(terms: KeyTerms = .online(validity: nil), isHolding: Bool = false) {
        self.terms = terms
        state.withLock { $0.isHolding = isHolding }
    }

    var queries: [KeyQuery] { state.withLock { $0.queries } }

    func answer(_ query: KeyQuery) async throws(KeyFailure) -> [ExchangedKey] {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let goesOn = state.withLock { state in
                state.queries.append(query)
                if state.isHolding { state.held.append(continuation) }
                return !state.isHolding
            }
            if goesOn { continuation.resume() }
        }
        var answers: [ExchangedKey] = []
        for identifier in query.identifiers {
            guard let key = try? SecretKey([UInt8](repeating: identifier.utf8.first ?? 0, count: 16)) else {
                throw .missing
            }
            answers.append(ExchangedKey(identifier, key: key, terms: terms))
        }
        return answers
    }

    /// Lets all answers go.
    func release() {
        let held = state.withLock { state in
            state.isHolding = false
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    /// Waits until that many questions have come.
    func wait(for count: Int) async {
        while queries.count < count { await Task.yield() }
    }
}

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

/// A clock that a test sets; it never wakes a session.
final class StillClock: KeyClock {
    let wall = Mutex(Duration.seconds(1_700_000_000))

    func now() -> ClockSample { ClockSample(monotonic: .zero, wall: wall.withLock { $0 }) }

    func sleep(until monotonic: Duration) async throws { try await Task.sleep(for: .seconds(1 << 30)) }
}

/// A key whose bytes are all equal to a number.
func testKey(_ number: Int) throws(DecryptionError) -> SecretKey {
    try SecretKey([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 16))
}

/// Encrypts one segment on its own.
func encryptedSegment(_ plain: [UInt8], key: Int, iv: UInt128) throws -> [UInt8] {
    let encryptor = try ObjectEncryptor(
        strategy: .cbcContinuous(iv: Block(bigEndianValue: iv), padding: .pkcs7), backend: OpenSSL(),
        key: try testKey(key))
    var ciphertext: [UInt8] = []
    try plain.withUnsafeBytes { bytes in try encryptor.append(bytes) { ciphertext += $0 } }
    try encryptor.finish { ciphertext += $0 }
    return ciphertext
}

/// A playlist that has to be a media playlist.
func mediaPlaylist(_ text: String) throws -> MediaPlaylist {
    guard case .media(let playlist) = try Playlist.parse(text) else {
        throw PlaylistProblem(line: 1, kind: .masterPlaylist, found: "a master playlist", expected: "a media playlist")
    }
    return playlist
}

/// A clock that stands still until a test moves it.
final class ManualClock: KeyClock {
    private struct State {
        var time = Duration.zero
        var shift = Duration.zero
        var lastSleeper = 0
        var sleepers: [Int: (until: Duration, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var isCancelled: Set<Int> = []
    }

    static let start = Duration.seconds(1_700_000_000)

    private let state = Mutex(State())

    func now() -> ClockSample {
        state.withLock { ClockSample(monotonic: $0.time, wall: Self.start + $0.time + $0.shift) }
    }

    func sleep(until monotonic: Duration) async throws {
        let sleeper = state.withLock { state in
            state.lastSleeper += 1
            return state.lastSleeper
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let isOver = state.withLock { state -> Bool? in
                    if state.isCancelled.remove(sleeper) != nil { return nil }
                    if state.time >= monotonic { return true }
                    state.sleepers[sleeper] = (monotonic, continuation)
                    return false
                }
                if isOver == nil { continuation.resume(throwing: CancellationError()) }
                if isOver == true { continuation.resume() }
            }
        } onCancel: {
            let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
                if let sleeping = state.sleepers.removeValue(forKey: sleeper) { return sleeping.continuation }
                state.isCancelled.insert(sleeper)
                return nil
            }
            continuation?.resume(throwing: CancellationError())
        }
    }

    /// Moves the clock on, and wakes who waited for it.
    func advance(by time: Duration) {
        let woken = state.withLock { state in
            state.time += time
            let due = state.sleepers.filter { $0.value.until <= state.time }
            for sleeper in due.keys { state.sleepers[sleeper] = nil }
            return due.values.map { $0.continuation }
        }
        for continuation in woken { continuation.resume() }
    }

    /// Sets the clock on the wall.
    func set(by time: Duration) {
        state.withLock { $0.shift += time }
    }
}
