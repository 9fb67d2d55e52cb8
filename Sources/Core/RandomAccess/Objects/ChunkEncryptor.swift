/// Encrypts objects whose chunks are encrypted as a whole; see ``ObjectEncryptor``.
final class ChunkEncryptor: ObjectWriter {
    private let object: NewObject
    private let sealer: ChunkSealer
    /// Space for pending plaintext, followed by space for a chunk and what the cipher writes behind it.
    /// It is allocated with the first bytes: an object whose chunks are encrypted apart needs none.
    private var buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private let chunkByteCount: Int
    private var filled = 0
    private var maxFilled = 0
    private var index: UInt64 = 0
    private var offset: UInt64 = 0

    init(
        _ object: NewObject, backend: any CipherBackend, random: @escaping (UnsafeMutableRawBufferPointer) -> Void
    ) throws(DecryptionError) {
        self.object = object
        sealer = try ChunkSealer(object, backend: backend, random: random)
        let geometry = object.geometry
        guard geometry.chunkByteCount <= ChunkSealer.maxByteCount,
            let chunkByteCount = Int(exactly: geometry.chunkByteCount)
        else {
            let cipher = object.rules.cipher.rawValue
            throw .unsupported("a new object in one piece of \(cipher), which has to be held whole")
        }
        self.chunkByteCount = chunkByteCount
    }

    private func requireBuffer() throws(DecryptionError) {
        guard buffer.baseAddress == nil else { return }
        buffer = try .tryAllocate(
            byteCount: chunkByteCount + Int(object.geometry.maxStoredChunkByteCount) + sealer.slackByteCount)
    }

    deinit {
        eraseBytes(UnsafeMutableRawBufferPointer(rebasing: buffer[..<maxFilled]))
        buffer.deallocate()
    }

    /// The plaintext length of the current chunk when it is full.
    private var capacity: Int {
        index == 0 ? chunkByteCount - Int(object.geometry.missingByteCount) : chunkByteCount
    }

    func append(_ plaintext: UnsafeRawBufferPointer, to sink: (UnsafeRawBufferPointer) throws -> Void) throws {
        try requireBuffer()
        var rest = plaintext[...]
        while !rest.isEmpty {
            // A full chunk may be the last, if the format allows that: it waits for more plaintext.
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
        try requireBuffer()
        let end = object.geometry.end
        guard end.isPadded || UInt64(filled) % end.unitByteCount == 0 else {
            throw DecryptionError.unalignedPlaintext(byteCount: offset + UInt64(filled), unit: end.unitByteCount)
        }
        if filled == capacity, end.isNeverFull { try seal(isLast: false, to: sink) }
        if filled > 0 || index > 0 || end.emptyHasChunk || end.isNeverFull {
            try seal(isLast: true, to: sink)
            return try object.writeTrailer(chunkCount: index, plaintextByteCount: offset, to: sink)
        }
        if end.emptyHasNoHeader { return }
        guard object.lookedAt == nil else {
            throw DecryptionError.unsupported(
                "a new empty object of \(object.rules.formatName), whose header is a look at the first chunk")
        }
        if !object.header.isEmpty { try object.header.withUnsafeBytes(sink) }
        try object.writeTrailer(chunkCount: 0, plaintextByteCount: 0, to: sink)
    }

    private func seal(isLast: Bool, to sink: (UnsafeRawBufferPointer) throws -> Void) throws {
        if index == 0, !object.header.isEmpty { try object.header.withUnsafeBytes(sink) }
        let stored = UnsafeMutableRawBufferPointer(rebasing: buffer[chunkByteCount...])
        let count = try sealer.seal(
            UnsafeRawBufferPointer(rebasing: buffer[..<filled]), index: index, offset: offset, isLast: isLast,
            into: stored)
        guard count > 0 else { return }
        try sink(UnsafeRawBufferPointer(rebasing: stored[..<count]))
        index += 1
        offset += UInt64(filled)
        filled = 0
    }
}
