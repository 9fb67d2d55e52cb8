/// One tampering of one object.
package struct TamperCase: Sendable {
    /// What is done.
    package let kind: TamperKind
    /// Where, in words, such as `middle chunk, last block, first byte`.
    package let place: String
    /// What comes of it; never what was there before.
    package let content: TamperContent
    /// The errors, one of which opening must end with; empty where the object opens all the same.
    ///
    /// - Source: PROTOCOL.md, "open": lengths that no plaintext has, padding, commitment and last chunk.
    package let openingErrors: [ErrorName]
    /// The plaintext offsets of the first and the last ciphertext byte that is another one.
    package let touched: [Int]

    /// The case's name in results.
    package var name: String { "\(kind.rawValue): \(place)" }
}
