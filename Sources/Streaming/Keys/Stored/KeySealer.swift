public import RandomAccess

/// Makes bytes unreadable and unchangeable for others who have the storage.
public protocol KeySealer: Sendable {
    /// Seals bytes.
    ///
    /// - Throws: `DecryptionError`.
    func seal(_ plaintext: UnsafeRawBufferPointer) throws(DecryptionError) -> [UInt8]

    /// Opens what was sealed.
    ///
    /// - Parameters:
    ///   - sealed: What ``seal(_:)`` returned.
    ///   - plaintext: Space for `sealed.count` bytes, which holds nothing if this fails.
    /// - Returns: The number of bytes written.
    /// - Throws: `DecryptionError.authenticationFailed` if it was not sealed so, or changed.
    func open(_ sealed: [UInt8], into plaintext: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int
}

extension [UInt8] {
    /// Bytes of the system's random number generator.
    package static func random(count: Int) -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { _ in .random(in: 0...255, using: &random) }
    }
}

/// AES-GCM of a backend, under one key: mark (8 bytes), nonce (12), ciphertext and tag (16).
///
/// Nonces are random. Source: NIST SP 800-38D, section 8.2.2; at 2³² records under one key the chance that two share a
/// nonce reaches 2⁻³², its section 8.3's limit.
public struct GCMSealer: KeySealer {
    private static let mark = Array("CWKEY\u{0}\u{0}\u{1}".utf8)
    private static let nonceByteCount = 12
    private static let tagByteCount = 16

    private let backend: any CipherBackend
    private let key: SecretKey

    /// Creates a sealer.
    ///
    /// - Parameters:
    ///   - backend: A library that has AES-GCM.
    ///   - key: 16, 24 or 32 bytes that never lie beside what they seal.
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

    /// Opens what was sealed; see ``KeySealer/open(_:into:)``.
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
