/// Encrypts an object from plaintext that arrives piece by piece.
///
/// It holds at most one window of plaintext, or one chunk if chunks are authenticated, however long the object is.
public final class ObjectEncryptor {
    /// The positions of the object's chunks, which may depend on the key's length.
    package let geometry: Geometry
    private let writer: any ObjectWriter
    private let object: NewObject
    private let makeChunkSealer: () throws(DecryptionError) -> ChunkSealer

    /// An encryptor for one object.
    ///
    /// - Parameters:
    ///   - strategy: The format and its parameters.
    ///   - backend: The library that encrypts.
    ///   - key: The key.
    ///   - windowByteCount: The number of bytes to encrypt at once, rounded down to whole blocks, at least one.
    ///     Authenticated chunks are encrypted one by one.
    /// - Throws: `DecryptionError.invalidParameter`, `.unsupported`, `.invalidKeyMaterial`, `.backend`.
    public convenience init(
        strategy: Strategy, backend: any CipherBackend, key: SecretKey, windowByteCount: Int = 1 << 18
    ) throws(DecryptionError) {
        try self.init(strategy: strategy, backend: backend, key: key, windowByteCount: windowByteCount) { bytes in
            // A number is a call of the system, so each fills 8 bytes.
            var generator = SystemRandomNumberGenerator()
            for start in stride(from: 0, to: bytes.count, by: 8) {
                withUnsafeBytes(of: generator.next() as UInt64) { number in
                    UnsafeMutableRawBufferPointer(rebasing: bytes[start...])
                        .copyMemory(from: UnsafeRawBufferPointer(rebasing: number.prefix(bytes.count - start)))
                }
            }
        }
    }

    /// An encryptor for one object with salts and nonces from the caller, if the format draws them at random.
    ///
    /// Two objects must never share key and salt. This initialiser is for tests and measurements that reproduce an
    /// object.
    ///
    /// - Parameters:
    ///   - strategy: The format and its parameters.
    ///   - backend: The library that encrypts.
    ///   - key: The key.
    ///   - windowByteCount: The number of bytes to encrypt at once.
    ///   - random: Fills a buffer.
    /// - Throws: The errors of the other initialiser.
    package init(
        strategy: Strategy, backend: any CipherBackend, key: SecretKey, windowByteCount: Int = 1 << 18,
        random: @escaping (UnsafeMutableRawBufferPointer) -> Void
    ) throws(DecryptionError) {
        let object = try NewObject(strategy, backend: backend, key: key) { count in
            var bytes = [UInt8](repeating: 0, count: count)
            bytes.withUnsafeMutableBytes(random)
            return bytes
        }
        (geometry, self.object) = (object.geometry, object)
        makeChunkSealer = { () throws(DecryptionError) in try ChunkSealer(object, backend: backend, random: random) }
        if object.rules.isStreaming {
            self.writer = try ChainEncryptor(object, backend: backend, windowByteCount: windowByteCount)
        } else {
            // Random parts of chunks are drawn while the chunks are written.
            self.writer = try ChunkEncryptor(object, backend: backend, random: random)
        }
    }

    /// The bytes before the first chunk.
    package var header: [UInt8] { object.header }

    /// True if chunks can be encrypted apart from one another, as ``makeSealer()`` does.
    package var hasSeparateChunks: Bool {
        !object.rules.isStreaming && object.lookedAt == nil && geometry.chunkByteCount <= ChunkSealer.maxByteCount
            && UInt64(object.header.count) == geometry.headerByteCount
    }

    /// Returns a writer of single chunks for one thread, for an object with separate chunks.
    ///
    /// - Throws: `DecryptionError.backend`, `.unsupported`, `.io` without memory.
    package func makeSealer() throws(DecryptionError) -> ChunkSealer { try makeChunkSealer() }

    /// Makes the bytes behind the chunks.
    ///
    /// - Throws: `DecryptionError.backend`.
    package func trailer(plaintextByteCount: UInt64) throws(DecryptionError) -> [UInt8] {
        try object.trailer(
            chunkCount: geometry.chunkCount(ofPlaintext: plaintextByteCount), plaintextByteCount: plaintextByteCount)
    }

