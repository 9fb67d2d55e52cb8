/// Makes the ciphertext of an object from plaintext that arrives piece by piece.
///
/// Holds one window of plaintext at most, or one chunk where chunks are authenticated, whatever the object's length.
public final class ObjectEncryptor {
    private let writer: any ObjectWriter

    /// Creates an encryptor for one object.
    ///
    /// - Parameters:
    ///   - strategy: How the ciphertext is laid out.
    ///   - backend: The library that encrypts.
    ///   - key: The key.
    ///   - windowByteCount: How much is encrypted at once; rounded down to whole blocks, one at least. Authenticated
    ///     chunks are encrypted one by one.
    /// - Throws: `DecryptionError.invalidParameter`, `.unsupported`, `.invalidKeyMaterial`, `.backend`.
    public convenience init(
        strategy: Strategy, backend: any CipherBackend, key: SecretKey, windowByteCount: Int = 1 << 18
    ) throws(DecryptionError) {
        var generator = SystemRandomNumberGenerator()
        try self.init(
            strategy: strategy, backend: backend, key: key, windowByteCount: windowByteCount, salts: &generator)
    }

    /// Creates an encryptor whose salts, where the format has such, come from a generator of the caller's.
    ///
    /// An object must never have the key and the salt of another one: this is for objects that are made again as they
    /// were, for tests and measurements.
    ///
    /// - Throws: As the other initialiser.
    package init(
        strategy: Strategy, backend: any CipherBackend, key: SecretKey, windowByteCount: Int = 1 << 18,
        salts: inout some RandomNumberGenerator
    ) throws(DecryptionError) {
        try strategy.validate()
        if let format = strategy.chunkFormat {
            let salt = (0..<format.randomByteCount).map { _ in UInt8.random(in: 0...255, using: &salts) }
            self.writer = try ChunkEncryptor(format: format, backend: backend, key: key, salt: salt)
        } else {
            self.writer = try ChainEncryptor(
                strategy: strategy, backend: backend, key: key, windowByteCount: windowByteCount)
        }
    }

    /// Encrypts the next bytes of the plaintext.
    ///
    /// - Throws: `DecryptionError.backend`, or what `sink` throws.
    public func append(
        _ plaintext: UnsafeRawBufferPointer, to sink: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        try writer.append(plaintext, to: sink)
    }

    /// Encrypts what is left, with its padding or as the last chunk.
    ///
    /// - Throws: `DecryptionError.unalignedPlaintext` if there is no padding and the plaintext does not end with a
    ///   block; `.backend`, or what `sink` throws.
    public func finish(to sink: (UnsafeRawBufferPointer) throws -> Void) throws {
        try writer.finish(to: sink)
    }
}

/// What encrypts the objects of some strategies.
protocol ObjectWriter: AnyObject {
    func append(_ plaintext: UnsafeRawBufferPointer, to sink: (UnsafeRawBufferPointer) throws -> Void) throws
    func finish(to sink: (UnsafeRawBufferPointer) throws -> Void) throws
}

/// Encrypts objects of CBC and CTR; see ``ObjectEncryptor``.
final class ChainEncryptor: ObjectWriter {
    private let strategy: Strategy
    private let context: any CipherContext
    /// Plaintext that is waiting, from the buffer's start; has space for one block of padding behind a full window.
    private let buffer: UnsafeMutableRawBufferPointer
    private let windowByteCount: Int
    private var filled = 0
    private var maxFilled = 0
    private var chunkIndex: UInt64 = 0
    private var chunkFilled: UInt64 = 0
    private var total: UInt64 = 0
    private var iv: Block

    init(
        strategy: Strategy, backend: any CipherBackend, key: SecretKey, windowByteCount: Int
    ) throws(DecryptionError) {
        self.strategy = strategy
        self.context = try backend.makeContext(strategy.cipher, .encrypt, key: key)
        self.windowByteCount = max(16, windowByteCount / 16 * 16)
        self.buffer = try .tryAllocate(byteCount: self.windowByteCount + 16)
        self.iv = strategy.iv(ofChunk: 0)
    }

    deinit {
        // What was never used holds no plaintext, and erasing it would only make it resident.
        eraseBytes(UnsafeMutableRawBufferPointer(rebasing: buffer[..<maxFilled]))
        buffer.deallocate()
    }

    func append(
        _ plaintext: UnsafeRawBufferPointer, to sink: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var rest = plaintext[...]
        while !rest.isEmpty {
            let chunkRest = (strategy.chunkByteCount ?? .max) - chunkFilled
            let count = Int(min(UInt64(min(rest.count, windowByteCount - filled)), chunkRest))
            UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: rest.prefix(count)))
            rest = rest.dropFirst(count)
            filled += count
            maxFilled = max(maxFilled, filled)
            chunkFilled += UInt64(count)
            total += UInt64(count)
            if chunkFilled == strategy.chunkByteCount {
                try endChunk(to: sink)
            } else if filled == windowByteCount {
                try flush(filled, to: sink)
            }
        }
    }

    func finish(to sink: (UnsafeRawBufferPointer) throws -> Void) throws {
        if strategy.padding == Padding.none, total % 16 != 0 {
            throw DecryptionError.unalignedPlaintext(byteCount: total)
        }
        // An empty plaintext is one chunk of padding; otherwise no chunk is empty.
        if chunkFilled > 0 || total == 0 { try endChunk(to: sink) }
    }

    private func endChunk(to sink: (UnsafeRawBufferPointer) throws -> Void) throws {
        if strategy.padding == .pkcs7 {
            let count = PKCS7.paddingByteCount(afterPlaintext: chunkFilled)
            for index in filled..<filled + count { buffer[index] = UInt8(count) }
            filled += count
            maxFilled = max(maxFilled, filled)
        }
        try flush(filled, to: sink)
        chunkIndex += 1
        chunkFilled = 0
        iv = strategy.iv(ofChunk: chunkIndex)
    }

    private func flush(_ count: Int, to sink: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard count > 0 else { return }
        let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
        try context.process(inPlace: bytes, iv: iv)
        iv = strategy.cipher.iv(
            after: iv, blockCount: count / 16,
            lastCiphertext: Block(loadingFrom: UnsafeRawBufferPointer(bytes), at: count - 16))
        try sink(UnsafeRawBufferPointer(bytes))
        filled = 0
    }
}
