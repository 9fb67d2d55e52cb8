package import RandomAccess

/// An error as the subject protocol names it, so that a vector can ask any subject for it.
///
/// - Source: PROTOCOL.md, "Transport".
package enum ErrorName: String, CaseIterable, Codable, Hashable, Sendable {
    /// A request that cannot be.
    case invalidRequest
    /// Understood, but not offered.
    case unsupported
    /// A key of the wrong length.
    case invalidKey
    /// An IV of the wrong length.
    case invalidIV
    /// The source failed.
    case io
    /// A length that no plaintext has, or a source that ends early.
    case truncatedCiphertext
    /// The end does not unpad.
    case invalidPadding
    /// A tag or commitment does not match.
    case authenticationFailed
    /// A read that starts past the end.
    case rangeOutOfBounds
    /// Anything else.
    case `internal`

    /// The name of an error.
    package init(_ error: DecryptionError) {
        self = ErrorName(rawValue: error.protocolName) ?? .internal
    }
}
