#if BoringSSL
internal import Crypto
internal import RandomAccess

internal import FoundationEssentials

/// A key for swift-crypto's AES-GCM, AES-GCM-SIV or ChaCha20-Poly1305, which repeat the key schedule for each message
/// and return a copy.
final class BoringSSLSealedContext: CipherContext {
    /// The error in BoringSSL's queue after a tag mismatch, which swift-crypto passes on. It has the library CIPHER
    /// (30) in the top byte, and the reason BAD_DECRYPT (101) in the lower bits. Source: BoringSSL's
    /// `include/openssl/err.h` (`ERR_PACK`) and `cipher.h`.
    private static let badDecrypt: Int32 = 30 << 24 | 101

    private let support: CipherSupport
    private let direction: CipherDirection
    // Erases itself: swift-crypto's `SymmetricKey` zeroes its storage when the last reference is released.
    private let key: SymmetricKey

    init(_ support: CipherSupport, _ direction: CipherDirection, key: SecretKey) {
        self.support = support
        self.direction = direction
        self.key = key.withUnsafeBytes { SymmetricKey(data: $0) }
    }

    deinit { eraseStack() }

    /// The corresponding functions are `AES.GCM.open(_:using:authenticating:)` and
    /// `AES.GCM.seal(_:using:nonce:authenticating:)`, and those of `AES.GCM._SIV` and `ChaChaPoly`.
    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        try support.check(nonce: nonce, in: "boringssl")
        do {
            let associatedData = Self.view(associatedData[...])
            if direction == .encrypt {
                let sealed = try seal(Self.view(input[...]), nonce: nonce, associatedData)
                Self.copy(sealed.ciphertext, to: output)
                Self.copy(sealed.tag, to: output + input.count)
                return true
            }
            let textByteCount = input.count - support.cipher.tagByteCount
            guard textByteCount >= 0 else {
                throw DecryptionError.backend(
                    name: "boringssl", operation: support.cipher.mode, reason: "only \(input.count) bytes")
            }
            var plaintext = try open(
                Self.view(input[..<textByteCount]), tag: Self.view(input[textByteCount...]), nonce: nonce,
                associatedData)
            defer { plaintext.erase() }
            Self.copy(plaintext, to: output)
            return true
        } catch CryptoKitError.authenticationFailure, CryptoKitError.underlyingCoreCryptoError(Self.badDecrypt) {
            return false
        } catch {
            throw .backend(
                name: "boringssl", operation: "\(support.cipher.mode) \(direction.rawValue)", reason: "\(error)")
        }
    }

    private func seal(
        _ plaintext: Data, nonce: UnsafeRawBufferPointer, _ associatedData: Data
    ) throws -> (ciphertext: Data, tag: Data) {
        switch support.cipher {
        case .aesGCM:
            let sealed = try AES.GCM.seal(
                plaintext, using: key, nonce: AES.GCM.Nonce(data: nonce), authenticating: associatedData)
            return (sealed.ciphertext, sealed.tag)
        case .aesGCMSIV:
            let sealed = try AES.GCM._SIV.seal(
                plaintext, using: key, nonce: AES.GCM._SIV.Nonce(data: nonce), authenticating: associatedData)
            return (sealed.ciphertext, sealed.tag)
        default:
            let sealed = try ChaChaPoly.seal(
                plaintext, using: key, nonce: ChaChaPoly.Nonce(data: nonce), authenticating: associatedData)
            return (sealed.ciphertext, sealed.tag)
        }
    }

    private func open(
        _ ciphertext: Data, tag: Data, nonce: UnsafeRawBufferPointer, _ associatedData: Data
    ) throws -> Data {
        switch support.cipher {
        case .aesGCM:
            let box = try AES.GCM.SealedBox(nonce: AES.GCM.Nonce(data: nonce), ciphertext: ciphertext, tag: tag)
            return try AES.GCM.open(box, using: key, authenticating: associatedData)
        case .aesGCMSIV:
            let box = try AES.GCM._SIV.SealedBox(
                nonce: AES.GCM._SIV.Nonce(data: nonce), ciphertext: ciphertext, tag: tag)
            return try AES.GCM._SIV.open(box, using: key, authenticating: associatedData)
        default:
            let box = try ChaChaPoly.SealedBox(
                nonce: ChaChaPoly.Nonce(data: nonce), ciphertext: ciphertext, tag: tag)
            return try ChaChaPoly.open(box, using: key, authenticating: associatedData)
        }
    }

    /// Returns a view, not a copy: the functions only read it.
    private static func view(_ bytes: Slice<UnsafeRawBufferPointer>) -> Data {
        let bytes = UnsafeRawBufferPointer(rebasing: bytes)
        guard let start = bytes.baseAddress, bytes.count > 0 else { return Data() }
        return Data(bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count, deallocator: .none)
    }

    private static func copy(_ data: Data, to output: UnsafeMutableRawPointer) {
        data.withUnsafeBytes { UnsafeMutableRawBufferPointer(start: output, count: $0.count).copyMemory(from: $0) }
    }
}
#endif
