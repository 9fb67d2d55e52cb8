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
    /// Let a read go on with a key of this kind, until a time of the clock that nobody can set, and why then no longer.
    case permit(read: Int, KeyKind, until: Duration?, then: KeyFailure)
    /// End a read before its next byte.
    case endRead(read: Int, KeyFailure)
    /// Something that no reader waits for.
    case notice(KeyNotice)
}

/// What no reader waits for, and should be known.
public enum KeyNotice: Hashable, Sendable {
    /// An answer came that nobody waits for: too late, a second time, or never asked for.
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
