/// A cipher's key, or key material of any length but 0; it erases itself and never prints.
///
/// If the system allows it, the bytes live in memory that is neither swapped nor dumped (`SecretMemory`). They are
/// overwritten with `explicit_bzero` before the memory is reused. Descriptions, reflection and interpolation show the
/// length only.
public final class SecretKey: @unchecked Sendable {
    // Written in `init` only, so that threads can share it safely.
    private let storage: UnsafeMutableRawBufferPointer

    /// Copies an AES key.
    ///
    /// - Parameter bytes: 16, 24 or 32 bytes, such as an array or a buffer. The caller has to erase that copy.
    /// - Throws: `DecryptionError.invalidKey` for any other length; `.io` if memory cannot be allocated.
    /// - Source: FIPS 197, section 5 (key lengths of 128, 192 and 256 bits).
    public init(_ bytes: some Collection<UInt8>) throws(DecryptionError) {
        guard [16, 24, 32].contains(bytes.count) else { throw .invalidKey(byteCount: bytes.count) }
        self.storage = try SecretMemory.allocate(byteCount: bytes.count)
        storage.copyBytes(from: bytes)
    }

    /// Copies a key of any cipher, or key material, of any length but 0. Ciphers and formats check the length later.
    ///
    /// - Throws: `DecryptionError.invalidKey` if it is empty; `.io` if memory cannot be allocated.
    public init(material bytes: some Collection<UInt8>) throws(DecryptionError) {
        guard !bytes.isEmpty else { throw .invalidKey(byteCount: 0) }
        self.storage = try SecretMemory.allocate(byteCount: bytes.count)
        storage.copyBytes(from: bytes)
    }

    /// Fills a key of any length but 0 in its own memory, so that no copy stays elsewhere.
    ///
    /// - Parameters:
    ///   - byteCount: The length.
    ///   - fill: Writes the key over zeros.
    /// - Throws: `DecryptionError.invalidKey` if the length is 0; `.io` if memory cannot be allocated; the errors of
    ///   `fill`.
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

    /// The key's length in bytes: 16, 24 or 32 for a single AES key.
    public var byteCount: Int { storage.count }

    /// Calls `body` with the key's bytes, which it must not keep.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(storage))
    }
}

extension SecretKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The length, without any byte of the key.
    public var description: String { "SecretKey(\(byteCount) bytes)" }

    /// The length, without any byte of the key.
    public var debugDescription: String { description }

    /// A mirror without children, so that `dump` and the interpolation of containers do not show the key.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
