/// The steps that deliver a range of plaintext, in order: one per chunk in the range, and one per window of a chunk,
/// counted from the start of the range.
///
/// A value without storage of its own; the iteration allocates nothing.
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

    /// Returns the next step; `nil` after the last one.
    public mutating func next() -> ReadStep? {
        guard position < end else { return nil }
        let step = layout.firstStep(of: position..<end, windowByteCount: windowByteCount)
        position += UInt64(step.count)
        return step
    }
}

extension Layout {
    /// Returns a window rounded to whole blocks: steps that ended inside a block would fetch and decrypt that block
    /// twice.
    static func wholeBlocks(_ windowByteCount: Int) -> UInt64 {
        Swift.max(16, UInt64(windowByteCount) / 16 * 16)
    }

    /// Returns the first step of a range, which is not empty, with windows of whole blocks.
    func firstStep(of range: Range<UInt64>, windowByteCount: UInt64) -> ReadStep {
        let extent = extent(at: range.lowerBound)
        var stop = Swift.min(extent.plaintext.upperBound, range.upperBound)
        // An authenticated chunk, or a data unit, is decrypted as a whole.
        if stop - range.lowerBound > windowByteCount, rules.isStreaming {
            let start = extent.plaintext.lowerBound
            stop = start + (range.lowerBound - start + windowByteCount) / 16 * 16
        }
        return step(for: range.lowerBound..<stop, in: extent)
    }
}

extension Layout {
    /// Returns the stretch of ciphertext that holds `range`, which must lie in a chunk and not be empty.
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

/// One stretch of ciphertext that a reader fetches and decrypts in one go.
public struct ReadStep: Hashable, Sendable {
    /// The origin of the first block's IV.
    public enum IVSource: Hashable, Sendable {
        /// A known value: the chunk's IV, or a counter block.
        case value(Block)
        /// The ciphertext block just before the stretch. Source: NIST SP 800-38A, section 6.2.
        case precedingBlock
        /// The nonce of a chunk that is opened as a whole.
        case ofChunk(UInt64)
    }

    /// The cipher of the stretch.
    public let cipher: Cipher

    /// The ciphertext to decrypt: whole blocks in CBC; from a block's start to the last requested byte in CTR; a whole
    /// stored chunk with any other cipher.
    public let ciphertext: Range<UInt64>

    /// The origin of the first block's IV.
    public let iv: IVSource

    /// The number of plaintext bytes at the start of the stretch that were not requested: 0 to 15, or any number in a
    /// chunk that is opened as a whole.
    public let skip: Int

    /// The number of plaintext bytes that the stretch delivers, after `skip` others.
    public let count: Int

    /// The ciphertext to fetch: the stretch, and the block before it if that is the IV.
    public var fetch: Range<UInt64> {
        iv == .precedingBlock ? ciphertext.lowerBound - 16..<ciphertext.upperBound : ciphertext
    }
}
