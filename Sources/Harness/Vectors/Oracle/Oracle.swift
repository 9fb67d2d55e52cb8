import ByteSources
package import RandomAccess

/// Computes the plaintext of a ciphertext, with code that shares nothing with the code under test.
///
/// It works block by block as in textbooks, with its own ciphers, chunk arithmetic, padding check and interpretation of
/// a format's description. Of `RandomAccess` it only uses types such as strategy, key, source and error, and the parsed
/// description.
package struct Oracle: Sendable {
    let strategy: Strategy
    let key: SecretKey

    package init(strategy: Strategy, key: SecretKey) {
        self.strategy = strategy
        self.key = key
    }

    /// Returns the object that the format's description defines for a source.
    func object(_ source: any ByteSource, isChecked: Bool = false) throws(DecryptionError) -> OracleObject {
        try OracleObject(strategy, key: key, source: source, isChecked: isChecked)
    }

    /// Decrypts a range of an object.
    ///
    /// `plaintextByteCount` is the object's length (see ``plaintextByteCount(of:)``), `range` lies within it, and
    /// `output.count == range.count`. Tags are not checked: the vector says whether a chunk may be delivered.
    ///
    /// - Throws: `DecryptionError.io`, `.truncatedCiphertext` if the source ends early.
    /// - Complexity: O(`range.count`), wherever the range lies.
    package func decrypt(
        ciphertext: any ByteSource, plaintextByteCount: UInt64, range: Range<UInt64>,
        into output: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        precondition(range.upperBound <= plaintextByteCount, "range \(range) of \(plaintextByteCount)")
        precondition(output.count == range.count, "\(output.count) bytes of buffer for \(range.count)")
        guard !range.isEmpty else { return }
        try object(ciphertext).decrypt(range, of: ciphertext, into: output)
    }

    /// Returns the plaintext's length. For a padded object it follows from the last block. For others, the last chunk
    /// is checked first if the format requires it.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` for a length that no plaintext has, `.invalidPadding` if the end
    ///   has no valid padding or a length that no writer produces, `.authenticationFailed`, `.io`.
    /// - Source: PROTOCOL.md, "open"; RFC 5652, section 6.3.
    package func plaintextByteCount(of source: any ByteSource) throws(DecryptionError) -> UInt64 {
        try object(source, isChecked: true).checkedPlaintextByteCount(of: source)
    }

    /// Returns the header that a writer makes with an object's salt and this key; empty if the format has no header.
    package func header(of source: any ByteSource) throws(DecryptionError) -> [UInt8] { try object(source).header }
}

/// Objects made from their plaintext, for vectors in which it matters; only for formats without tags.
extension Oracle {
    /// Encrypts a small plaintext as a writer does: chunk by chunk, each with padding if the strategy has it.
    func encrypt(_ plaintext: [UInt8]) -> [UInt8] {
        VectorSet.made("an object of \(strategy.name)") { () throws(DecryptionError) in
            try sealer(UInt64(plaintext.count)).sealed(plaintext)
        }
    }

    private func sealer(_ byteCount: UInt64) throws(DecryptionError) -> OracleSealer {
        try OracleSealer(strategy, key: key, plaintextByteCount: byteCount, drawn: Zeros(byteCount: .max))
    }

    /// Encrypts a chunk's data as they are, which must include any padding.
    func encrypt(blocks plaintext: [UInt8], chunk: UInt64 = 0) -> [UInt8] {
        VectorSet.made("a chunk of \(strategy.name)") { () throws(DecryptionError) in
            let object = try sealer(0).object
            let sealing = try object.cipher(
                object.known(ofChunk: chunk, dataByteCount: UInt64(plaintext.count), storedByteCount: 0))
            return sealing.cipher.encrypt(plaintext, nonce: sealing.nonce)
        }
    }
}

extension Oracle {
    static func fetch(
        _ byteCount: Int, at offset: UInt64, of source: any ByteSource, into start: UnsafeMutableRawPointer
    ) throws(DecryptionError) {
        var done = 0
        while done < byteCount {
            let rest = UnsafeMutableRawBufferPointer(start: start + done, count: byteCount - done)
            let count = try source.read(at: offset + UInt64(done), into: FetchBuffers(rest))
            guard count > 0 else {
                throw .truncatedCiphertext(
                    byteCount: source.byteCount, expected: "\(byteCount) bytes from \(offset) on")
            }
            done += count
        }
    }

    static func bytes(
        _ count: Int, at offset: UInt64, of source: any ByteSource
    ) throws(DecryptionError) -> [UInt8] {
        try [UInt8](byteCount: count) { (buffer) throws(DecryptionError) in
            if let start = buffer.baseAddress { try fetch(count, at: offset, of: source, into: start) }
        }
    }
}
