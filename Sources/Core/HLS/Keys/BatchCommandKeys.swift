internal import RandomAccess
import Synchronization

/// A program that prints several keys at once: 16 raw bytes each on its standard output, and nothing else.
///
/// Its arguments end with the keys' URIs. What a playlist will need is asked for together, so that the program is started,
/// and a server behind it asked, once for many keys. If one of them is missing, each is asked for alone; if nobody could be
/// asked, none is.
public final class BatchCommandKeys: KeyProvider {
    private struct State {
        /// What is going to be asked for, in order.
        var expected: [String] = []
        /// What came of asking for another key, and was not asked for yet.
        var answers: [String: Result<SecretKey, KeyError>] = [:]
    }

    /// How many keys one start of the program brings at most.
    private static let maxKeys = 32

    private let single: CommandKeys
    private let state = Mutex(State())

    /// Creates a provider; the program is started when a key is asked for.
    ///
    /// - Parameters:
    ///   - command: The program, found on the path if it has no slash, and its first arguments.
    ///   - name: What it is called in errors; `nil` for its path.
    ///   - deadline: How long it may take before it is killed.
    public init(command: [String], name: String? = nil, deadline: Duration = .seconds(10)) {
        single = CommandKeys(command: command, name: name, deadline: deadline)
    }

    /// Takes note of keys to bring with others; see `KeyProvider.expect(_:)`.
    public func expect(_ uris: [String]) {
        state.withLock { state in
            let known = Set(state.expected)
            state.expected += uris.filter { !known.contains($0) && state.answers[$0] == nil && !$0.utf8.contains(0) }
        }
    }

    /// Runs the program, or takes what it brought before; see `KeyProvider.key(for:)`.
    public func key(for uri: String) throws(KeyError) -> ProvidedKey {
        let (known, others) = state.withLock { state -> (Result<SecretKey, KeyError>?, [String]) in
            if let answer = state.answers.removeValue(forKey: uri) { return (answer, []) }
            guard state.expected.contains(uri) else { return (nil, []) }
            state.expected.removeAll { $0 == uri }
            let others = Array(state.expected.prefix(Self.maxKeys - 1))
            state.expected.removeFirst(others.count)
            return (nil, others)
        }
        if let known { return ProvidedKey(try known.get()) }
        guard !others.isEmpty else { return try single.key(for: uri) }
        do throws(KeyError) {
            let keys = try single.keys(for: [uri] + others)
            keep(zip(others, keys.dropFirst().map { .success($0) }))
            return ProvidedKey(keys[0])
        } catch {
            guard case .notFetched = error else { return try single.key(for: uri) }
            keep(others.map { ($0, .failure(error)) })
            throw error
        }
    }

    private func keep(_ answers: some Sequence<(String, Result<SecretKey, KeyError>)>) {
        state.withLock { $0.answers.merge(answers) { $1 } }
    }
}
