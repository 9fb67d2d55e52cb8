/// The facts that follow from a strategy's description. Reports use them because they do not read descriptions.
public struct StrategyFacts: Codable, Hashable, Sendable {
    /// The cipher, such as `aes-gcm`.
    public var cipher: String
    /// The document that defines the format.
    public var source: String
    /// Says whether the file is one chunk.
    public var isWhole: Bool
    /// Says whether a chunk's last block is padded; readers check the padding.
    public var isPadded: Bool
    /// Says whether a reader notices a changed chunk, by its tag.
    public var isTagged: Bool
    /// Says whether a reader notices a chunk in the place of another one.
    public var isIndexBound: Bool
    /// Says whether a reader notices a chunk of another object.
    public var isObjectBound: Bool
    /// Says whether a reader notices an object that was cut between two chunks.
    public var isEndBound: Bool
    /// Says whether a playlist lists the chunks.
    public var hasPlaylist = false
    /// Says whether equal chunks of an object have different ciphertexts.
    public var hasOwnNonces: Bool
    /// Says whether equal objects have different ciphertexts.
    public var isFresh: Bool
    /// The lengths of objects; `nil` in results that do not record them.
    public var lengths: Lengths?

    /// The lengths of a strategy's objects.
    public struct Lengths: Codable, Hashable, Sendable {
        /// The bytes that the format adds to a plaintext of 1 GiB; `nil` if there is no such object.
        public var addedPerGiB: UInt64?
        /// The length of the longest plaintext in bytes; `nil` if it is not limited below 2⁶².
        public var maxByteCount: UInt64?
        /// The plaintext bytes that are encrypted again when one of them changes in place; `nil` if the whole file is,
        /// or if two texts under one key stream would give away both.
        public var rewrittenByteCount: UInt64?

        /// The lengths as given.
        public init(addedPerGiB: UInt64?, maxByteCount: UInt64?, rewrittenByteCount: UInt64?) {
            (self.addedPerGiB, self.maxByteCount) = (addedPerGiB, maxByteCount)
            self.rewrittenByteCount = rewrittenByteCount
        }
    }

    /// The facts of a strategy without tags.
    public init(cipher: String, source: String, isWhole: Bool, isPadded: Bool, hasOwnNonces: Bool, isFresh: Bool) {
        (self.cipher, self.source) = (cipher, source)
        (self.isWhole, self.isPadded) = (isWhole, isPadded)
        (self.hasOwnNonces, self.isFresh) = (hasOwnNonces, isFresh)
        (isTagged, isIndexBound, isObjectBound, isEndBound) = (false, false, false, false)
    }
}
