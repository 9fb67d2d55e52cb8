/// What an object's chunks are opened with: derived from its header and the key that the caller has.
struct ChunkKeys {
    let key: SecretKey
    let nonces: ChunkNonces

    /// Derives key and nonces, and checks what the header says of them.
    ///
    /// - Parameters:
    ///   - format: The format.
    ///   - chunkCount: How many chunks the object has.
    ///   - header: The object's first bytes, as many as its header has.
    ///   - key: The caller's key, of a length that the format takes.
    /// - Throws: `DecryptionError.headerRejected` if the commitment is another one, or the header's length.
    init(
        _ format: ChunkFormat, chunkCount: UInt64, header: UnsafeRawBufferPointer, key: SecretKey
    ) throws(DecryptionError) {
        switch format {
        case .cobblestone(let keyByteCount, let context):
            let buffer = Self.allocate(keyByteCount + 12 + ChunkFormat.commitmentByteCount)
            defer { Self.free(buffer) }
            Self.deriveCobblestone(keyByteCount, context, salt: header, key: key, into: buffer)
            let commitment = UnsafeRawBufferPointer(rebasing: buffer[(keyByteCount + 12)...])
            let found = UnsafeRawBufferPointer(rebasing: header[ChunkFormat.saltByteCount...])
            guard isEqualInConstantTime(commitment, found) else {
                throw .headerRejected(expected: "the commitment of this key and context")
            }
            self.key = try SecretKey(buffer[..<keyByteCount])
            self.nonces = Self.cobblestoneNonces(buffer, keyByteCount)
        case .tinkAESGCMHKDF(let associatedData, _, let derivedKeyByteCount):
            guard header[0] == UInt8(format.headerByteCount) else {
                throw .headerRejected(
                    expected: "\(format.headerByteCount), the header's length, as its first byte")
            }
            self.key = try Self.tinkKey(
                derivedKeyByteCount, associatedData, salt: Array(header[1..<1 + derivedKeyByteCount]), key: key)
            let prefix = header[(1 + derivedKeyByteCount)...].reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
            self.nonces = .numbered(prefix: prefix, lastChunk: chunkCount - 1)
        }
    }

    /// key ‖ base nonce ‖ commitment. Source: c2sp.org/chunked-encryption, "Key derivation".
    static func deriveCobblestone(
        _ keyByteCount: Int, _ context: [UInt8], salt: UnsafeRawBufferPointer, key: SecretKey,
        into output: UnsafeMutableRawBufferPointer
    ) {
        let name = "c2sp.org/chunked-encryption@v1+AEAD_AES_\(keyByteCount * 8)_GCM"
        let info = Array(name.utf8) + [0] + salt.prefix(ChunkFormat.saltByteCount) + context
        key.withUnsafeBytes { HKDF<UInt64>.expand($0, info: info, into: output) }
    }

    /// The nonces that follow from a derived base nonce.
    static func cobblestoneNonces(_ derived: UnsafeMutableRawBufferPointer, _ keyByteCount: Int) -> ChunkNonces {
        .counted(base: derived[keyByteCount..<keyByteCount + 12].reduce(0) { $0 << 8 | UInt128($1) })
    }

    /// HKDF-SHA-256 of the key material, with the header's salt, and the associated data as info.
    static func tinkKey(
        _ byteCount: Int, _ associatedData: [UInt8], salt: [UInt8], key: SecretKey
    ) throws(DecryptionError) -> SecretKey {
        let buffer = allocate(SHA256.digestByteCount + byteCount)
        defer { free(buffer) }
        let pseudorandomKey = UnsafeMutableRawBufferPointer(rebasing: buffer[..<SHA256.digestByteCount])
        let derived = UnsafeMutableRawBufferPointer(rebasing: buffer[SHA256.digestByteCount...])
        salt.withUnsafeBytes { salt in
            key.withUnsafeBytes { HKDF<UInt32>.extract(salt: salt, key: $0, into: pseudorandomKey) }
        }
        HKDF<UInt32>.expand(UnsafeRawBufferPointer(pseudorandomKey), info: associatedData, into: derived)
        return try SecretKey(derived)
    }

    static func allocate(_ byteCount: Int) -> UnsafeMutableRawBufferPointer {
        .allocate(byteCount: byteCount, alignment: 16)
    }

    static func free(_ buffer: UnsafeMutableRawBufferPointer) {
        eraseBytes(buffer)
        buffer.deallocate()
    }
}

