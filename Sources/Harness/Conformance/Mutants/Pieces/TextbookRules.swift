internal import RandomAccess

/// Where a plaintext byte lies.
struct TextbookPlace: Sendable {
    /// The chunk's number.
    var chunk: UInt64
    /// The byte's number in its chunk.
    var offset: UInt64
    /// The bytes from there to the chunk's end.
    var rest: UInt64
    /// Where the chunk starts in the ciphertext.
    var chunkStart: UInt64

    /// The block's number in its chunk.
    var block: UInt64 { offset / 16 }

    init(of position: UInt64, strategy: Strategy) {
        let chunkByteCount = strategy.chunkByteCount ?? 1 << 62
        self.chunk = position / chunkByteCount
        self.offset = position % chunkByteCount
        self.rest = chunkByteCount - offset
        self.chunkStart = chunk * (chunkByteCount + (strategy.padding == .pkcs7 ? 16 : 0))
    }
}

/// What a textbook reader knows when it wants an IV or a counter block.
struct TextbookIVQuestion {
    let strategy: Strategy
    let place: TextbookPlace
    /// The ciphertext block before, where there is one and it was fetched.
    let previous: Block?
    /// Whether this is a later window of the same read.
    let isLaterWindow: Bool
    /// The last ciphertext block and the last plaintext block that were decrypted before, by any read.
    let last: (ciphertext: Block, plaintext: Block)?
}

/// The decisions that a textbook reader takes, each of which a mutant may take wrongly.
struct TextbookRules: Sendable {
    typealias Clip =
        @Sendable (_ offset: UInt64, _ count: Int, _ length: UInt64) throws(DecryptionError) -> Range<UInt64>
    typealias Fetch = @Sendable (any ByteSource, UInt64, UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Void

    /// The ciphertext's length to go by, or an error.
    var ciphertextByteCount: @Sendable (UInt64, Strategy) throws(DecryptionError) -> UInt64 = {
        (count, strategy) throws(DecryptionError) in
        guard strategy.mode == .ctr || count % 16 == 0 else {
            throw .truncatedCiphertext(byteCount: count, expected: "a multiple of 16")
        }
        guard strategy.padding != .pkcs7 || count > 0 else {
            throw .truncatedCiphertext(byteCount: 0, expected: "at least 16")
        }
        return count
    }

    /// The padding bytes of a last block, or `nil`.
    var padding: @Sendable ([UInt8]) -> Int? = { block in
        let count = Int(block[15])
        return (1...16).contains(count) && block.suffix(count).allSatisfy { $0 == count } ? count : nil
    }

    /// What an end that does not unpad is called.
    var paddingError: DecryptionError = .invalidPadding

    /// Whether a last chunk may hold so many bytes.
    var acceptsLastChunk: @Sendable (_ byteCount: Int64, _ index: UInt64, _ chunkByteCount: UInt64) -> Bool = {
        byteCount, index, chunkByteCount in
        byteCount <= Int64(chunkByteCount) && (index == 0 || byteCount > 0)
    }

    /// The plaintext's length, given the right one and the ciphertext's.
    var length: @Sendable (_ right: UInt64, _ ciphertextByteCount: UInt64, _ strategy: Strategy) -> UInt64 = {
        right, _, _ in
        right
    }

    /// What a read delivers.
    var clip: Clip = { (offset, count, length) throws(DecryptionError) in
        guard offset <= length else { throw .rangeOutOfBounds(offset: offset, plaintextByteCount: length) }
        return offset..<offset + min(UInt64(count), length - offset)
    }

    /// Where a byte lies.
    var place: @Sendable (UInt64, Strategy) -> TextbookPlace = { TextbookPlace(of: $0, strategy: $1) }

    /// How many bytes before a block are fetched for its IV.
    var lookBack: @Sendable (TextbookPlace, Strategy) -> UInt64 = { place, strategy in
        strategy.mode == .cbc && place.block > 0 ? 16 : 0
    }

    /// The IV of a block in CBC, its counter block in CTR.
    var iv: @Sendable (TextbookIVQuestion) -> Block = { $0.right }

    /// How ciphertext is fetched.
    var fetch: Fetch = { (source, offset, buffer) throws(DecryptionError) in
        try source.fetch(at: offset, into: buffer)
    }

    /// The bytes of a decrypted piece that are skipped.
    var skip: @Sendable (_ right: Int, _ mode: CipherMode) -> Int = { right, _ in right }

    /// Blocks that are decrypted beyond those that are needed, where there are any.
    var blocksTooMany = 0

    /// The largest window, whatever is asked for.
    var largestWindow = UInt64.max

    /// Whether a source's change is noticed.
    var noticesChanges = true
}

extension TextbookIVQuestion {
    /// The right answer. Source: NIST SP 800-38A, sections 6.2 and 6.5.
    var right: Block {
        switch strategy {
        case .ctr(let iv): iv.advanced(by: place.block)
        case .cbcContinuous(let iv, _): place.block == 0 ? iv : previous ?? iv
        case .cbcChunked, .chunked: place.block == 0 ? chunkIV(place.chunk) : previous ?? chunkIV(place.chunk)
        }
    }

    /// The given IV.
    var given: Block {
        switch strategy {
        case .ctr(let iv), .cbcContinuous(let iv, _), .cbcChunked(_, let iv, _, _): iv
        case .chunked: Block(bigEndianValue: 0)
        }
    }

    /// The IV of a chunk.
    func chunkIV(_ index: UInt64) -> Block {
        if case .cbcChunked(_, let iv, .sequence, _) = strategy { iv.advanced(by: index) } else { given }
    }
}
