/// What must be seen of a ciphertext before its layout is known: the pure first step of opening an object of CBC or CTR.
/// For authenticated chunks, that is ``ChunkGrid``.
public struct Probe: Hashable, Sendable {
    /// The strategy.
    public let strategy: Strategy

    /// The ciphertext's length in bytes.
    public let ciphertextByteCount: UInt64

    /// The last block of the last chunk, to be decrypted for its padding; `nil` where the length alone tells everything.
    public let lastBlock: ReadStep?

    /// Ciphertext bytes of a full chunk.
    let chunkCiphertextByteCount: UInt64

    /// Plans the opening of a ciphertext of a given length.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for an impossible chunk length, `.truncatedCiphertext` for a length
    ///   that no plaintext has.
    /// - Source: PROTOCOL.md, "open".
    public init(strategy: Strategy, ciphertextByteCount: UInt64) throws(DecryptionError) {
        try strategy.validate()
        self.strategy = strategy
        self.ciphertextByteCount = ciphertextByteCount
        guard let padding = strategy.padding else {
            guard strategy.chunkFormat == nil else {
                throw .unsupported("a probe of \(strategy.name), whose header is seen first")
            }
            self.lastBlock = nil
            self.chunkCiphertextByteCount = .max
            return
        }
        guard ciphertextByteCount % 16 == 0 else {
            throw .truncatedCiphertext(byteCount: ciphertextByteCount, expected: "a multiple of 16, as CBC makes")
        }
        let paddingByteCount: UInt64 = padding == .pkcs7 ? 16 : 0
        self.chunkCiphertextByteCount = strategy.chunkByteCount.map { $0 + paddingByteCount } ?? .max
        guard padding == .pkcs7 else {
            self.lastBlock = nil
            return
        }
        guard ciphertextByteCount > 0 else {
            throw .truncatedCiphertext(byteCount: 0, expected: "at least 16, the padding of an empty plaintext")
        }
        let blockStart = ciphertextByteCount - 16
        let chunkIndex = blockStart / chunkCiphertextByteCount
        let isFirstInChunk = blockStart % chunkCiphertextByteCount == 0
        self.lastBlock = ReadStep(
            cipher: .aesCBC, ciphertext: blockStart..<ciphertextByteCount,
            iv: isFirstInChunk ? .value(strategy.iv(ofChunk: chunkIndex)) : .precedingBlock, skip: 0, count: 16)
    }

    /// The second step of opening: the layout that follows from the decrypted last block.
    ///
    /// - Parameter plaintext: The plaintext of ``lastBlock``, 16 bytes; `nil` where there was none to be seen.
    /// - Returns: The layout.
    /// - Throws: `DecryptionError.invalidPadding` if the end does not unpad, or unpads to a length that no writer makes.
    public func layout(lastBlock plaintext: Block?) throws(DecryptionError) -> Layout {
        guard let padding = strategy.padding else {
            return Layout(run: run(plaintextByteCount: ciphertextByteCount))
        }
        guard padding == .pkcs7 else {
            return Layout(run: run(plaintextByteCount: ciphertextByteCount))
        }
        guard let plaintext, let paddingByteCount = PKCS7.paddingByteCount(of: plaintext) else {
            throw .invalidPadding
        }
        // There is at least one block, see `init`.
        let chunkIndex = (ciphertextByteCount - 16) / chunkCiphertextByteCount
        let chunkStart = chunkIndex &* chunkCiphertextByteCount
        let lastByteCount = ciphertextByteCount - chunkStart - UInt64(paddingByteCount)
        let fullByteCount = strategy.chunkByteCount ?? .max
        guard lastByteCount <= fullByteCount, chunkIndex == 0 || lastByteCount > 0 else { throw .invalidPadding }
        let before = chunkIndex == 0 ? 0 : chunkIndex * fullByteCount
        return Layout(run: run(plaintextByteCount: before + lastByteCount))
    }

    private func run(plaintextByteCount: UInt64) -> ExtentRun {
        ExtentRun(
            plaintext: 0..<plaintextByteCount, ciphertext: 0..<ciphertextByteCount,
            chunkPlaintextByteCount: strategy.chunkByteCount ?? .max,
            chunkCiphertextByteCount: chunkCiphertextByteCount,
            iv: strategy.iv(ofChunk: 0), ivStep: strategy.ivStep, cipher: strategy.cipher)
    }
}

extension Strategy {
    /// What is added to the IV from one chunk to the next.
    var ivStep: UInt64 {
        if case .cbcChunked(_, _, .sequence, _) = self { 1 } else { 0 }
    }

    /// The IV that chunk `index` starts from.
    package func iv(ofChunk index: UInt64) -> Block {
        switch self {
        case .cbcContinuous(let iv, _), .ctr(let iv): iv
        case .cbcChunked(_, let iv, _, _): iv.advanced(by: index &* ivStep)
        case .chunked: Block(bigEndianValue: 0)
        }
    }
}
