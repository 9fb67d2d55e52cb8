import CSodium
import OpenSSLBackend
import RandomAccess

extension SecretKey {
    /// Unwraps a key that is encrypted with this one.
    ///
    /// - Parameters:
    ///   - wrapped: The encrypted key, followed by the cipher's tag.
    ///   - backend: The library.
    ///   - cipher: The cipher, which is authenticated.
    ///   - nonce: The nonce.
    ///   - associatedData: The data authenticated together with the key.
    /// - Returns: The key; `nil` if this key is the wrong one, or the wrapped key was changed.
    /// - Throws: `DecryptionError.io` if memory cannot be allocated, `.backend`.
    func unwrapped(
        _ wrapped: [UInt8], by backend: OpenSSL, _ cipher: Cipher, nonce: [UInt8], associatedData: [UInt8] = []
    ) throws(DecryptionError) -> SecretKey? {
        let context = try backend.makeContext(cipher, .decrypt, key: self)
        let (wrapped, nonce, associatedData) = (ByteString(wrapped), ByteString(nonce), ByteString(associatedData))
        var isAuthentic = false
        let key = try SecretKey(byteCount: wrapped.count - cipher.tagByteCount) { (output) throws(DecryptionError) in
            guard let start = output.baseAddress else { return }
            isAuthentic = try wrapped.withUnsafeBytes { (wrapped) throws(DecryptionError) in
                try nonce.withUnsafeBytes { (nonce) throws(DecryptionError) in
                    try associatedData.withUnsafeBytes { (associatedData) throws(DecryptionError) in
                        try context.process(wrapped, into: start, nonce: nonce, associatedData: associatedData)
                    }
                }
            }
        }
        return isAuthentic ? key : nil
    }
}

/// X25519 from libsodium, whose functions need no initialisation. Source: RFC 7748, section 6.1.
enum X25519 {
    static let byteCount = 32

    /// Returns the public key of a private one. The corresponding C function is `crypto_scalarmult_base`.
    static func publicKey(of key: SecretKey) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: byteCount)
        key.withUnsafeBytes { key in _ = key.base(byteCount).map { crypto_scalarmult_base(&bytes, $0) } }
        return bytes
    }

    /// Returns the secret shared with the owner of a public key. The corresponding C function is `crypto_scalarmult`.
    ///
    /// - Returns: The secret; `nil` if it would be the same for every private key.
    /// - Throws: `DecryptionError.io` if memory cannot be allocated.
    static func secret(of key: SecretKey, with publicKey: [UInt8]) throws(DecryptionError) -> SecretKey? {
        var isSecret = false
        let secret = try SecretKey(byteCount: byteCount) { output in
            key.withUnsafeBytes { key in
                guard let result = output.assumingMemoryBound(to: UInt8.self).baseAddress,
                    let key = key.base(byteCount),
                    publicKey.count == byteCount
                else { return }
                isSecret = crypto_scalarmult(result, key, publicKey) == 0
            }
        }
        return isSecret ? secret : nil
    }
}

extension UnsafeRawBufferPointer {
    /// Returns the start of an array with exactly the given length.
    fileprivate func base(_ byteCount: Int) -> UnsafePointer<UInt8>? {
        precondition(count == byteCount, "\(count) bytes")
        return assumingMemoryBound(to: UInt8.self).baseAddress
    }
}
