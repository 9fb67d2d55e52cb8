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
    /// Nobody will need these keys again.
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
    /// Nobody needs anything any more.
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
