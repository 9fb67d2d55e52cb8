/// What an object's chunks are opened with: derived from its header and the key that the caller has.
struct ChunkKeys {
    let key: SecretKey
    let nonces: ChunkNonces

    /// Derives key and nonces, and checks what the header says of them.
    ///
    /// - Parameters:
    ///   - grid: Where the object's chunks lie.
    ///   - header: The object's first bytes, `grid.header.count` of them.
    ///   - key: The caller's key, of a length that the format takes.
    /// - Throws: `DecryptionError.headerRejected` if the commitment is another one, or the header's length.
    init(_ grid: ChunkGrid, header: UnsafeRawBufferPointer, key: SecretKey) throws(DecryptionError) {
        switch grid.format {
        case .cobblestone(let keyByteCount, let context):
            let room = Self.room(keyByteCount + 12 + ChunkFormat.commitmentByteCount)
            defer { Self.free(room) }
            Self.deriveCobblestone(keyByteCount, context, salt: header, key: key, into: room)
            let commitment = UnsafeRawBufferPointer(rebasing: room[(keyByteCount + 12)...])
            let found = UnsafeRawBufferPointer(rebasing: header[ChunkFormat.saltByteCount...])
            guard isEqualInConstantTime(commitment, found) else {
                throw .headerRejected(expected: "the commitment of this key and context")
            }
            self.key = try SecretKey(room[..<keyByteCount])
            self.nonces = Self.cobblestoneNonces(room, keyByteCount)
        case .tinkAESGCMHKDF(let associatedData, _, let derivedKeyByteCount):
            guard header[0] == UInt8(grid.format.headerByteCount) else {
                throw .headerRejected(
                    expected: "\(grid.format.headerByteCount), the header's length, as its first byte")
            }
            self.key = try Self.tinkKey(
                derivedKeyByteCount, associatedData, salt: Array(header[1..<1 + derivedKeyByteCount]), key: key)
            let prefix = header[(1 + derivedKeyByteCount)...].reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
            self.nonces = .numbered(prefix: prefix, lastChunk: grid.chunkCount - 1)
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
        let room = room(SHA256.digestByteCount + byteCount)
        defer { free(room) }
        let pseudorandomKey = UnsafeMutableRawBufferPointer(rebasing: room[..<SHA256.digestByteCount])
        let derived = UnsafeMutableRawBufferPointer(rebasing: room[SHA256.digestByteCount...])
        salt.withUnsafeBytes { salt in
            key.withUnsafeBytes { HKDF<UInt32>.extract(salt: salt, key: $0, into: pseudorandomKey) }
        }
        HKDF<UInt32>.expand(UnsafeRawBufferPointer(pseudorandomKey), info: associatedData, into: derived)
        return try SecretKey(derived)
    }

    static func room(_ byteCount: Int) -> UnsafeMutableRawBufferPointer {
        .allocate(byteCount: byteCount, alignment: 16)
    }

    static func free(_ room: UnsafeMutableRawBufferPointer) {
        eraseBytes(room)
        room.deallocate()
    }
}
