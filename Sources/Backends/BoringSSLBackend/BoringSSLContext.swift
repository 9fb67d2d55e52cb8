#if BoringSSL
internal import Crypto
internal import CryptoExtras
internal import RandomAccess

internal import FoundationEssentials

/// A key for swift-crypto's one-shot functions.
final class BoringSSLContext: CipherContext {
    private let mode: CipherMode
    private let direction: CipherDirection
    // Erases itself: swift-crypto's `SymmetricKey` zeroes its storage when the last reference goes.
    private let key: SymmetricKey

    init(mode: CipherMode, direction: CipherDirection, key: SecretKey) {
        self.mode = mode
        self.direction = direction
        self.key = key.withUnsafeBytes { SymmetricKey(data: $0) }
    }

    deinit { eraseStack() }

    /// The corresponding functions are `AES._CBC.decrypt(_:using:iv:noPadding:)` and `AES._CTR.decrypt(_:using:nonce:)`,
    /// and their counterparts.
    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, iv: Block
    ) throws(DecryptionError) {
        guard let start = input.baseAddress, input.count > 0 else { return }
        // A view, not a copy: the functions only read it.
        let message = Data(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: input.count, deallocator: .none)
        var result: Data
        do {
            result = try transform(message, iv: iv)
        } catch {
            throw .backend(name: "boringssl", operation: "\(mode.rawValue) \(direction.rawValue)", reason: "\(error)")
        }
        guard result.count == input.count else {
            throw .backend(
                name: "boringssl", operation: "\(mode.rawValue) \(direction.rawValue)",
                reason: "\(result.count) of \(input.count) bytes returned")
        }
        result.withUnsafeBytes { bytes in
            UnsafeMutableRawBufferPointer(start: output, count: input.count).copyMemory(from: bytes)
        }
        result.erase()
    }

    private func transform(_ message: Data, iv: Block) throws -> Data {
        switch mode {
        case .cbc:
            let iv = try AES._CBC.IV(ivBytes: iv.bytes)
            return direction == .decrypt
                ? try AES._CBC.decrypt(message, using: key, iv: iv, noPadding: true)
                : try AES._CBC.encrypt(message, using: key, iv: iv, noPadding: true)
        case .ctr, .gcm:
            let nonce = try AES._CTR.Nonce(nonceBytes: iv.bytes)
            return direction == .decrypt
                ? try AES._CTR.decrypt(message, using: key, nonce: nonce)
                : try AES._CTR.encrypt(message, using: key, nonce: nonce)
        }
    }
}

extension Data {
    /// Overwrites the bytes, if no other value shares them.
    mutating func erase() {
        withUnsafeMutableBytes { eraseBytes($0) }
    }
}
#endif
