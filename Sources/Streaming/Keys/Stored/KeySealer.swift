public import RandomAccess

/// Seals bytes, so that others who have the storage can neither read nor change them.
public protocol KeySealer: Sendable {
    /// Seals bytes.
    ///
    /// - Throws: `DecryptionError`.
    func seal(_ plaintext: UnsafeRawBufferPointer) throws(DecryptionError) -> [UInt8]

    /// Opens sealed bytes.
    ///
    /// - Parameters:
    ///   - sealed: The result of ``seal(_:)``.
    ///   - plaintext: A buffer of `sealed.count` bytes; it holds nothing if this fails.
    /// - Returns: The number of bytes written.
    /// - Throws: `DecryptionError.authenticationFailed` if the bytes were not sealed by this sealer, or were changed.
    func open(_ sealed: [UInt8], into plaintext: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int
}

extension [UInt8] {
    /// Returns bytes from the system's random number generator.
    package static func random(count: Int) -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { _ in .random(in: 0...255, using: &random) }
    }
}

/// AES-GCM of a backend under one key. The layout is mark (8 bytes), nonce (12), ciphertext and tag (16).
///
/// Nonces are random. At 2³² records under one key, the chance that two share a nonce reaches 2⁻³², which is the limit.
/// Source: NIST SP 800-38D, sections 8.2.2 and 8.3.
public struct GCMSealer: KeySealer {
    private static let mark = Array("CWKEY\u{0}\u{0}\u{1}".utf8)
    private static let nonceByteCount = 12
    private static let tagByteCount = 16

    private let backend: any CipherBackend
    private let key: SecretKey

    /// - Parameters:
    ///   - backend: A library that has AES-GCM.
    ///   - key: 16, 24 or 32 bytes. Do not store it beside the bytes that it seals.
    /// - Throws: `DecryptionError.unsupported` if the backend cannot do this, `.invalidKey`.
    public init(backend: any CipherBackend, key: SecretKey) throws(DecryptionError) {
        _ = try backend.makeContext(.aesGCM, .encrypt, key: key)
        self.backend = backend
        self.key = key
    }

    /// Seals bytes under a fresh nonce; see ``KeySealer/seal(_:)``.
    public func seal(_ plaintext: UnsafeRawBufferPointer) throws(DecryptionError) -> [UInt8] {
        let context = try backend.makeContext(.aesGCM, .encrypt, key: key)
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.nonceByteCount + plaintext.count + Self.tagByteCount, alignment: 16)
        defer { buffer.deallocate() }
        buffer.copyBytes(from: [UInt8].random(count: Self.nonceByteCount))
        let nonce = UnsafeRawBufferPointer(rebasing: buffer[..<Self.nonceByteCount])
        guard let start = buffer.baseAddress,
            try context.process(plaintext, into: start + Self.nonceByteCount, nonce: nonce)
        else {
            throw .backend(name: backend.name, operation: "sealing a key", reason: "it was not sealed")
        }
        return Self.mark + Array(buffer)
    }

    /// Opens sealed bytes; see ``KeySealer/open(_:into:)``.
    public func open(
        _ sealed: [UInt8], into plaintext: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) -> Int {
        let count = sealed.count - Self.mark.count - Self.nonceByteCount - Self.tagByteCount
        guard count >= 0, sealed.starts(with: Self.mark), plaintext.count >= count,
            let output = plaintext.baseAddress
        else { throw .authenticationFailed(chunk: 0) }
        let context = try backend.makeContext(.aesGCM, .decrypt, key: key)
        let input = UnsafeMutableRawBufferPointer.allocate(byteCount: sealed.count - Self.mark.count, alignment: 16)
        defer { input.deallocate() }
        input.copyBytes(from: sealed[Self.mark.count...])
        try context.open(
            UnsafeRawBufferPointer(rebasing: input[Self.nonceByteCount...]), chunk: 0, into: output,
            nonce: UnsafeRawBufferPointer(rebasing: input[..<Self.nonceByteCount]))
        return count
    }
}
