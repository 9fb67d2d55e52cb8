/// The part of a ciphertext that determines its layout: the pure step of opening an object, after its header.
public struct Probe: Hashable, Sendable {
    /// The ciphertext's length in bytes.
    public let ciphertextByteCount: UInt64

    /// The last block of the last chunk, which has to be decrypted for its padding; `nil` if the length alone
    /// determines the layout.
    public let lastBlock: ReadStep?

    let geometry: Geometry
    private let rules: ChunkRules
    let chunkCount: UInt64

    /// Plans the opening of a ciphertext of a given length, in a format without a header.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for an impossible chunk length, `.truncatedCiphertext` for an
    ///   impossible ciphertext length, `.unsupported` for a format that depends on a header or the key.
    /// - Source: PROTOCOL.md, "open".
    public init(strategy: Strategy, ciphertextByteCount: UInt64) throws(DecryptionError) {
        guard strategy.format.header.isEmpty, let shape = try strategy.shape().known,
            strategy.format.nonce.isKnownOfChunks(strategy.values)
        else { throw .unsupported("a probe of \(strategy.name), whose header is seen first") }
        let chunkCount = try shape.geometry.chunkCount(ofCiphertext: ciphertextByteCount)
        self.init(
            geometry: shape.geometry, rules: try ChunkRules(strategy.format, shape, strategy.values),
            chunkCount: chunkCount, ciphertextByteCount: ciphertextByteCount)
    }

    /// Plans the steps after the header, for a ciphertext with a number of chunks.
    init(geometry: Geometry, rules: ChunkRules, chunkCount: UInt64, ciphertextByteCount: UInt64) {
        (self.geometry, self.rules) = (geometry, rules)
        (self.chunkCount, self.ciphertextByteCount) = (chunkCount, ciphertextByteCount)
        guard !geometry.isLengthTold, chunkCount > 0, rules.isStreaming else {
            self.lastBlock = nil
            return
        }
        let blockEnd = ciphertextByteCount - geometry.trailerByteCount
        let isFirstInChunk = blockEnd - 16 == geometry.ciphertextStart(ofChunk: chunkCount - 1)
        self.lastBlock = ReadStep(
            cipher: rules.cipher, ciphertext: blockEnd - 16..<blockEnd,
            iv: isFirstInChunk
                ? .value(
                    rules.block(
                        ofChunk: chunkCount - 1, at: geometry.plaintextStart(ofChunk: chunkCount - 1), isLast: true))
                : .precedingBlock, skip: 0,
            count: 16)
    }

    /// Returns the layout, given the decrypted last block: the second step of opening.
    ///
    /// - Parameter plaintext: The plaintext of ``lastBlock``, 16 bytes; `nil` if that is `nil`.
    /// - Returns: The layout.
    /// - Throws: `DecryptionError.invalidPadding` if the padding is invalid, or results in a length that no writer
    ///   produces.
    public func layout(lastBlock plaintext: Block?) throws(DecryptionError) -> Layout {
        let all = geometry.plaintextByteCount(ofCiphertext: ciphertextByteCount, chunkCount: chunkCount)
        guard !geometry.isLengthTold, chunkCount > 0 else { return layout(plaintextByteCount: all) }
        guard let plaintext, let paddingByteCount = PKCS7.paddingByteCount(of: plaintext) else {
            throw .invalidPadding
        }
        // There is at least one block, see `Geometry`.
        let last = chunkCount - 1
        let end = ciphertextByteCount - geometry.trailerByteCount
        let stored = end - geometry.ciphertextStart(ofChunk: last)
        // A full chunk has a block of padding behind its data, and possibly other parts.
        let lastByteCount =
            stored - geometry.frontByteCount - (geometry.behindByteCount - 16) - UInt64(paddingByteCount)
        let capacity = geometry.chunkByteCount - (last == 0 ? geometry.missingByteCount : 0)
        guard lastByteCount <= capacity, last == 0 || lastByteCount > 0 else { throw .invalidPadding }
        return layout(plaintextByteCount: geometry.plaintextStart(ofChunk: last) + lastByteCount)
    }

    /// Returns the layout before the padding is known; padding counts as plaintext.
    func layoutWithPadding() -> Layout {
        layout(
            plaintextByteCount: geometry.plaintextByteCount(ofCiphertext: ciphertextByteCount, chunkCount: chunkCount))
    }

    /// Returns the layout of an object that was opened before with a plaintext of this length.
    ///
    /// - Throws: `DecryptionError.sourceChanged` if the ciphertext's length does not fit that plaintext.
    func layout(knownByteCount: UInt64) throws(DecryptionError) -> Layout {
        let fits =
            geometry.isLengthTold
            ? geometry.plaintextByteCount(ofCiphertext: ciphertextByteCount, chunkCount: chunkCount) == knownByteCount
            : geometry.ciphertextByteCount(ofPlaintext: knownByteCount) == ciphertextByteCount
        guard fits else {
            throw .sourceChanged(
                byteCount: ciphertextByteCount, expected: geometry.ciphertextByteCount(ofPlaintext: knownByteCount))
        }
        return layout(plaintextByteCount: knownByteCount)
    }

    private func layout(plaintextByteCount: UInt64) -> Layout {
        Layout(
            geometry: geometry, rules: rules, chunkCount: chunkCount, plaintextByteCount: plaintextByteCount,
            ciphertextByteCount: ciphertextByteCount)
    }
}

extension Formula {
    /// Returns whether only values that differ between chunks are unknown.
    fileprivate func isKnownOfChunks(_ names: [String: Value]) -> Bool {
        expression.names.allSatisfy { names[$0] != nil || $0 == "last" || ChunkNumbers.Name(rawValue: $0) != nil }
    }
}
