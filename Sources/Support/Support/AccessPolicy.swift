/// The way in which a reader turns a range of plaintext into reads of ciphertext.
public enum AccessPolicy: String, CaseIterable, Codable, Hashable, Sendable, CustomStringConvertible {
    /// Only the blocks that cover the range, decrypted directly into the caller's buffer.
    case block
    /// Whole chunks of the format, or whole windows if it has one chunk. The reader keeps the latest one, as in "Play
    /// encrypted files with on-the-fly decryption on iOS".
    case chunkCache = "chunk-cache"
    /// Whole chunks, or whole windows. The reader keeps none between reads.
    case wholeChunk = "whole-chunk"
    /// Each window from one new buffer into another, as in "Decrypting huge files on iOS".
    case freshBuffers = "fresh-buffers"

    /// True if a reader fetches whole chunks, not only the blocks that cover a range.
    package var readsWholeChunks: Bool { self == .chunkCache || self == .wholeChunk }

    /// The name on the command line and in results.
    public var description: String { rawValue }

    /// The names of all policies, in words.
    package static var expectation: String { allCases.listed("or") }
}
