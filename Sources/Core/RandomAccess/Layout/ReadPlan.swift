/// The steps that deliver a range of plaintext, in order: a step for each chunk that the range touches, and for each
/// window of it, counted from where the range begins.
///
/// A value without storage of its own; walking through it allocates nothing.
public struct ReadPlan: Sequence, IteratorProtocol, Sendable {
    private let layout: Layout
    private let windowByteCount: UInt64
    private var position: UInt64
    private let end: UInt64

    init(layout: Layout, range: Range<UInt64>, windowByteCount: Int) {
        self.layout = layout
        self.windowByteCount = Layout.wholeBlocks(windowByteCount)
        self.position = range.lowerBound
        self.end = range.upperBound
    }

    /// The next step, or `nil` after the last one.
    public mutating func next() -> ReadStep? {
        guard position < end else { return nil }
        let step = layout.firstStep(of: position..<end, windowByteCount: windowByteCount)
        position += UInt64(step.count)
        return step
    }
}

extension Layout {
    /// A window as steps have it: steps that ended inside a block would fetch and decrypt that block twice.
    static func wholeBlocks(_ windowByteCount: Int) -> UInt64 {
        Swift.max(16, UInt64(windowByteCount) / 16 * 16)
    }

    /// The first step of a range, which is not empty, with windows of whole blocks.
    func firstStep(of range: Range<UInt64>, windowByteCount: UInt64) -> ReadStep {
        let extent = extent(at: range.lowerBound)
        var stop = Swift.min(extent.plaintext.upperBound, range.upperBound)
        // A chunk is authenticated as a whole, or a data unit.
        if stop - range.lowerBound > windowByteCount, rules.isStreaming {
            let start = extent.plaintext.lowerBound
            stop = start + (range.lowerBound - start + windowByteCount) / 16 * 16
        }
        return step(for: range.lowerBound..<stop, in: extent)
    }
}

extension Layout {
    /// The stretch of ciphertext that holds `range`, which must lie in a chunk and not be empty.
    @inline(__always)
    func step(for range: Range<UInt64>, in chunk: Extent) -> ReadStep {
        let cipher = cipher
        let start = range.lowerBound - chunk.plaintext.lowerBound
        let count = Int(range.upperBound - range.lowerBound)
        guard rules.isStreaming else {
            return ReadStep(
                cipher: cipher, ciphertext: chunk.ciphertext, iv: .ofChunk(chunk.index), skip: Int(start), count: count)
        }
        let stop = range.upperBound - chunk.plaintext.lowerBound
        let firstBlock = start / 16
        let ciphertextStart = chunk.ciphertext.lowerBound + firstBlock * 16
        let skip = Int(start % 16)
        if cipher == .aesCBC {
            let blockStop = (stop + 15) / 16 * 16
            return ReadStep(
                cipher: cipher, ciphertext: ciphertextStart..<chunk.ciphertext.lowerBound + blockStop,
                iv: firstBlock == 0 ? .value(iv(of: chunk)) : .precedingBlock, skip: skip, count: count)
        }
        return ReadStep(
            cipher: cipher, ciphertext: ciphertextStart..<chunk.ciphertext.lowerBound + stop,
            iv: .value(iv(of: chunk).advanced(by: firstBlock)), skip: skip, count: count)
    }
}

/// One stretch of ciphertext that is fetched and decrypted in one go.
public struct ReadStep: Hashable, Sendable {
    /// Where the first block's IV comes from.
    public enum IVSource: Hashable, Sendable {
        /// It is known: the chunk's IV, or a counter block.
        case value(Block)
        /// It is the ciphertext block just before the stretch. Source: NIST SP 800-38A, section 6.2.
        case precedingBlock
        /// It is the nonce of a chunk that is opened as a whole.
        case ofChunk(UInt64)
    }

    /// What the ciphertext is encrypted with.
    public let cipher: Cipher

    /// The ciphertext to decrypt: whole blocks in CBC; in CTR from a block's start to the last byte that is wanted; of
    /// another cipher a whole chunk as it is stored.
    public let ciphertext: Range<UInt64>

    /// Where the first block's IV comes from.
    public let iv: IVSource

    /// The plaintext bytes at the start of the stretch that were not asked for: 0 to 15, or any number in a chunk that
    /// is opened as a whole.
    public let skip: Int

    /// The plaintext bytes that the stretch delivers, after `skip` of them.
    public let count: Int

    /// The ciphertext to fetch: the stretch, and the block before it where that is the IV.
    public var fetch: Range<UInt64> {
        iv == .precedingBlock ? ciphertext.lowerBound - 16..<ciphertext.upperBound : ciphertext
    }
}