    /// Encrypts the next bytes of the plaintext.
    ///
    /// - Throws: `DecryptionError.backend`, or the errors of `sink`.
    public func append(
        _ plaintext: UnsafeRawBufferPointer, to sink: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        try writer.append(plaintext, to: sink)
    }

    /// Encrypts the remaining plaintext, with its padding or as the last chunk.
    ///
    /// - Throws: `DecryptionError.unalignedPlaintext` if there is no padding and the plaintext does not end with a
    ///   block; `.backend`, or the errors of `sink`.
    public func finish(to sink: (UnsafeRawBufferPointer) throws -> Void) throws {
        try writer.finish(to: sink)
    }
}

/// A new object: its header, and the rules of its chunks.
struct NewObject {
    let header: [UInt8]
    /// The header, if it is part of the first chunk in this format.
    let lookedAt: ObjectHeader?
    let geometry: Geometry
    private let shape: ChunkShape
    let rules: ChunkRules
    let key: ObjectKey
    /// The known names of the object.
    private let names: [String: Value]
    private let format: Format
    private let backend: any CipherBackend
    private let random: (Int) -> [UInt8]

    /// Draws the random values of the format, and derives the others.
    ///
    /// - Throws: `DecryptionError.unsupported` for a format whose description does not determine how to write it.
    init(
        _ strategy: Strategy, backend: any CipherBackend, key: SecretKey, random: @escaping (Int) -> [UInt8]
    ) throws(DecryptionError) {
        let format = strategy.format
        guard strategy.hasWholeChunks else {
            throw .unsupported("writing \(format.name), whose table in front tells the number of chunks")
        }
        // An IV in front of the object is random like the random values of the format.
        let hasIVInFront = strategy.outer.hasIVInFront
        let strategy =
            hasIVInFront
            ? strategy.replacing(Format.Input.ivName, with: .bytes(ByteString(random(Block.byteCount)))) : strategy
        let formatShape = try strategy.shape()
        if let known = formatShape.known { try backend.require(known) }
        try strategy.check(key)
        guard strategy.outer.skipByteCount == 0, strategy.outer.trimByteCount == 0 else {
            throw .unsupported("a new object with other bytes around it")
        }
        let unknown = format.rules.chunkNames.intersection(["count", "size"])
        guard unknown.isEmpty else {
            throw .unsupported(
                "a new object of \(format.name): a writer does not know \(unknown.sorted().joined(separator: ", "))")
        }
        let header = try ObjectHeader(writing: strategy, key: key, backend: backend, random: random)
        let shape: ChunkShape
        do throws(DecryptionError) {
            shape = try formatShape.shape(of: header)
        } catch .invalidHeader(let expected) {
            throw .unsupported(
                "a new object of \(format.name), whose header is drawn at random and is not \(expected)")
        }
        try backend.require(shape)
        let geometry = shape.geometry
        guard geometry.trailerByteCount == 0 || !format.trailerFields.isEmpty,
            geometry.headerByteCount >= UInt64(header.byteCount) || geometry.headerByteCount == 0
        else {
            throw .unsupported("a new object of \(format.name): the description does not say what all of its parts are")
        }
        // A header that is part of the first chunk is written with that chunk.
        let gap = geometry.headerByteCount == 0 ? 0 : Int(geometry.headerByteCount) - header.byteCount
        guard gap <= 1 << 24 else {
            throw .unsupported("a new object of \(format.name) with \(gap) bytes before its first chunk")
        }
        let isLookAhead = geometry.headerByteCount == 0
        let isEncrypted = format.header.contains { $0.sealed != nil }
        guard !isLookAhead || header.byteCount == 0 || !shape.isStreaming && !isEncrypted else {
            throw .unsupported("a new object of \(format.name), whose header is a look at ciphertext")
        }
        self.header = (hasIVInFront ? strategy.iv.bytes : []) + (isLookAhead ? [] : header.bytes + random(gap))
        lookedAt = isLookAhead && header.byteCount > 0 ? header : nil
        (self.key, rules) = (
            try ObjectKey(format, header.names, parts: shape.partRanges), try ChunkRules(format, shape, header.names)
        )
        (self.geometry, self.shape) = (geometry, shape)
        (names, self.format, self.backend, self.random) = (header.names, format, backend, random)
        guard rules.areWritable else {
            throw .unsupported("a new object of \(format.name): parts of its chunks depend on one another")
        }
        if let field = try strategy.facts().fieldWithUsedNonce {
            throw .unsupported(
                "a new object of \(format.name), whose \"\(field)\" has the key and nonce of something else in it")
        }
        if let (first, second) = try strategy.facts().chunksWithOneNonce {
            throw .unsupported(
                "a new object of \(format.name), whose chunks \(first) and \(second) have one key and nonce: expected "
                    + "nonces that differ, or \"maxChunks\"")
        }
    }
}

