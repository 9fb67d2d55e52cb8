import ByteSources
package import RandomAccess

/// Says what a ciphertext decrypts to, in code that shares nothing with the code under test.
///
/// Textbook, block after block: its own ciphers, its own chunk arithmetic, its own padding check, its own reading of a
/// format's description. Of `RandomAccess` it uses only the names of things (strategy, key, source, error), and the
/// parsed description.
package struct Oracle: Sendable {
    let strategy: Strategy
    let key: SecretKey

    /// Creates an oracle for the objects of one strategy and key.
    package init(strategy: Strategy, key: SecretKey) {
        self.strategy = strategy
        self.key = key
    }

    /// The object as its format's description says it is.
    func object(_ source: any ByteSource, isChecked: Bool = false) throws(DecryptionError) -> OracleObject {
        try OracleObject(strategy, key: key, source: source, isChecked: isChecked)
    }

    /// Decrypts a range of an object.
    ///
    /// `plaintextByteCount` is the object's length (see ``plaintextByteCount(of:)``), `range` lies within it, and
    /// `output.count == range.count`. Tags are not looked at: whether a chunk is to be delivered, a vector says.
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

    /// The plaintext's length: of a padded object by its last block, and of others once the last chunk has been looked
    /// at where the format asks for it.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` for a length that no plaintext has, `.invalidPadding` if the end
    ///   does not unpad to a length that a writer makes, `.authenticationFailed`, `.io`.
    /// - Source: PROTOCOL.md, "open"; RFC 5652, section 6.3.
    package func plaintextByteCount(of source: any ByteSource) throws(DecryptionError) -> UInt64 {
        try object(source, isChecked: true).checkedPlaintextByteCount(of: source)
    }

    /// The header that a writer makes for an object's salt and this key; empty where the format has none.
    package func header(of source: any ByteSource) throws(DecryptionError) -> [UInt8] { try object(source).header }

    /// Says whether a chunk is to be delivered.
    ///
    /// - Throws: `DecryptionError.authenticationFailed`, or what the description has for a part that is another one.
    package func check(chunk index: UInt64, of source: any ByteSource) throws(DecryptionError) {
        try object(source).check(index, of: source)
    }
}

/// Objects that are made from their plaintext, for vectors in which that matters; of formats without tags.
extension Oracle {
    /// Encrypts a small plaintext as a writer does: chunk after chunk, each padded where the strategy says so.
    func encrypt(_ plaintext: [UInt8]) -> [UInt8] {
        VectorSet.made("an object of \(strategy.name)") { () throws(DecryptionError) in
            try sealer(UInt64(plaintext.count)).sealed(plaintext)
        }
    }

    private func sealer(_ byteCount: UInt64) throws(DecryptionError) -> OracleSealer {
        try OracleSealer(strategy, key: key, plaintextByteCount: byteCount, drawn: Zeros(byteCount: .max))
    }

    /// Encrypts what is a chunk's data as it is, its padding among it.
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
