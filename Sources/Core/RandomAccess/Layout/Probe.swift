/// The part of a ciphertext that must be seen before its layout is known: the pure step of opening an object that
/// follows its header, if it has one.
public struct Probe: Hashable, Sendable {
    /// The ciphertext's length in bytes.
    public let ciphertextByteCount: UInt64

    /// The last block of the last chunk, to be decrypted for its padding; `nil` where the length alone tells
    /// everything.
    public let lastBlock: ReadStep?

    let geometry: Geometry
    private let rules: ChunkRules
    let chunkCount: UInt64

    /// Plans the opening of a ciphertext of a given length, of a format without a header.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for an impossible chunk length, `.truncatedCiphertext` for a length
    ///   that no plaintext has, `.unsupported` for a format whose header or key is to be seen first.
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

    /// Plans what follows the header, of a ciphertext that has so many chunks.
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

    /// The second step of opening: the layout that follows from the decrypted last block.
    ///
    /// - Parameter plaintext: The plaintext of ``lastBlock``, 16 bytes; `nil` where there was none to be seen.
    /// - Returns: The layout.
    /// - Throws: `DecryptionError.invalidPadding` if the end does not unpad, or unpads to a length that no writer
    ///   makes.
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
        // Behind its data, a full chunk has a block of padding, and perhaps parts.
        let lastByteCount =
            stored - geometry.frontByteCount - (geometry.behindByteCount - 16) - UInt64(paddingByteCount)
        let capacity = geometry.chunkByteCount - (last == 0 ? geometry.missingByteCount : 0)
        guard lastByteCount <= capacity, last == 0 || lastByteCount > 0 else { throw .invalidPadding }
        return layout(plaintextByteCount: geometry.plaintextStart(ofChunk: last) + lastByteCount)
    }

    /// The layout as long as the padding has not been seen, which counts as plaintext.
    func layoutWithPadding() -> Layout {
        layout(
            plaintextByteCount: geometry.plaintextByteCount(ofCiphertext: ciphertextByteCount, chunkCount: chunkCount))
    }

    /// The layout of an object that was opened before, and whose plaintext had this length then.
    ///
    /// - Throws: `DecryptionError.sourceChanged` if the ciphertext is not as long as one of that length.
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
    /// Says whether only what differs between chunks is not known.
    fileprivate func isKnownOfChunks(_ names: [String: Value]) -> Bool {
        expression.names.allSatisfy { names[$0] != nil || $0 == "last" || ChunkNumbers.Name(rawValue: $0) != nil }
    }
}
