import ByteSources
package import RandomAccess

/// The positions of the chunks of an object with a given length, as the oracle computes them. If the data stand behind
/// a table, they are those of the object with contiguous chunks.
package struct OracleLayout: Sendable {
    let sizes: OracleSizes
    /// The number of chunks.
    package let chunkCount: UInt64
    package let plaintextByteCount: UInt64
    let ciphertextByteCount: UInt64
    /// The table, if there is one.
    let table: OracleTable?

    /// A ciphertext of a format whose chunks are decrypted whole; `nil` for any other format, or if a header must be
    /// read first.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` for a length that no plaintext has, or the errors of
    ///   ``OracleObject``.
    package init?(_ strategy: Strategy, ciphertextByteCount: UInt64) throws(DecryptionError) {
        guard let sizes = try Self.sizes(strategy) else { return nil }
        self.sizes = sizes
        let known = OracleEvaluator(names: strategy.values, format: strategy.format.name)
        table = try OracleTable(strategy.format, known, sizes, byteCount: ciphertextByteCount)
        let ciphertextByteCount = table?.wholeByteCount ?? ciphertextByteCount
        self.ciphertextByteCount = ciphertextByteCount
        chunkCount = try sizes.chunks(of: ciphertextByteCount)
        plaintextByteCount = sizes.plaintextByteCount(of: ciphertextByteCount, chunkCount: chunkCount)
    }

    private static func sizes(_ strategy: Strategy) throws(DecryptionError) -> OracleSizes? {
        guard !strategy.isStreaming else { return nil }
        var found: OracleSizes?
        // If a header has alternatives, the lengths are known if they are the same for all of them.
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

    /// Says whether the lengths of chunks are known before a header is read.
    package static func isKnown(of strategy: Strategy) -> Bool { ((try? sizes(strategy)) ?? nil) != nil }

    /// Returns the number of bytes that opening an object reads before any chunk, whatever the object's length.
    package static func lookedAtByteCount(of strategy: Strategy) -> UInt64 {
        ((try? sizes(strategy)) ?? nil)?.lookedAtByteCount ?? 0
    }

    /// The number of bytes that opening reads before any chunk.
    package var lookedAtByteCount: UInt64 { sizes.lookedAtByteCount }

    /// The range after the chunks.
    package var trailer: Range<UInt64> {
        ciphertextByteCount - min(ciphertextByteCount, sizes.trailer)..<ciphertextByteCount
    }

    /// The number of plaintext bytes in a full chunk.
    var full: UInt64 { sizes.fullByteCount }

    /// Returns the range of a chunk in the ciphertext, with all its parts.
    package func stored(_ index: UInt64) -> Range<UInt64> {
        let end =
            index + 1 == chunkCount
            ? trailer.lowerBound : sizes.storedStart(ofChunk: index + 1)
        return sizes.storedStart(ofChunk: index)..<end
    }

    /// Returns the stored bytes of a chunk of an object with this layout.
    func chunk(_ index: UInt64, of object: [UInt8]) -> [UInt8]? {
        let source = MemorySource(object)
        return try? (table?.whole(of: source) ?? source).bytes(stored(index))
    }

    /// Returns the range of a chunk's data in the plaintext.
    package func plaintext(ofChunk index: UInt64) -> Range<UInt64> {
        let end = index + 1 == chunkCount ? plaintextByteCount : sizes.plaintextStart(ofChunk: index + 1)
        return sizes.plaintextStart(ofChunk: index)..<end
    }

    /// Returns the chunks that hold a range of plaintext, from the start of the first to the end of the last.
    package func ciphertext(of range: Range<UInt64>) -> Range<UInt64> {
        guard !range.isEmpty else { return sizes.start..<sizes.start }
        let last = sizes.chunk(at: range.upperBound - 1)
        return sizes.storedStart(ofChunk: sizes.chunk(at: range.lowerBound))..<stored(last).upperBound
    }
}
