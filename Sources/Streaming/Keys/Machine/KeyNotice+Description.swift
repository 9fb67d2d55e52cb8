extension KeyNotice: CustomStringConvertible {
    /// What happened, without what may be secret in an identifier.
    public var description: String {
        switch self {
        case .unexpectedAnswer(let exchange): "an answer to question \(exchange) came, which nobody waits for"
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