extension NewObject {
    /// Makes the trailer.
    func trailer(chunkCount: UInt64, plaintextByteCount: UInt64) throws(DecryptionError) -> [UInt8] {
        guard !format.trailerFields.isEmpty else { return [] }
        return try ObjectTrailer(format, names, chunkCount: chunkCount, plaintextByteCount: plaintextByteCount)
            .bytes(backend: backend, random: random)
    }

    /// Makes and writes the trailer.
    func writeTrailer(
        chunkCount: UInt64, plaintextByteCount: UInt64, to sink: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let trailer = try trailer(chunkCount: chunkCount, plaintextByteCount: plaintextByteCount)
        if !trailer.isEmpty { try trailer.withUnsafeBytes(sink) }
    }

    /// Refuses a first chunk with the given plaintext length if a reader would see a header in it that changes the
    /// encryption of chunks.
    func checkFirst(_ chunk: UnsafeRawBufferPointer, plaintextByteCount: Int) throws(DecryptionError) {
        guard let lookedAt else { return }
        let (format, names) = (lookedAt.format, try lookedAt.asRead(from: chunk).names)
        let (written, read) = (
            try ChunkBindings(format, shape, lookedAt.names), try ChunkBindings(format, shape, names)
        )
        guard written.isEqual(to: read, byteCount: UInt64(plaintextByteCount)) else {
            throw .unsupported("a new object of \(format.name), whose header is not what its first chunk begins with")
        }
    }

    /// Refuses a chunk beyond the format's max number.
    func checkChunkNumber(_ index: UInt64) throws(DecryptionError) {
        guard index < geometry.maxChunkCount else {
            throw .invalidParameter(
                name: "plaintext", value: "of more than \(index) chunks", expected: "at most so many")
        }
    }
}

/// An encryptor for the objects of some strategies.
protocol ObjectWriter: AnyObject {
    func append(_ plaintext: UnsafeRawBufferPointer, to sink: (UnsafeRawBufferPointer) throws -> Void) throws
    func finish(to sink: (UnsafeRawBufferPointer) throws -> Void) throws
}

/// Encrypts objects of CBC and CTR; see ``ObjectEncryptor``.
final class ChainEncryptor: ObjectWriter {
    private let object: NewObject
    private let context: any CipherContext
    /// Pending plaintext, from the buffer's start; has space for a block of padding behind a full window.
    private let buffer: UnsafeMutableRawBufferPointer
    private let windowByteCount: Int
    private var filled = 0
    private var maxFilled = 0
    private var chunkIndex: UInt64 = 0
    private var chunkFilled: UInt64 = 0
    private var total: UInt64 = 0
    private var iv: Block
    private var isHeaderWritten = false

