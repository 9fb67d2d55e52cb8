package import RandomAccess

/// Where the chunks of an object of a given length lie, as the oracle reckons.
package struct OracleLayout: Sendable {
    let sizes: OracleSizes
    /// The number of chunks.
    package let chunkCount: UInt64
    package let plaintextByteCount: UInt64
    let ciphertextByteCount: UInt64

    /// For a ciphertext of a format whose chunks are each decrypted as a whole; `nil` of any other, and as long as a
    /// header has to be seen first.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` for a length that no plaintext has, or as ``OracleObject``.
    package init?(_ strategy: Strategy, ciphertextByteCount: UInt64) throws(DecryptionError) {
        guard let sizes = try Self.sizes(strategy) else { return nil }
        self.sizes = sizes
        self.ciphertextByteCount = ciphertextByteCount
        chunkCount = try sizes.chunks(of: ciphertextByteCount)
        plaintextByteCount = sizes.plaintextByteCount(of: ciphertextByteCount, chunkCount: chunkCount)
    }

    private static func sizes(_ strategy: Strategy) throws(DecryptionError) -> OracleSizes? {
        guard !strategy.isStreaming else { return nil }
        var found: OracleSizes?
        // Where a header has a choice, lengths are known that are the same for all.
        for number in 0..<(strategy.format.header.map(\.content.count).max() ?? 1) {
            var known = OracleEvaluator(names: strategy.values, format: strategy.format.name)
            for field in strategy.format.header {
                guard let last = field.content.indices.last else { continue }
                let content = field.content[min(number, last)]
                guard known.knows(content) else { continue }
                known.names[field.name] = .bytes(ByteString(try known.bytes(content)))
            }
            guard let sizes = try OracleSizes(strategy.format, known), found?.isLike(sizes) ?? true else { return nil }
            found = found ?? sizes
        }
        if let found { return found }
        let known = OracleEvaluator(names: strategy.values, format: strategy.format.name)
        return try OracleSizes(strategy.format, known)
    }

    /// Says whether the lengths of chunks are known before a header is seen.
    package static func isKnown(of strategy: Strategy) -> Bool { ((try? sizes(strategy)) ?? nil) != nil }

    /// The bytes that opening an object looks at before any chunk, whatever its length.
    package static func lookedAtByteCount(of strategy: Strategy) -> UInt64 {
        ((try? sizes(strategy)) ?? nil)?.lookedAtByteCount ?? 0
    }

    /// The bytes that opening looks at before any chunk.
    package var lookedAtByteCount: UInt64 { sizes.lookedAtByteCount }

    /// The bytes behind the chunks.
    package var trailer: Range<UInt64> {
        ciphertextByteCount - min(ciphertextByteCount, sizes.trailer)..<ciphertextByteCount
    }

    /// The plaintext bytes of a full chunk.
    var full: UInt64 { sizes.fullByteCount }

    /// The place of a chunk, with all its parts.
    package func stored(_ index: UInt64) -> Range<UInt64> {
        let end =
            index + 1 == chunkCount
            ? trailer.lowerBound : sizes.storedStart(ofChunk: index + 1)
        return sizes.storedStart(ofChunk: index)..<end
    }

    /// The place of a chunk's data in the plaintext.
    package func plaintext(ofChunk index: UInt64) -> Range<UInt64> {
        let end = index + 1 == chunkCount ? plaintextByteCount : sizes.plaintextStart(ofChunk: index + 1)
        return sizes.plaintextStart(ofChunk: index)..<end
    }

    /// The chunks that hold a range of plaintext, from the first one's start to the last one's end.
    package func ciphertext(of range: Range<UInt64>) -> Range<UInt64> {
        guard !range.isEmpty else { return sizes.start..<sizes.start }
        let last = sizes.chunk(at: range.upperBound - 1)
        return sizes.storedStart(ofChunk: sizes.chunk(at: range.lowerBound))..<stored(last).upperBound
    }
}
