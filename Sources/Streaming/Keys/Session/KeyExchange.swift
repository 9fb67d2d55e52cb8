public import HLS
public import RandomAccess
import Support

/// The origin of a session's keys. One exchange may bring several keys with their terms, and it may take its time.
public protocol KeyExchange: Sendable {
    /// Asks for keys.
    ///
    /// The session cancels the task when no reader waits for the answer any more, and does not use an answer that comes
    /// later.
    /// - Parameter query: The keys, and the route that the plaintext will take.
    /// - Returns: An answer for each key, in any order.
    /// - Throws: `KeyFailure` if there is no answer at all.
    func answer(_ query: KeyQuery) async throws(KeyFailure) -> [ExchangedKey]
}

/// A provider's answer about one key.
public struct ExchangedKey: Sendable {
    /// The identifier that the answer names.
    public let identifier: String
    /// The key, or the reason why there is none.
    public let key: Result<SecretKey, KeyFailure>
    /// The time for which the key may be used.
    public let terms: KeyTerms

    /// An answer with a key.
    public init(_ identifier: String, key: SecretKey, terms: KeyTerms = .online(validity: nil)) {
        self.identifier = identifier
        self.key = .success(key)
        self.terms = terms
    }

    /// An answer without a key.
    public init(_ identifier: String, failure: KeyFailure) {
        self.identifier = identifier
        self.key = .failure(failure)
        self.terms = .online(validity: nil)
    }

    /// The answer without the key.
    var summary: KeyAnswer {
        switch key {
        case .success(let key): KeyAnswer(identifier, .key(terms, byteCount: key.byteCount))
        case .failure(let failure): KeyAnswer(identifier, .failure(failure))
        }
    }
}

/// A `KeyProvider` as an exchange: files, folders, commands.
///
/// The provider is called on a thread of its own, for one key after the other. A command that hangs therefore delays no
/// other exchange and no time limit.
public struct ProvidedKeys: KeyExchange {
    private let provider: any KeyProvider
    private let terms: KeyTerms
    private let isStrict: Bool
    private let warn: @Sendable (KeyWarning) -> Void

    /// - Parameters:
    ///   - provider: The source of the keys.
    ///   - terms: The time for which they may be used.
    ///   - isStrict: True if a warning is an error.
    ///   - warn: Called with each warning otherwise.
    public init(
        _ provider: any KeyProvider, terms: KeyTerms = .online(validity: nil), isStrict: Bool = false,
        warn: @escaping @Sendable (KeyWarning) -> Void = { _ in }
    ) {
        self.provider = provider
        self.terms = terms
        self.isStrict = isStrict
        self.warn = warn
    }

    /// Asks the provider for each key; see ``KeyExchange/answer(_:)``. If the task is cancelled, the exchange stops
    /// asking the provider and does not wait for its answer.
    public func answer(_ query: KeyQuery) async throws(KeyFailure) -> [ExchangedKey] {
        guard !Task.isCancelled else { throw .abandoned }
        let (arriving, answers) = AsyncStream.makeStream(of: ExchangedKey.self)
        WaitingThread.start {
            for identifier in query.identifiers {
                if case .terminated = answers.yield(answer(identifier)) { return }
            }
            answers.finish()
        }
        // It ends early if the task is cancelled.
        let arrived = await arriving.reduce(into: []) { $0.append($1) }
        guard arrived.count == query.identifiers.count else { throw .abandoned }
        return arrived
    }

    /// Asks the provider for a key on the current thread.
    private func answer(_ identifier: String) -> ExchangedKey {
        do throws(KeyError) {
            let provided = try provider.key(for: identifier)
            if isStrict, let warning = provided.warnings.first { throw KeyError.openToOthers(warning) }
            for warning in provided.warnings { warn(warning) }
            return ExchangedKey(identifier, key: provided.key, terms: terms)
        } catch {
            return ExchangedKey(identifier, failure: error.failure)
        }
    }
}

extension KeyError {
    /// The failure that a session sees. Only a failed fetch is temporary: a file or a command that failed once will
    /// fail again.
    package var failure: KeyFailure {
        switch self {
        case .wrongLength(let byteCount, _, _, _): .wrongLength(byteCount: byteCount)
        case .notFetched(let error): .unreachable(reason: "\(error)")
        case .unhandledScheme, .invalidDataURI, .openToOthers, .missing, .unreadable, .commandFailed, .refused, .noKey:
            .refused(reason: description)
        }
    }
}
