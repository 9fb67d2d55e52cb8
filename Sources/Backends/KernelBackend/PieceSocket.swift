internal import RandomAccess

/// What carries pieces to the kernel and back: a socket, or in tests something that behaves as badly as one may.
protocol PieceSocket: AnyObject {
    /// The most bytes that one piece may have; a multiple of 16, at least 16.
    var largestPieceByteCount: Int { get }

    /// Hands over a piece that starts from an IV of its own.
    ///
    /// - Returns: How many of its bytes were taken. As many must be received before another piece is sent.
    func send(
        _ piece: UnsafeRawBufferPointer, direction: CipherDirection, iv: Block
    ) throws(DecryptionError) -> Int

    /// Fetches output of what was sent, at most as much as is still to come.
    ///
    /// - Returns: How many bytes were written to the start of `output`.
    func receive(into output: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int

    /// Drops what was sent and not received.
    func reset() throws(DecryptionError)
}
