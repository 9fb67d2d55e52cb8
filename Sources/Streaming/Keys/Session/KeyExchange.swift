public import HLS
public import RandomAccess
import Support

/// Where a session's keys come from: several in one exchange, with their terms, in their own time.
public protocol KeyExchange: Sendable {
    /// Asks for keys.
    ///
    /// The task is cancelled when no reader waits for the answer any more; one that comes later is not used.
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
/// The provider is called on a thread of its own, one key after the other: a command that hangs keeps no other key, and no
/// time limit, from its turn.
public struct ProvidedKeys: KeyExchange {
    private let provider: any KeyProvider
    private let terms: KeyTerms
    private let isStrict: Bool
    private let warn: @Sendable (KeyWarning) -> Void

    /// Creates an exchange.
    ///
    /// - Parameters:
    ///   - provider: Where keys come from.
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

    /// Asks the provider for each key; see ``KeyExchange/answer(_:)``. If the task is cancelled, the provider is asked no
    /// more, and its answer not waited for.
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

    /// Asks the provider for a key, on this thread.
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
    /// What the error means to a session. None of them passes by itself: what a file or a command did once, it does again.
    package var failure: KeyFailure {
        switch self {
        case .wrongLength(let byteCount, _, _, _): .wrongLength(byteCount: byteCount)
        case .notFetched(let error): .unreachable(reason: "\(error)")
        case .unhandledScheme, .invalidDataURI, .openToOthers, .missing, .unreadable, .commandFailed, .refused, .noKey:
            .refused(reason: description)
        }
    }
}