/// What an object's chunks start from: IVs, counter blocks, or nonces in the first 12 bytes of blocks.
enum ChunkNonces: Hashable, Sendable {
    /// A block, to which a number is added from one chunk to the next.
    case stepped(from: Block, by: UInt64)
    /// The base nonce XOR the chunk's number, big-endian. Source: c2sp.org/chunked-encryption, "AEAD usage".
    case counted(base: UInt128)
    /// A prefix of 7 bytes ‖ the chunk's number in 4 bytes, big-endian ‖ 1 for the last chunk, 0 for the others.
    /// Source: Tink's documentation, "Streaming AEAD: AES-GCM-HKDF".
    case numbered(prefix: UInt128, lastChunk: UInt64)

    /// The block of a chunk; behind a nonce are zeros.
    @inline(__always)
    func block(ofChunk index: UInt64) -> Block {
        switch self {
        case .stepped(let start, let step):
            start.advanced(by: index &* step)
        case .counted(let base):
            Block(bigEndianValue: (base ^ UInt128(index)) << 32)
        case .numbered(let prefix, let lastChunk):
            Block(
                bigEndianValue: prefix << 72 | UInt128(UInt32(truncatingIfNeeded: index)) << 40
                    | (index == lastChunk ? 1 << 32 : 0))
        }
    }
}

extension Block {
    /// Calls `body` with a nonce for a cipher: the whole block for a streaming one, the first 12 bytes for another.
    package func withNonce<Result>(
        for cipher: Cipher, _ body: (UnsafeRawBufferPointer) throws(DecryptionError) -> Result
    ) throws(DecryptionError) -> Result {
        try withUnsafeBytes { (bytes) throws(DecryptionError) in
            try body(UnsafeRawBufferPointer(rebasing: bytes[..<(cipher.isStreaming ? 16 : 12)]))
        }
    }
}

/// The opening of an object of authenticated chunks: header, keys, and the last chunk, which proves the length.
struct OpenedChunks {
    let layout: Layout
    let key: SecretKey

    /// Checks in the order of PROTOCOL.md: key, length, header, last chunk.
    init(
        source: any ByteSource, format: ChunkFormat, backend: any CipherBackend, key: SecretKey
    ) throws(DecryptionError) {
        guard backend.supports(.aesGCM) else { throw .unsupported("AES-GCM in \(backend.name)") }
        try format.check(key)
        let geometry = Geometry(.chunked(format))
        let chunkCount = try geometry.chunkCount(ofCiphertext: source.byteCount)
        let keys = try Self.keys(format, chunkCount: chunkCount, source: source, key: key)
        self.layout = Layout(
            geometry: geometry, cipher: .aesGCM, nonces: keys.nonces,
            plaintextByteCount: source.byteCount - geometry.headerByteCount - chunkCount * geometry.behindByteCount,
            ciphertextByteCount: source.byteCount)
        self.key = keys.key
        let context = try backend.makeContext(.aesGCM, .decrypt, key: keys.key)
        try Self.openLastChunk(layout, chunkCount - 1, source: source, context: context)
    }

    private static func keys(
        _ format: ChunkFormat, chunkCount: UInt64, source: any ByteSource, key: SecretKey
    ) throws(DecryptionError) -> ChunkKeys {
        let header = UnsafeMutableRawBufferPointer.allocate(byteCount: format.headerByteCount, alignment: 16)
        defer { header.deallocate() }
        try source.fetch(at: 0, into: header)
        return try ChunkKeys(format, chunkCount: chunkCount, header: UnsafeRawBufferPointer(header), key: key)
    }

    private static func openLastChunk(
        _ layout: Layout, _ last: UInt64, source: any ByteSource, context: any CipherContext
    ) throws(DecryptionError) {
        let extent = layout.extent(ofChunk: last)
        let fetched = try UnsafeMutableRawBufferPointer.tryAllocate(byteCount: extent.ciphertext.count)
        defer { fetched.deallocate() }
        // Space for a tag more, so that an empty chunk has some, too.
        let plaintext = try UnsafeMutableRawBufferPointer.tryAllocate(byteCount: extent.ciphertext.count)
        defer {
            eraseBytes(UnsafeMutableRawBufferPointer(rebasing: plaintext[..<extent.plaintext.count]))
            plaintext.deallocate()
        }
        try source.fetch(at: extent.ciphertext.lowerBound, into: fetched)
        guard let start = plaintext.baseAddress else { return }
        try extent.iv.withNonce(for: extent.cipher) { (nonce) throws(DecryptionError) in
            try context.open(UnsafeRawBufferPointer(fetched), chunk: last, into: start, nonce: nonce)
        }
    }
}
