import Glibc

/// An AES key, or what one is derived from, that erases itself and never prints.
///
/// The bytes live in one allocation that is overwritten with `explicit_bzero` before it is freed; descriptions,
/// reflection and interpolation show the length only.
public final class SecretKey: @unchecked Sendable {
    // Written in `init` only, so that sharing between threads is safe.
    private let storage: UnsafeMutableRawBufferPointer

    /// Copies a key.
    ///
    /// - Parameter bytes: 16, 24 or 32 bytes, such as an array or a buffer. That copy stays the caller's to erase.
    /// - Throws: `DecryptionError.invalidKey` for any other length.
    /// - Source: FIPS 197, section 5 (key lengths of 128, 192 and 256 bits).
    public init(_ bytes: some Collection<UInt8>) throws(DecryptionError) {
        guard [16, 24, 32].contains(bytes.count) else { throw .invalidKey(byteCount: bytes.count) }
        self.storage = .allocate(byteCount: bytes.count, alignment: 16)
        storage.copyBytes(from: bytes)
    }

    /// Copies what keys are derived from, of any length but 0: a format that takes less says so itself.
    ///
    /// - Throws: `DecryptionError.invalidKey` if there is nothing.
    public init(material bytes: some Collection<UInt8>) throws(DecryptionError) {
        guard !bytes.isEmpty else { throw .invalidKey(byteCount: 0) }
        self.storage = .allocate(byteCount: bytes.count, alignment: 16)
        storage.copyBytes(from: bytes)
    }

    deinit {
        eraseBytes(storage)
        storage.deallocate()
    }

    /// The key's length in bytes: 16, 24 or 32 for an AES key.
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

/// Overwrites secret bytes in a way that the optimiser keeps.
///
/// The corresponding C function is `explicit_bzero`.
public func eraseBytes(_ bytes: UnsafeMutableRawBufferPointer) {
    guard let start = bytes.baseAddress, bytes.count > 0 else { return }
    explicit_bzero(start, bytes.count)
}

/// Whether two stretches of equal length hold the same bytes, in a time that does not depend on what they hold: for tags
/// and commitments.
///
/// - Precondition: The lengths are equal.
public func isEqualInConstantTime(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    precondition(left.count == right.count, "\(left.count) and \(right.count) bytes")
    var difference: UInt8 = 0
    for index in 0..<left.count { difference |= left[index] ^ right[index] }
    return difference == 0
}
