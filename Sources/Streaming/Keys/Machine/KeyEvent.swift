/// What can happen to a session.
package enum KeyEvent: Hashable, Sendable {
    /// A reader needs keys now.
    case want(reader: Int, identifiers: [String])
    /// A reader needs none any more.
    case abandon(reader: Int)
    /// Keys will be needed.
    case preload([String])
    /// Keys are to be stored.
    case persist([String])
    /// A live playlist will begin to use a key.
    case rotation(identifier: String, appearsIn: Duration)
    /// These keys are no longer needed.
    case retire([String])
    /// The provider answered.
    case answered(exchange: Int, [KeyAnswer])
    /// The provider did not, and why.
    case exchangeFailed(exchange: Int, KeyFailure)
    /// Plaintext goes elsewhere.
    case routeChanged(KeyRoute)
    /// Nothing can be asked for.
    case networkLost
    /// Everything can be asked for again.
    case networkFound
    /// A stored key was found and opened.
    case found(StoredKey)
    /// A stored key was found, and is of no use.
    case foundUnusable(identifier: String, KeyFailure)
    /// Plaintext is about to be delivered with a key.
    case readBegan(read: Int, identifier: String)
    /// It was.
    case readEnded(read: Int)
    /// Time went by.
    case tick
    /// The session ends.
    case close
}

/// What a provider answered about one key, without the key.
package struct KeyAnswer: Hashable, Sendable {
    /// How the answer ends.
    package enum Outcome: Hashable, Sendable {
        /// There is a key of so many bytes.
        case key(KeyTerms, byteCount: Int)
        /// There is none.
        case failure(KeyFailure)
    }

    /// What the answer says that it is for.
    package let identifier: String
    /// The key's terms, or why there is none.
    package let outcome: Outcome

    /// Creates an answer.
    package init(_ identifier: String, _ outcome: Outcome) {
        self.identifier = identifier
        self.outcome = outcome
    }
}

/// What a session must do.
package enum KeyAction: Hashable, Sendable {
    /// Ask the provider.
    case ask(KeyQuery)
    /// Wait no longer for an answer.
    case cancel(exchange: Int)
    /// Keep a key that an answer brought; what was kept of its kind before is erased.
    case keep(exchange: Int, identifier: String, KeyKind)
    /// Keep the key that was found with what is stored beside it, in place of one that was kept before.
    case adopt(StoredKey)
    /// Erase a key from memory.
    case forget(identifier: String, KeyKind)
    /// Give a reader a key that is kept.
    case deliver(reader: Int, identifier: String, KeyKind)
    /// Tell a reader that its key is late, and why. It goes on waiting.
    case report(reader: Int, identifier: String, KeyFailure)
    /// Tell a reader that there will be no key, and why.
    case refuse(reader: Int, identifier: String, KeyFailure)
    /// Seal and store a key.
    case store(StoredKey)
    /// Erase what was stored of a key before, up to a generation.
    case erase(identifier: String, generation: Int)
    /// Let a read go on with a key of this kind, until a time of the monotonic clock, and why then no longer.
    case permit(read: Int, KeyKind, until: Duration?, then: KeyFailure)
    /// End a read before its next byte.
    case endRead(read: Int, KeyFailure)
    /// Something that no reader waits for.
    case notice(KeyNotice)
}

/// What no reader waits for, and should be known.
public enum KeyNotice: Hashable, Sendable {
    /// An answer came that no reader waits for: too late, a second time, or never asked for.
    case unexpectedAnswer(exchange: Int)
    /// An exchange brought a key that it was not asked for, or one twice.
    case unaskedKey(exchange: Int, identifier: String)
    /// A key that was asked for ahead of time did not come.
    case notPreloaded(identifier: String, KeyFailure)
    /// A stored key cannot be used.
    case storedUnusable(identifier: String, KeyFailure)
    /// A key could not be stored or erased, and why.
    case storageFailed(identifier: String, reason: String)
    /// The clock on the wall was set back.
    case clockSetBack(by: Duration)
}

/// A question to a provider.
public struct KeyQuery: Hashable, Sendable {
    /// The exchange's number; none comes twice in a session.
    public let exchange: Int
    /// Which keys are asked for, each once.
    public let identifiers: [String]
    /// Where plaintext will go.
    public let route: KeyRoute
    /// Whether keys are asked for that can be stored.
    public let wantsPersistable: Bool

    /// Creates a question.
    public init(exchange: Int, identifiers: [String], route: KeyRoute, wantsPersistable: Bool) {
        self.exchange = exchange
        self.identifiers = identifiers
        self.route = route
        self.wantsPersistable = wantsPersistable
    }
}

extension KeyNotice: CustomStringConvertible {
    /// What happened, without what may be secret in an identifier.
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
    /// What is asked for, without what may be secret in an identifier.
    public var description: String {
        "question \(exchange) for \(identifiers.map { ShownIdentifier.text($0) }.joined(separator: ", ")) "
            + "on the route \(route.name)"
    }
}

extension StoredKey: CustomStringConvertible {
    /// Which key is stored, without what may be secret in its identifier.
    public var description: String { "stored key for \(ShownIdentifier.text(identifier)), generation \(generation)" }
}

extension ExchangedKey: CustomStringConvertible {
    /// What is answered, without the key, and what may be secret in its identifier.
    public var description: String {
        switch key {
        case .success(let key): "\(ShownIdentifier.text(identifier)): \(key)"
        case .failure(let failure): "\(ShownIdentifier.text(identifier)): \(failure)"
        }
    }
}
