import RandomAccess

/// Why no key comes out of a file, a password or an identity. Nothing in it is secret.
package struct FormatKeyError: LayerError {
    /// What is wrong, such as `the header's line 3`.
    let subject: String
    /// What is wrong with it.
    let value: String
    /// What it should have been.
    let expected: String

    /// What failed, the value, what was expected.
    package var description: String { "\(subject) \(value): expected \(expected)" }

    /// The error's name in the subject protocol.
    package var protocolName: String { "invalidKey" }
}

extension DecryptionError {
    /// A file, a password or an identity of which no key comes; see ``FormatKeyError``.
    static func noKey(_ subject: String, _ value: String, expected: String) -> DecryptionError {
        .layer(AnyLayerError(FormatKeyError(subject: subject, value: value, expected: expected)))
    }
}
