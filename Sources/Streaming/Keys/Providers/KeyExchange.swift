public import HLS
public import RandomAccess

/// Where a session's keys come from: several in one exchange, with their terms, in their own time.
public protocol KeyExchange: Sendable {
    /// Asks for keys.
    ///
    /// The task is cancelled when nobody waits for the answer any more; one that comes all the same is not used.
    /// - Parameter query: Which keys are asked for, and for where.
    /// - Returns: An answer for each of them, in any order.
    /// - Throws: `KeyFailure` if there is no answer at all.
    func answer(_ query: KeyQuery) async throws(KeyFailure) -> [ExchangedKey]
}

/// A provider's answer about one key.
public struct ExchangedKey: Sendable {
    /// What the answer says that it is for.
    public let identifier: String
    /// The key, or why there is none.
    public let key: Result<SecretKey, KeyFailure>
    /// How long the key may be used.
    public let terms: KeyTerms

    /// Creates an answer that brings a key.
    public init(_ identifier: String, key: SecretKey, terms: KeyTerms = .online(validity: nil)) {
        self.identifier = identifier
        self.key = .success(key)
        self.terms = terms
    }

    /// Creates an answer that brings none.
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
/// The provider is called on the task that asks, one key after the other, so that one which waits for long holds a thread
/// of the pool: commands belong behind `ThreadedKeys` of `KeyFiles`, a server behind ``KeyExchange`` itself.
public struct ProvidedKeys: KeyExchange {
    private let provider: any KeyProvider
    private let terms: KeyTerms
    private let isStrict: Bool
    private let warn: @Sendable (KeyWarning) -> Void

    /// Creates an exchange.
    ///
    /// - Parameters:
    ///   - provider: Who has the keys.
    ///   - terms: How long they may be used.
    ///   - isStrict: Whether what is worth a warning is an error.
    ///   - warn: Is called with what is worth a warning.
    public init(
        _ provider: any KeyProvider, terms: KeyTerms = .online(validity: nil), isStrict: Bool = false,
        warn: @escaping @Sendable (KeyWarning) -> Void = { _ in }
    ) {
        self.provider = provider
        self.terms = terms
        self.isStrict = isStrict
        self.warn = warn
    }

    /// Asks the provider for each key; see ``KeyExchange/answer(_:)``.
    public func answer(_ query: KeyQuery) async throws(KeyFailure) -> [ExchangedKey] {
        try answers(query) { Task.isCancelled }
    }

    /// Asks the provider for each key, on this thread.
    ///
    /// - Parameters:
    ///   - query: Which keys are asked for.
    ///   - isCancelled: Whether nobody waits for the answer any more; asked before each key.
    /// - Returns: An answer for each key.
    /// - Throws: `KeyFailure.abandoned`.
    package func answers(
        _ query: KeyQuery, isCancelled: () -> Bool
    ) throws(KeyFailure) -> [ExchangedKey] {
        var answers: [ExchangedKey] = []
        for identifier in query.identifiers {
            guard !isCancelled() else { throw .abandoned }
            do throws(KeyError) {
                let provided = try provider.key(for: identifier)
                if isStrict, let warning = provided.warnings.first { throw KeyError.openToOthers(warning) }
                for warning in provided.warnings { warn(warning) }
                answers.append(ExchangedKey(identifier, key: provided.key, terms: terms))
            } catch {
                answers.append(ExchangedKey(identifier, failure: error.failure))
            }
        }
        return answers
    }
}

extension KeyError {
    /// What the error means to a session. None of them passes by itself: what a file or a command did once, it does again.
    package var failure: KeyFailure {
        switch self {
        case .wrongLength(let byteCount, _, _, _): .wrongLength(byteCount: byteCount)
        case .notFetched(let error): .unreachable(reason: "\(error)")
        case .unhandledScheme, .openToOthers, .missing, .unreadable, .commandFailed, .refused, .noKey:
            .refused(reason: description)
        }
    }
}
