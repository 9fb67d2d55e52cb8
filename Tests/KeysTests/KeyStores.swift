import Keys
import RandomAccess
import Synchronization

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
