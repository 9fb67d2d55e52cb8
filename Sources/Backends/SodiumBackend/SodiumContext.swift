import CSodium
import RandomAccess

/// A key for libsodium's functions, which have no key schedule: each message starts from the key itself.
final class SodiumContext: CipherContext {
    private let support: CipherSupport
    private let direction: CipherDirection
    private let key: SecretKey

    private static let tagByteCount = 16
    /// The max length of a message; the library aborts the process beyond it. Source: RFC 8439, section 2.8, where the
    /// counter's first block is the key of Poly1305.
    private static let maxByteCount = 64 * (1 << 32 - 1)

    init(_ support: CipherSupport, _ direction: CipherDirection, key: SecretKey) {
        (self.support, self.direction, self.key) = (support, direction, key)
    }

    deinit { eraseStack() }

    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        try support.check(nonce: nonce, in: "sodium")
        try support.check(associatedData: associatedData, in: "sodium")
        let count = direction == .encrypt ? input.count : input.count - Self.tagByteCount
        guard (0...Self.maxByteCount).contains(count) else {
            throw .backend(
                name: "sodium", operation: support.cipher.rawValue,
                reason: "\(input.count) bytes: expected \(count < 0 ? "a tag" : "at most \(Self.maxByteCount)")")
        }
        let result: Int32 = key.withUnsafeBytes { key in
            guard let nonce = nonce.assumingMemoryBound(to: UInt8.self).baseAddress,
                let key = key.assumingMemoryBound(to: UInt8.self).baseAddress
            else { return -1 }
            let message = Message(
                input: input.assumingMemoryBound(to: UInt8.self).baseAddress,
                output: output.assumingMemoryBound(to: UInt8.self), byteCount: count, nonce: nonce,
                associatedData: associatedData.assumingMemoryBound(to: UInt8.self).baseAddress,
                associatedByteCount: UInt64(associatedData.count), key: key)
            return direction == .encrypt ? message.seal(support.cipher) : message.open(support.cipher)
        }
        // Opening can fail only because of the tag.
        guard result == 0 || direction == .decrypt else {
            throw .backend(
                name: "sodium", operation: support.cipher.rawValue, reason: "it returned \(result): expected 0")
        }
        return result == 0
    }
}

/// A message, with the key and nonce to seal or open it.
private struct Message {
    let input: UnsafePointer<UInt8>?
    let output: UnsafeMutablePointer<UInt8>
    /// The length of the plaintext.
    let byteCount: Int
    let nonce: UnsafePointer<UInt8>
    let associatedData: UnsafePointer<UInt8>?
    let associatedByteCount: UInt64
    let key: UnsafePointer<UInt8>

    /// The corresponding C functions are `crypto_aead_chacha20poly1305_ietf_encrypt_detached`,
    /// `crypto_aead_xchacha20poly1305_ietf_encrypt_detached` and `crypto_secretbox_detached`.
    ///
    /// - Returns: 0 for a sealed message.
    func seal(_ cipher: Cipher) -> Int32 {
        let tag = output + byteCount
        return switch cipher {
        case .xChaCha20Poly1305:
            crypto_aead_xchacha20poly1305_ietf_encrypt_detached(
                output, tag, nil, input, UInt64(byteCount), associatedData, associatedByteCount, nil, nonce, key)
        case .xSalsa20Poly1305: crypto_secretbox_detached(output, tag, input, UInt64(byteCount), nonce, key)
        default:
            crypto_aead_chacha20poly1305_ietf_encrypt_detached(
                output, tag, nil, input, UInt64(byteCount), associatedData, associatedByteCount, nil, nonce, key)
        }
    }

    /// The corresponding C functions are `crypto_aead_chacha20poly1305_ietf_decrypt_detached`,
    /// `crypto_aead_xchacha20poly1305_ietf_decrypt_detached` and `crypto_secretbox_open_detached`, which compare the
    /// tag before they decrypt.
    ///
    /// - Returns: 0 for an authentic message.
    func open(_ cipher: Cipher) -> Int32 {
        guard let input else { return -1 }
        let tag = input + byteCount
        return switch cipher {
        case .xChaCha20Poly1305:
            crypto_aead_xchacha20poly1305_ietf_decrypt_detached(
                output, nil, input, UInt64(byteCount), tag, associatedData, associatedByteCount, nonce, key)
        case .xSalsa20Poly1305: crypto_secretbox_open_detached(output, input, tag, UInt64(byteCount), nonce, key)
        default:
            crypto_aead_chacha20poly1305_ietf_decrypt_detached(
                output, nil, input, UInt64(byteCount), tag, associatedData, associatedByteCount, nonce, key)
        }
    }
}
