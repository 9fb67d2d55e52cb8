#if BoringSSL
internal import Crypto
internal import RandomAccess

internal import FoundationEssentials

/// AES-GCM, AES-GCM-SIV and ChaCha20-Poly1305, which repeat the key schedule for each message and return a copy.
extension BoringSSLContext {
    /// The error in BoringSSL's queue after a tag mismatch, which swift-crypto passes on. It has the library CIPHER
    /// (30) in the top byte, and the reason BAD_DECRYPT (101) in the lower bits. Source: BoringSSL's
    /// `include/openssl/err.h` (`ERR_PACK`) and `cipher.h`.
    private static let badDecrypt: Int32 = 30 << 24 | 101

    /// The corresponding functions are `AES.GCM.open(_:using:authenticating:)` and
    /// `AES.GCM.seal(_:using:nonce:authenticating:)`, and those of `AES.GCM._SIV` and `ChaChaPoly`.
    func processMessage(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        do {
            let associatedData = Data(viewing: associatedData)
            if direction == .encrypt {
                let sealed = try seal(Data(viewing: input), nonce: nonce, associatedData)
                Self.copy(sealed.ciphertext, to: output)
                Self.copy(sealed.tag, to: output + input.count)
                return true
            }
            let textByteCount = input.count - support.cipher.tagByteCount
            guard textByteCount >= 0 else {
                throw failure("only \(input.count) bytes")
            }
            var plaintext = try open(
                Data(viewing: UnsafeRawBufferPointer(rebasing: input[..<textByteCount])),
                tag: Data(viewing: UnsafeRawBufferPointer(rebasing: input[textByteCount...])), nonce: nonce,
                associatedData)
            defer { plaintext.erase() }
            Self.copy(plaintext, to: output)
            return true
        } catch CryptoKitError.authenticationFailure, CryptoKitError.underlyingCoreCryptoError(Self.badDecrypt) {
            return false
        } catch {
            throw failure("\(error)")
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

    private static func copy(_ data: Data, to output: UnsafeMutableRawPointer) {
        data.withUnsafeBytes { UnsafeMutableRawBufferPointer(start: output, count: $0.count).copyMemory(from: $0) }
    }
}
#endif
