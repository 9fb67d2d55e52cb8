internal import RandomAccess

/// A segment or initialization section in the plaintext.
package struct HLSPart: Sendable {
    /// What the part takes to be read.
    enum Content: Sendable {
        /// Bytes of a resource as they are.
        case plain(resource: Int, range: Range<UInt64>)
        /// One chain of CBC with PKCS#7, whose padding was looked at.
        case aes128(resource: Int, range: Range<UInt64>, iv: Block, key: SecretKey)
        /// Nothing: it cannot be read, for this reason.
        case broken(DecryptionError)
    }

    /// Where the part's plaintext lies in the object's.
    package let plaintext: Range<UInt64>
    /// The index of the segment that the part is, or that its initialization section is for.
    package let segment: Int
    /// Whether it is an initialization section.
    package let isInitialization: Bool
    /// What it takes to be read.
    let content: Content
}