    init(_ object: NewObject, backend: any CipherBackend, windowByteCount: Int) throws(DecryptionError) {
        self.object = object
        guard case .fixed(let key) = object.key else {
            throw .unsupported("\(object.rules.cipher.rawValue) with a key for each chunk")
        }
        guard !object.rules.nonce.differsAtEnd else {
            throw .unsupported("a new object of \(object.rules.cipher.rawValue) with another nonce of the last chunk")
        }
        try object.rules.checkBlock(ofChunk: 0, at: 0, isLast: false)
        self.context = try backend.makeContext(object.rules.cipher, .encrypt, key: key)
        self.windowByteCount = max(16, windowByteCount / 16 * 16)
        self.buffer = try .tryAllocate(byteCount: self.windowByteCount + 16)
        self.iv = object.rules.block(ofChunk: 0, at: 0, isLast: false)
    }

    deinit {
        // Unused memory holds no plaintext, and erasing it would only make it resident.
        eraseBytes(UnsafeMutableRawBufferPointer(rebasing: buffer[..<maxFilled]))
        buffer.deallocate()
    }

    func append(
        _ plaintext: UnsafeRawBufferPointer, to sink: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var rest = plaintext[...]
        while !rest.isEmpty {
            let chunkRest = capacity - chunkFilled
            let count = Int(min(UInt64(min(rest.count, windowByteCount - filled)), chunkRest))
            UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: rest.prefix(count)))
            rest = rest.dropFirst(count)
            filled += count
            maxFilled = max(maxFilled, filled)
            if chunkFilled == 0, total > 0 {
                try object.checkChunkNumber(chunkIndex)
                try object.rules.checkBlock(ofChunk: chunkIndex, at: total, isLast: false)
            }
            chunkFilled += UInt64(count)
            total += UInt64(count)
            if chunkFilled == capacity {
                try endChunk(to: sink)
            } else if filled == windowByteCount {
                try flush(filled, to: sink)
            }
        }
    }

    func finish(to sink: (UnsafeRawBufferPointer) throws -> Void) throws {
        if !object.geometry.end.isPadded, total % object.geometry.end.unitByteCount != 0 {
            throw DecryptionError.unalignedPlaintext(byteCount: total, unit: object.geometry.end.unitByteCount)
        }
        let end = object.geometry.end
        if total == 0, end.emptyHasNoHeader, !end.emptyHasChunk { return }
        try writeHeader(to: sink)
        // An empty plaintext is one chunk of padding, if the format requires it; otherwise no chunk is empty.
        if chunkFilled > 0 || total == 0 && end.emptyHasChunk { try endChunk(to: sink) }
        // Without padding, an empty plaintext has no chunk.
        let chunkCount = total == 0 && !end.isPadded ? 0 : chunkIndex
        try object.writeTrailer(chunkCount: chunkCount, plaintextByteCount: total, to: sink)
    }

    /// The plaintext length of the current chunk when it is full.
    private var capacity: UInt64 {
        object.geometry.chunkByteCount - (chunkIndex == 0 ? object.geometry.missingByteCount : 0)
    }

    private func endChunk(to sink: (UnsafeRawBufferPointer) throws -> Void) throws {
        if object.geometry.end.isPadded {
            let count = PKCS7.paddingByteCount(afterPlaintext: chunkFilled)
            for index in filled..<filled + count { buffer[index] = UInt8(count) }
            filled += count
            maxFilled = max(maxFilled, filled)
        }
        try flush(filled, to: sink)
        chunkIndex += 1
        chunkFilled = 0
        iv = object.rules.block(ofChunk: chunkIndex, at: total, isLast: false)
    }

    private func writeHeader(to sink: (UnsafeRawBufferPointer) throws -> Void) throws {
        if !isHeaderWritten, !object.header.isEmpty { try object.header.withUnsafeBytes(sink) }
        isHeaderWritten = true
    }

    private func flush(_ count: Int, to sink: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard count > 0 else { return }
        try writeHeader(to: sink)
        let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
        try context.process(inPlace: bytes, iv: iv)
        iv = object.rules.cipher.iv(
            after: iv, blockCount: count / 16,
            lastCiphertext: Block(loadingFrom: UnsafeRawBufferPointer(bytes), at: count - 16))
        try sink(UnsafeRawBufferPointer(bytes))
        filled = 0
    }
}
