/// What must be seen of a ciphertext before its layout is known: the pure first step of opening an object of CBC or CTR.
/// Of authenticated chunks, the header is seen first.
public struct Probe: Hashable, Sendable {
    /// The strategy.
    public let strategy: Strategy

    /// The ciphertext's length in bytes.
    public let ciphertextByteCount: UInt64

    /// The last block of the last chunk, to be decrypted for its padding; `nil` where the length alone tells everything.
    public let lastBlock: ReadStep?

    private let geometry: Geometry
    private let chunkCount: UInt64

    /// Plans the opening of a ciphertext of a given length.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for an impossible chunk length, `.truncatedCiphertext` for a length
    ///   that no plaintext has.
    /// - Source: PROTOCOL.md, "open".
    public init(strategy: Strategy, ciphertextByteCount: UInt64) throws(DecryptionError) {
        try strategy.validate()
        guard strategy.chunkFormat == nil else {
            throw .unsupported("a probe of \(strategy.name), whose header is seen first")
        }
        self.strategy = strategy
        self.ciphertextByteCount = ciphertextByteCount
        self.geometry = Geometry(strategy)
        self.chunkCount = try geometry.chunkCount(ofCiphertext: ciphertextByteCount)
        guard !geometry.isLengthTold else {
            self.lastBlock = nil
            return
        }
        let blockStart = ciphertextByteCount - 16
        let isFirstInChunk = blockStart == geometry.ciphertextStart(ofChunk: chunkCount - 1)
        self.lastBlock = ReadStep(
            cipher: .aesCBC, ciphertext: blockStart..<ciphertextByteCount,
            iv: isFirstInChunk ? .value(strategy.nonces.block(ofChunk: chunkCount - 1)) : .precedingBlock, skip: 0,
            count: 16)
    }

    /// The second step of opening: the layout that follows from the decrypted last block.
    ///
    /// - Parameter plaintext: The plaintext of ``lastBlock``, 16 bytes; `nil` where there was none to be seen.
    /// - Returns: The layout.
    /// - Throws: `DecryptionError.invalidPadding` if the end does not unpad, or unpads to a length that no writer makes.
    public func layout(lastBlock plaintext: Block?) throws(DecryptionError) -> Layout {
        guard !geometry.isLengthTold else { return layout(plaintextByteCount: ciphertextByteCount) }
        guard let plaintext, let paddingByteCount = PKCS7.paddingByteCount(of: plaintext) else {
            throw .invalidPadding
        }
        // There is at least one block, see `init`.
        let last = chunkCount - 1
        let lastByteCount = ciphertextByteCount - geometry.ciphertextStart(ofChunk: last) - UInt64(paddingByteCount)
        guard lastByteCount <= geometry.chunkByteCount, last == 0 || lastByteCount > 0 else { throw .invalidPadding }
        return layout(plaintextByteCount: geometry.plaintextStart(ofChunk: last) + lastByteCount)
    }

    private func layout(plaintextByteCount: UInt64) -> Layout {
        Layout(
            geometry: geometry, cipher: strategy.cipher, nonces: strategy.nonces,
            plaintextByteCount: plaintextByteCount, ciphertextByteCount: ciphertextByteCount)
    }
}

extension Strategy {
    /// What each chunk of CBC or CTR starts from; of other chunks, their object's header tells.
    var nonces: ChunkNonces {
        switch self {
        case .cbcContinuous(let iv, _), .ctr(let iv): .stepped(from: iv, by: 0)
        case .cbcChunked(_, let iv, let rule, _): .stepped(from: iv, by: rule == .sequence ? 1 : 0)
        case .chunked: .stepped(from: Block(bigEndianValue: 0), by: 0)
        }
    }

    /// The IV that chunk `index` starts from.
    package func iv(ofChunk index: UInt64) -> Block { nonces.block(ofChunk: index) }
}
