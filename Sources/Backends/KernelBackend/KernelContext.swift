internal import RandomAccess

/// An open operation of the kernel. A stretch passes through it in pieces, and each piece has the IV that follows from
/// the one before.
final class KernelContext: CipherContext {
    private let support: CipherSupport
    private let direction: CipherDirection
    private let socket: any PieceSocket

    init(_ support: CipherSupport, _ direction: CipherDirection, socket: any PieceSocket) {
        self.support = support
        self.direction = direction
        self.socket = socket
    }

    deinit { eraseStack() }

    /// The corresponding C functions are `sendmsg` and `recv`.
    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        try support.check(nonce: nonce, in: "af-alg")
        guard support.cipher == .aesCTR || input.count % Block.byteCount == 0 else {
            throw failure("sendmsg", "\(input.count) bytes: expected a multiple of 16")
        }
        let output = UnsafeMutableRawBufferPointer(start: output, count: input.count)
        do throws(DecryptionError) {
            var iv = Block(loadingFrom: nonce)
            var done = 0
            while done < input.count {
                done += try processPiece(input, into: output, at: done, iv: &iv)
            }
        } catch {
            // Bytes left inside the kernel would become the start of the next stretch.
            try socket.reset()
            throw error
        }
        return true
    }

    /// Sends a piece, receives its output, and advances `iv` to that of the next piece.
    private func processPiece(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, at offset: Int, iv: inout Block
    ) throws(DecryptionError) -> Int {
        let offered = min(input.count - offset, socket.largestPieceByteCount)
        let piece = UnsafeRawBufferPointer(rebasing: input[offset..<offset + offered])
        let count = try socket.send(piece, direction: direction, iv: iv)
        guard count > 0, count <= offered, count == offered || count % Block.byteCount == 0 else {
            throw failure("sendmsg", "\(count) of \(offered) bytes taken: expected whole blocks")
        }
        // If output and input are the same memory, the output overwrites the ciphertext.
        let isChained = support.cipher == .aesCBC
        let lastBlock = isChained ? count - Block.byteCount : 0
        let lastSent = isChained ? Block(loadingFrom: piece, at: lastBlock) : iv
        let part = UnsafeMutableRawBufferPointer(rebasing: output[offset..<offset + count])
        var received = 0
        while received < count {
            let more = try socket.receive(into: UnsafeMutableRawBufferPointer(rebasing: part[received...]))
            guard more > 0, more <= count - received else {
                throw failure("recv", "\(received + more) of \(count) bytes came back")
            }
            received += more
        }
        iv = support.cipher.iv(
            after: iv, blockCount: count / Block.byteCount,
            lastCiphertext: direction == .decrypt
                ? lastSent : Block(loadingFrom: UnsafeRawBufferPointer(part), at: lastBlock))
        return count
    }

    private func failure(_ operation: String, _ reason: String) -> DecryptionError {
        .backend(name: "af-alg", operation: operation, reason: reason)
    }
}
