/// Encrypts objects of authenticated chunks; see ``ObjectEncryptor``.
final class ChunkEncryptor: ObjectWriter {
    private let format: ChunkFormat
    private let geometry: Geometry
    private let context: any CipherContext
    private let writtenHeader: WrittenHeader
    /// Plaintext that is waiting, and behind it space for a sealed chunk.
    private let buffer: UnsafeMutableRawBufferPointer
    private let chunkByteCount: Int
    private var filled = 0
    private var maxFilled = 0
    private var index: UInt64 = 0

    /// Derives the keys; `salt` is the header's random bytes, `format.randomByteCount` of them.
    init(
        format: ChunkFormat, backend: any CipherBackend, key: SecretKey, salt: [UInt8]
    ) throws(DecryptionError) {
        guard backend.supports(.aesGCM) else { throw .unsupported("AES-GCM in \(backend.name)") }
        try format.check(key)
        self.format = format
        self.geometry = Geometry(.chunked(format))
        self.writtenHeader = try WrittenHeader(format: format, key: key, salt: salt)
        self.context = try backend.makeContext(.aesGCM, .encrypt, key: writtenHeader.key)
        self.chunkByteCount = Int(format.chunkByteCount)
        self.buffer = try .tryAllocate(byteCount: 2 * chunkByteCount + ChunkFormat.tagByteCount)
    }

    deinit {
        eraseBytes(UnsafeMutableRawBufferPointer(rebasing: buffer[..<maxFilled]))
        buffer.deallocate()
    }

    /// The plaintext bytes that the current chunk holds when it is full.
    private var capacity: Int {
        index == 0 ? chunkByteCount - Int(geometry.missingByteCount) : chunkByteCount
    }

    func append(_ plaintext: UnsafeRawBufferPointer, to sink: (UnsafeRawBufferPointer) throws -> Void) throws {
        var rest = plaintext[...]
        while !rest.isEmpty {
            // A full chunk may turn out to be the last, where that may be full: it waits until more comes.
            if filled == capacity { try seal(isLast: false, to: sink) }
            let count = min(rest.count, capacity - filled)
            UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: rest.prefix(count)))
            rest = rest.dropFirst(count)
            filled += count
            maxFilled = max(maxFilled, filled)
        }
    }

    func finish(to sink: (UnsafeRawBufferPointer) throws -> Void) throws {
        if filled == capacity, format.hasShortLastChunk { try seal(isLast: false, to: sink) }
        try seal(isLast: true, to: sink)
    }

    private func seal(isLast: Bool, to sink: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard let start = buffer.baseAddress else { return }
        if index == 0 { try writtenHeader.bytes.withUnsafeBytes(sink) }
        guard index < geometry.maxChunkCount else {
            throw DecryptionError.invalidParameter(
                name: "plaintext", value: "of more than \(index) chunks", expected: "at most so many")
        }
        let output = start + chunkByteCount
        let nonces = isLast ? writtenHeader.nonces(lastChunk: index) : writtenHeader.nonces(lastChunk: .max)
        let plaintext = UnsafeRawBufferPointer(rebasing: buffer[..<filled])
        _ = try nonces.block(ofChunk: index).withNonce(for: .aesGCM) { (nonce) throws(DecryptionError) in
            try context.process(plaintext, into: output, nonce: nonce)
        }
        try sink(UnsafeRawBufferPointer(start: output, count: filled + ChunkFormat.tagByteCount))
        index += 1
        filled = 0
    }
}

/// The header of an object that is written, with the keys that follow from it.
private struct WrittenHeader {
    let bytes: [UInt8]
    let key: SecretKey
    private let start: ChunkNonces

    init(format: ChunkFormat, key: SecretKey, salt: [UInt8]) throws(DecryptionError) {
        switch format {
        case .cobblestone(let keyByteCount, let context):
            let derived = ChunkKeys.allocate(keyByteCount + 12 + ChunkFormat.commitmentByteCount)
            defer { ChunkKeys.free(derived) }
            salt.withUnsafeBytes {
                ChunkKeys.deriveCobblestone(keyByteCount, context, salt: $0, key: key, into: derived)
            }
            self.bytes = salt + derived[(keyByteCount + 12)...]
            self.key = try SecretKey(derived[..<keyByteCount])
            self.start = ChunkKeys.cobblestoneNonces(derived, keyByteCount)
        case .tinkAESGCMHKDF(let associatedData, _, let derivedKeyByteCount):
            self.bytes = [UInt8(format.headerByteCount)] + salt
            self.key = try ChunkKeys.tinkKey(
                derivedKeyByteCount, associatedData, salt: Array(salt[..<derivedKeyByteCount]), key: key)
            let prefix = salt[derivedKeyByteCount...].reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
            self.start = .numbered(prefix: prefix, lastChunk: .max)
        }
    }

    /// The nonces of an object whose last chunk is known, or `.max` while it is not.
    func nonces(lastChunk: UInt64) -> ChunkNonces {
        guard case .numbered(let prefix, _) = start else { return start }
        return .numbered(prefix: prefix, lastChunk: lastChunk)
    }
}
