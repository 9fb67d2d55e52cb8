#if BoringSSL
internal import Crypto
internal import CryptoExtras
internal import RandomAccess

internal import FoundationEssentials

/// A key for swift-crypto's one-shot functions.
final class BoringSSLContext: CipherContext {
    let support: CipherSupport
    let direction: CipherDirection
    // Erases itself: swift-crypto's `SymmetricKey` zeroes its storage when the last reference is released.
    let key: SymmetricKey

    init(_ support: CipherSupport, _ direction: CipherDirection, key: SecretKey) {
        self.support = support
        self.direction = direction
        self.key = key.withUnsafeBytes { SymmetricKey(data: $0) }
    }

    deinit { eraseStack() }

    /// The functions return new memory. From 128 KiB on, glibc's `malloc` maps it, so the kernel clears it and hands it
    /// out page by page in each call. Windows of 256 KiB took four times as long as in pieces of this length. With
    /// pieces of 64 KiB, `malloc` returns the end of the heap instead.
    private static let pieceByteCount = 48 << 10

    /// The corresponding functions are `AES._CBC.decrypt(_:using:iv:noPadding:)` and `AES._CTR.decrypt(_:using:nonce:)`
    /// and their counterparts.
    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        try support.check(nonce: nonce, in: "boringssl")
        guard support.cipher.isStreaming else {
            return try processMessage(input, into: output, nonce: nonce, associatedData: associatedData)
        }
        guard support.cipher == .aesCTR || input.count % Block.byteCount == 0 else {
            throw failure("\(input.count) bytes: expected a multiple of 16")
        }
        var iv = Block(loadingFrom: nonce)
        for start in stride(from: 0, to: input.count, by: Self.pieceByteCount) {
            let piece = UnsafeRawBufferPointer(
                rebasing: input[start..<min(start + Self.pieceByteCount, input.count)])
            let written = UnsafeRawBufferPointer(start: output + start, count: piece.count)
            let lastBlock = piece.count - Block.byteCount
            // If output and input are the same memory, the call overwrites the ciphertext.
            let lastRead = support.cipher == .aesCBC ? Block(loadingFrom: piece, at: lastBlock) : iv
            try process(piece: piece, into: output + start, iv: iv)
            iv = support.cipher.iv(
                after: iv, blockCount: piece.count / Block.byteCount,
                lastCiphertext: direction == .decrypt ? lastRead : Block(loadingFrom: written, at: lastBlock))
        }
        return true
    }

    private func process(
        piece: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, iv: Block
    ) throws(DecryptionError) {
        var result: Data
        do {
            result = try transform(Data(viewing: piece), iv: iv)
        } catch {
            throw failure("\(error)")
        }
        guard result.count == piece.count else {
            throw failure("\(result.count) of \(piece.count) bytes returned")
        }
        result.withUnsafeBytes { bytes in
            UnsafeMutableRawBufferPointer(start: output, count: piece.count).copyMemory(from: bytes)
        }
        result.erase()
    }

    func failure(_ reason: String) -> DecryptionError {
        .backend(name: "boringssl", operation: "\(support.cipher.mode) \(direction.rawValue)", reason: reason)
    }

    private func transform(_ message: Data, iv: Block) throws -> Data {
        switch support.cipher {
        case .aesCBC:
            let iv = try AES._CBC.IV(ivBytes: iv.bytes)
            return direction == .decrypt
                ? try AES._CBC.decrypt(message, using: key, iv: iv, noPadding: true)
                : try AES._CBC.encrypt(message, using: key, iv: iv, noPadding: true)
        default:
            let nonce = try AES._CTR.Nonce(nonceBytes: iv.bytes)
            return direction == .decrypt
                ? try AES._CTR.decrypt(message, using: key, nonce: nonce)
                : try AES._CTR.encrypt(message, using: key, nonce: nonce)
        }
    }
}

extension Data {
    /// A view, not a copy: the functions only read it.
    init(viewing bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, bytes.count > 0 else {
            self.init()
            return
        }
        self.init(bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count, deallocator: .none)
    }

    /// Overwrites the bytes, if no other value shares them.
    mutating func erase() {
        withUnsafeMutableBytes { eraseBytes($0) }
    }
}
#endif
