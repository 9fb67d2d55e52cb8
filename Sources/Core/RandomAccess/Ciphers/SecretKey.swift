/// The key of a cipher, or what keys are derived from, of any length but 0; it erases itself and never prints.
///
/// The bytes live in memory that is neither swapped nor dumped where the system allows it (`SecretMemory`), and are
/// overwritten with `explicit_bzero` before that is used again; descriptions, reflection and interpolation show the
/// length only.
public final class SecretKey: @unchecked Sendable {
    // Written in `init` only, so that sharing between threads is safe.
    private let storage: UnsafeMutableRawBufferPointer

    /// Copies a key of AES.
    ///
    /// - Parameter bytes: 16, 24 or 32 bytes, such as an array or a buffer. That copy stays the caller's to erase.
    /// - Throws: `DecryptionError.invalidKey` for any other length; `.io` if there is no memory.
    /// - Source: FIPS 197, section 5 (key lengths of 128, 192 and 256 bits).
    public init(_ bytes: some Collection<UInt8>) throws(DecryptionError) {
        guard [16, 24, 32].contains(bytes.count) else { throw .invalidKey(byteCount: bytes.count) }
        self.storage = try SecretMemory.allocate(byteCount: bytes.count)
        storage.copyBytes(from: bytes)
    }

    /// Copies a key of any cipher, or what keys are derived from: any length but 0. Ciphers and formats say which
    /// lengths they take.
    ///
    /// - Throws: `DecryptionError.invalidKey` if there is nothing; `.io` if there is no memory.
    public init(material bytes: some Collection<UInt8>) throws(DecryptionError) {
        guard !bytes.isEmpty else { throw .invalidKey(byteCount: 0) }
        self.storage = try SecretMemory.allocate(byteCount: bytes.count)
        storage.copyBytes(from: bytes)
    }

    /// Makes a key of any length but 0 in its own memory, so that no copy is left elsewhere.
    ///
    /// - Parameters:
    ///   - byteCount: The length.
    ///   - fill: Writes the key over zeros.
    /// - Throws: `DecryptionError.invalidKey` if there is nothing; `.io` if there is no memory; what `fill` throws.
    package init(
        byteCount: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Void
    ) throws(DecryptionError) {
        guard byteCount > 0 else { throw .invalidKey(byteCount: 0) }
        self.storage = try SecretMemory.allocate(byteCount: byteCount)
        try fill(storage)
    }

    deinit {
        SecretMemory.release(storage)
        eraseStack()
    }

    /// The key's length in bytes: 16, 24 or 32 of a single key of AES.
    public var byteCount: Int { storage.count }

    /// Calls `body` with the key's bytes, which it must not keep.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(storage))
    }
}

extension SecretKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The length, and nothing of the key.
    public var description: String { "SecretKey(\(byteCount) bytes)" }

    /// The length, and nothing of the key.
    public var debugDescription: String { description }

    /// A mirror without children, so that `dump` and string interpolation of containers show nothing of the key.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
