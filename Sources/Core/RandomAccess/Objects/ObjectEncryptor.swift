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
