/// An event that a session reacts to.
package enum KeyEvent: Hashable, Sendable {
    /// A reader needs keys now.
    case want(reader: Int, identifiers: [String])
    /// A reader no longer waits for keys.
    case abandon(reader: Int)
    /// Keys will be needed later.
    case preload([String])
    /// Keys should be stored.
    case persist([String])
    /// A live playlist will begin to use a key.
    case rotation(identifier: String, appearsIn: Duration)
    /// These keys are no longer needed.
    case retire([String])
    /// The provider answered.
    case answered(exchange: Int, [KeyAnswer])
    /// The exchange with the provider failed.
    case exchangeFailed(exchange: Int, KeyFailure)
    /// Plaintext goes to another output.
    case routeChanged(KeyRoute)
    /// The network is gone.
    case networkLost
    /// The network is back.
    case networkFound
    /// A stored key was found and opened.
    case found(StoredKey)
    /// A stored key was found, but cannot be used.
    case foundUnusable(identifier: String, KeyFailure)
    /// Plaintext is about to be delivered with a key.
    case readBegan(read: Int, identifier: String)
    /// The delivery of plaintext has ended.
    case readEnded(read: Int)
    /// Time has passed.
    case tick
    /// The session ends.
    case close
}

/// A provider's answer about one key, without the key.
package struct KeyAnswer: Hashable, Sendable {
    /// The result that the answer reports.
    package enum Outcome: Hashable, Sendable {
        /// A key of this length.
        case key(KeyTerms, byteCount: Int)
        /// No key, for this reason.
        case failure(KeyFailure)
    }

    /// The identifier that the answer names.
    package let identifier: String
    /// The key's terms, or the reason why there is no key.
    package let outcome: Outcome

    package init(_ identifier: String, _ outcome: Outcome) {
        self.identifier = identifier
        self.outcome = outcome
    }
}

/// An action that the session carries out for its machine.
package enum KeyAction: Hashable, Sendable {
    /// Asks the provider.
    case ask(KeyQuery)
    /// Stops waiting for an answer.
    case cancel(exchange: Int)
    /// Keeps a key that an answer brought, and erases an earlier one of its kind.
    case keep(exchange: Int, identifier: String, KeyKind)
    /// Keeps a stored key and its record, in place of the one that was kept before.
    case adopt(StoredKey)
    /// Erases a key from memory.
    case forget(identifier: String, KeyKind)
    /// Gives a reader a key that the session keeps.
    case deliver(reader: Int, identifier: String, KeyKind)
    /// Tells a reader why its key is late. The reader goes on waiting.
    case report(reader: Int, identifier: String, KeyFailure)
    /// Tells a reader why there will be no key.
    case refuse(reader: Int, identifier: String, KeyFailure)
    /// Seals and stores a key.
    case store(StoredKey)
    /// Erases the stored records of a key up to a generation.
    case erase(identifier: String, generation: Int)
    /// Lets a read go on with a key of this kind until a time of the monotonic clock. After that, the read fails for
    /// the given reason.
    case permit(read: Int, KeyKind, until: Duration?, then: KeyFailure)
    /// Ends a read before its next byte.
    case endRead(read: Int, KeyFailure)
    /// Reports something that no reader waits for.
    case notice(KeyNotice)
}

/// An incident that no reader waits for, but that the user should know.
public enum KeyNotice: Hashable, Sendable {
    /// An answer came that no reader waits for. It was late, a duplicate, or never asked for.
    case unexpectedAnswer(exchange: Int)
    /// An exchange brought a key that it did not ask for, or brought one twice.
    case unaskedKey(exchange: Int, identifier: String)
    /// A key that was asked for ahead of time did not come.
    case notPreloaded(identifier: String, KeyFailure)
    /// A stored key cannot be used.
    case storedUnusable(identifier: String, KeyFailure)
    /// The storage failed to read, write or erase a key, for this reason.
    case storageFailed(identifier: String, reason: String)
    /// The wall clock was set back.
    case clockSetBack(by: Duration)
}

/// A question to a provider.
public struct KeyQuery: Hashable, Sendable {
    /// The exchange's number, unique within the session.
    public let exchange: Int
    /// The identifiers of the keys, each once.
    public let identifiers: [String]
    /// The route that the plaintext will take.
    public let route: KeyRoute
    /// True if the session asks for keys that can be stored.
    public let wantsPersistable: Bool

    /// The question names each identifier once.
    public init(exchange: Int, identifiers: [String], route: KeyRoute, wantsPersistable: Bool) {
        self.exchange = exchange
        self.identifiers = identifiers
        self.route = route
        self.wantsPersistable = wantsPersistable
    }
}

extension KeyNotice: CustomStringConvertible {
    /// The incident's text, without the secret parts of an identifier.
    public var description: String {
        switch self {
        case .unexpectedAnswer(let exchange): "an answer to question \(exchange) came, which no reader waits for"
        case .unaskedKey(let exchange, let identifier):
            "the answer to question \(exchange) brought a key that it was not asked for, or twice: "
                + ShownIdentifier.text(identifier)
        case .notPreloaded(let identifier, let failure):
            "no key for \(ShownIdentifier.text(identifier)) ahead of time: \(failure)"
        case .storedUnusable(let identifier, let failure): "\(ShownIdentifier.text(identifier)): \(failure)"
        case .storageFailed(let identifier, let reason):
            "the key for \(ShownIdentifier.text(identifier)) could not be stored, read or erased: \(reason)"
        case .clockSetBack(let time): "the clock on the wall was set back by \(time)"
        }
    }
}

extension KeyQuery: CustomStringConvertible {
    /// The question's text, without the secret parts of its identifiers.
    public var description: String {
        "question \(exchange) for \(identifiers.map { ShownIdentifier.text($0) }.joined(separator: ", ")) "
            + "on the route \(route.name)"
    }
}

extension StoredKey: CustomStringConvertible {
    /// The stored key's text, without the secret parts of its identifier.
    public var description: String { "stored key for \(ShownIdentifier.text(identifier)), generation \(generation)" }
}

extension ExchangedKey: CustomStringConvertible {
    /// The answer's text, without the key and the secret parts of its identifier.
    public var description: String {
        switch key {
        case .success(let key): "\(ShownIdentifier.text(identifier)): \(key)"
        case .failure(let failure): "\(ShownIdentifier.text(identifier)): \(failure)"
        }
    }
}
