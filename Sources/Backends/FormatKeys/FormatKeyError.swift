import RandomAccess

/// The error of a file, a password or an identity that yields no key. It contains no secrets.
package struct FormatKeyError: LayerError {
    /// The wrong item, such as `the header's line 3`.
    let subject: String
    /// The fault of the item.
    let value: String
    /// The expectation.
    let expected: String

    /// The failure, the value, and the expectation.
    package var description: String { "\(subject) \(value): expected \(expected)" }

    /// The error's name in the subject protocol.
    package var protocolName: String { "invalidKey" }
}

extension DecryptionError {
    /// Returns the error of a file, a password or an identity that yields no key; see ``FormatKeyError``.
    static func noKey(_ subject: String, _ value: String, expected: String) -> DecryptionError {
        .layer(AnyLayerError(FormatKeyError(subject: subject, value: value, expected: expected)))
    }
}
