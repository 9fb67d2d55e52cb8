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

    /// The functions return new memory. What is longer, `malloc` maps, and so the kernel clears it and hands it out page
    /// by page, each time: windows of 256 KiB took three and a half times as long as in pieces of this length.
    private static let pieceByteCount = 48 << 10

    /// The corresponding functions are `AES._CBC.decrypt(_:using:iv:noPadding:)` and `AES._CTR.decrypt(_:using:nonce:)`,
    /// and their counterparts.
    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, iv: Block
    ) throws(DecryptionError) {
        var (iv, start) = (iv, 0)
        while start < input.count {
            let end = min(start + Self.pieceByteCount, input.count)
            let piece = UnsafeRawBufferPointer(rebasing: input[start..<end])
            let written = UnsafeRawBufferPointer(start: output + start, count: piece.count)
            // Before it is overwritten, where input and output are the same.
            var next = iv
            if end < input.count {
                switch mode {
                case .cbc where direction == .decrypt: next = Block(loadingFrom: piece, at: piece.count - 16)
                case .cbc: break
                case .ctr, .gcm: next = iv.advanced(by: UInt64(piece.count / Block.byteCount))
                }
            }
            try process(piece: piece, into: output + start, iv: iv)
            if mode == .cbc, direction == .encrypt, end < input.count {
                next = Block(loadingFrom: written, at: written.count - 16)
            }
            (iv, start) = (next, end)
        }
    }

    private func process(
        piece: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, iv: Block
    ) throws(DecryptionError) {
        guard let start = piece.baseAddress else { return }
        // A view, not a copy: the functions only read it.
        let message = Data(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: piece.count, deallocator: .none)
        var result: Data
        do {
            result = try transform(message, iv: iv)
        } catch {
            throw .backend(name: "boringssl", operation: "\(mode.rawValue) \(direction.rawValue)", reason: "\(error)")
        }
        guard result.count == piece.count else {
            throw .backend(
                name: "boringssl", operation: "\(mode.rawValue) \(direction.rawValue)",
                reason: "\(result.count) of \(piece.count) bytes returned")
        }
        result.withUnsafeBytes { bytes in
            UnsafeMutableRawBufferPointer(start: output, count: piece.count).copyMemory(from: bytes)
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
