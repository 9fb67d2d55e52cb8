#if BoringSSL
internal import Crypto
internal import RandomAccess

internal import FoundationEssentials

/// A key for swift-crypto's AES-GCM, which makes the key schedule anew for each message and returns a copy.
final class BoringSSLGCMContext: CipherContext {
    /// What BoringSSL's error queue holds after a tag that does not match, which swift-crypto passes on for AES-GCM: the
    /// library CIPHER (30) in the top byte, the reason BAD_DECRYPT (101) in the lower bits. Source: BoringSSL's
    /// `include/openssl/err.h` (`ERR_PACK`) and `cipher.h`.
    private static let badDecrypt: Int32 = 30 << 24 | 101

    private let support: CipherSupport
    private let direction: CipherDirection
    // Erases itself: swift-crypto's `SymmetricKey` zeroes its storage when the last reference goes.
    private let key: SymmetricKey

    init(_ support: CipherSupport, _ direction: CipherDirection, key: SecretKey) {
        self.support = support
        self.direction = direction
        self.key = key.withUnsafeBytes { SymmetricKey(data: $0) }
    }

    deinit { eraseStack() }

    /// The corresponding functions are `AES.GCM.open(_:using:authenticating:)` and
    /// `AES.GCM.seal(_:using:nonce:authenticating:)`.
    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        try support.check(nonce: nonce, in: "boringssl")
        do {
            let nonce = try AES.GCM.Nonce(data: nonce)
            let associatedData = Self.view(associatedData[...])
            if direction == .encrypt {
                let sealed = try AES.GCM.seal(
                    Self.view(input[...]), using: key, nonce: nonce, authenticating: associatedData)
                Self.copy(sealed.ciphertext, to: output)
                Self.copy(sealed.tag, to: output + input.count)
                return true
            }
            let textByteCount = input.count - support.cipher.tagByteCount
            guard textByteCount >= 0 else {
                throw DecryptionError.backend(
                    name: "boringssl", operation: "gcm", reason: "only \(input.count) bytes")
            }
            let box = try AES.GCM.SealedBox(
                nonce: nonce, ciphertext: Self.view(input[..<textByteCount]), tag: Self.view(input[textByteCount...]))
            var plaintext = try AES.GCM.open(box, using: key, authenticating: associatedData)
            defer { plaintext.erase() }
            Self.copy(plaintext, to: output)
            return true
        } catch CryptoKitError.authenticationFailure, CryptoKitError.underlyingCoreCryptoError(Self.badDecrypt) {
            return false
        } catch {
            throw .backend(name: "boringssl", operation: "gcm \(direction.rawValue)", reason: "\(error)")
        }
    }

    /// A view, not a copy: the functions only read it.
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
