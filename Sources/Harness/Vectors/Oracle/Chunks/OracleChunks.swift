internal import RandomAccess

/// What the oracle knows of an object of authenticated chunks once it has seen the header.
///
/// Textbook arithmetic of its own: chunk numbers by division, nonces as bytes, keys by ``OracleHKDF``.
struct OracleChunks: Sendable {
    let aes: OracleAES
    /// The header that a writer makes for these keys.
    let header: [UInt8]
    private let format: ChunkFormat
    private let baseNonce: [UInt8]

    /// Derives the keys from as many bytes as the format's header has; of Cobblestone's only the salt counts.
    init(_ format: ChunkFormat, key: SecretKey, header: [UInt8]) throws(DecryptionError) {
        self.format = format
        let input = key.withUnsafeBytes { Array($0) }
        switch format {
        case .cobblestone(let keyByteCount, let context):
            let name = keyByteCount == 32 ? "AEAD_AES_256_GCM" : "AEAD_AES_128_GCM"
            let salt = Array(header.prefix(24))
            let info = Array("c2sp.org/chunked-encryption@v1+\(name)".utf8) + [0] + salt + context
            let derived = OracleHKDF.sha512.expand(input, info: info, byteCount: keyByteCount + 12 + 32)
            self.aes = OracleAES(key: try SecretKey(derived.prefix(keyByteCount)))
            self.baseNonce = Array(derived[keyByteCount..<keyByteCount + 12])
            self.header = salt + derived.suffix(32)
        case .tinkAESGCMHKDF(let associatedData, _, let derivedKeyByteCount):
            let salt = Array(header[1..<1 + derivedKeyByteCount])
            let extracted = OracleHKDF.sha256.mac(salt, input)
            let derived = OracleHKDF.sha256.expand(extracted, info: associatedData, byteCount: derivedKeyByteCount)
            self.aes = OracleAES(key: try SecretKey(derived))
            self.baseNonce = Array(header[(1 + derivedKeyByteCount)...])
            self.header = [UInt8(derivedKeyByteCount + 8)] + header.dropFirst()
        }
    }

    /// The first counter block of a chunk: its nonce, and the number 1.
    func start(ofChunk index: UInt64, isLast: Bool) -> OracleBlock {
        let number = (0..<8).map { UInt8(truncatingIfNeeded: index >> (56 - 8 * $0)) }
        switch format {
        case .cobblestone:
            let nonce = zip(baseNonce, [0, 0, 0, 0] + number).map { $0 ^ $1 }
            return OracleBlock(nonce + [0, 0, 0, 1])
        case .tinkAESGCMHKDF:
            return OracleBlock(baseNonce + number.suffix(4) + [isLast ? 1 : 0] + [0, 0, 0, 1])
        }
    }

    /// The hash for tags.
    func makeHash() -> OracleGHASH {
        OracleGHASH(key: aes.encrypt(OracleBlock([UInt8](repeating: 0, count: 16))))
    }

    /// The tag of a chunk's ciphertext.
    func tag(_ ciphertext: UnsafeRawBufferPointer, hash: OracleGHASH, chunk: UInt64, isLast: Bool) -> [UInt8] {
        (hash.hash(ciphertext) ^ aes.encrypt(start(ofChunk: chunk, isLast: isLast))).bytes
    }
}
