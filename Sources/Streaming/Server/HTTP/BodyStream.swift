#if Network
import HummingbirdCore
import NIOCore
import RandomAccess

/// Sends plaintext window by window: the next one is decrypted when the client has taken enough of those before.
struct BodyStream: Sendable {
    let pool: BufferPool

    /// Sends a range. No more than two windows of it are in memory at any time.
    ///
    /// - Parameters:
    ///   - range: Plaintext bytes, within the content.
    ///   - content: What to send.
    ///   - writer: The body's writer; the body is not finished.
    ///   - progress: Called with the bytes that were handed on so far.
    /// - Throws: `DecryptionError` if a window cannot be read, of which no byte is then sent; what the connection throws
    ///   if the client is gone.
    func send(
        _ range: Range<UInt64>, of content: ServedContent, to writer: inout some ResponseBodyWriter,
        progress: (UInt64) -> Void
    ) async throws {
        // A reader that is kept goes on in its chunk. One that finds no space for that is made for each window, and opens
        // the chunk again: slower, but no client waits for another, and many of them take no more memory.
        var kept: (any RandomAccessDecryptor)?
        defer { if kept != nil { pool.unreserve(content.readerByteCount) } }
        // The window that is being sent, and the one that is being filled.
        var (sent, filled) = (0, 0)
        defer { pool.leave(sent + filled) }
        var position = range.lowerBound
        while position < range.upperBound {
            pool.leave(sent)
            (sent, filled) = (filled, pool.enter())
            // Windows end at multiples of their length, and so where blocks do.
            let window = UInt64(filled)
            let end = min(range.upperBound, (position / window + 1) * window)
            var buffer = pool.take(Int(end - position))
            try fill(&buffer, from: content, keeping: &kept, position..<end)
            try await writer.write(buffer)
            pool.give(buffer)
            position = end
            progress(position - range.lowerBound)
        }
    }

    private func fill(
        _ buffer: inout ByteBuffer, from content: ServedContent, keeping kept: inout (any RandomAccessDecryptor)?,
        _ range: Range<UInt64>
    ) throws {
        let reader = try kept ?? content.makeReader()
        if kept == nil, pool.reserve(content.readerByteCount) { kept = reader }
        let count = range.count
        let delivered = try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { room in
            try reader.read(at: range.lowerBound, into: UnsafeMutableRawBufferPointer(rebasing: room[..<count]))
        }
        guard delivered == count else {
            throw DecryptionError.truncatedCiphertext(
                byteCount: range.lowerBound + UInt64(delivered), expected: "\(range.upperBound) of plaintext")
        }
    }
}
#endif
