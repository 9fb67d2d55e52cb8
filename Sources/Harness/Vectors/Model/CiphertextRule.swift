package import RandomAccess

/// How a ciphertext that no file holds is made.
package enum CiphertextRule: Sendable {
    /// As ``GeneratedObject`` says.
    case generated(GeneratedObject)
    /// The same, and then tampered with.
    case edited(GeneratedObject, CiphertextEdits)
    /// The thousand blocks that a step of ``MonteCarlo`` decrypts, the first of which is given.
    case monteCarlo(firstBlock: Block)
}
