/// The facts that follow from a strategy's description, for reports, which do not read it.
public struct StrategyFacts: Codable, Hashable, Sendable {
    /// The cipher, such as `aes-gcm`.
    public var cipher: String
    /// The document that defines the format.
    public var source: String
    /// Says whether the file is one chunk.
    public var isWhole: Bool
    /// Says whether a chunk's last block is filled up, and checked when it is read.
    public var isPadded: Bool
    /// Says whether a change of a chunk is noticed, by a tag.
    public var isTagged: Bool
    /// Says whether a chunk in another one's place is noticed.
    public var isIndexBound: Bool
    /// Says whether a chunk of another object is noticed.
    public var isObjectBound: Bool
    /// Says whether an object that was cut between two chunks is noticed.
    public var isEndBound: Bool
    /// Says whether a playlist says which chunks there are.
    public var hasPlaylist = false
    /// Says whether equal chunks of an object look different.
    public var hasOwnNonces: Bool
    /// Says whether equal objects look different.
    public var isFresh: Bool

    /// Makes the facts of a strategy without tags.
    public init(cipher: String, source: String, isWhole: Bool, isPadded: Bool, hasOwnNonces: Bool, isFresh: Bool) {
        (self.cipher, self.source) = (cipher, source)
        (self.isWhole, self.isPadded) = (isWhole, isPadded)
        (self.hasOwnNonces, self.isFresh) = (hasOwnNonces, isFresh)
        (isTagged, isIndexBound, isObjectBound, isEndBound) = (false, false, false, false)
    }
}
