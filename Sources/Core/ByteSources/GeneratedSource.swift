public import RandomAccess

/// Ciphertext that is computed where it is read: of any length, at the same cost at any offset.
///
/// The bytes are those of a ``SplitMix64Stream``, except in a few blocks that are given: the padding at the end of a
/// chunk cannot be drawn at random.
public struct GeneratedSource: ByteSource {
    /// The source's length in bytes.
    public let byteCount: UInt64

    private let stream: SplitMix64Stream
    private let replacement: @Sendable (_ block: UInt64) -> Block?
    private let replacementStride: UInt64

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - stream: Where bytes come from.
    ///   - byteCount: The length.
    ///   - replacementStride: A replaced block is the last of each stretch of this many bytes (a multiple of 16), and
    ///     the source's last.
    ///   - replacement: What stands in such a block instead, given its number; `nil` for what the stream has.
    public init(
        stream: SplitMix64Stream, byteCount: UInt64, replacementStride: UInt64 = .max,
        replacement: @escaping @Sendable (_ block: UInt64) -> Block? = { _ in nil }
    ) {
        self.stream = stream
        self.byteCount = byteCount
        self.replacement = replacement
        self.replacementStride = replacementStride
    }

    /// Reads bytes; see `ByteSource.read(at:into:)`.
    public func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        guard offset < byteCount else { return 0 }
        let rest = buffers.prefix(Int(min(UInt64(buffers.byteCount), byteCount - offset)))
        rest.forEach { place, buffer in
            fill(buffer, from: offset + UInt64(place))
        }
        return rest.byteCount
    }

    private func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: UInt64) {
        stream.fill(buffer, from: offset)
        let end = offset + UInt64(buffer.count)
        // The first stretch whose last block reaches past `offset`.
        var stretch = offset / replacementStride
        while true {
            let (stretchEnd, overflow) = (stretch &+ 1).multipliedReportingOverflow(by: replacementStride)
            let blockEnd = overflow || stretchEnd > byteCount ? byteCount : stretchEnd
            guard blockEnd >= 16, blockEnd - 16 < end else { return }
            if let block = replacement(blockEnd / 16 - 1) {
                let bytes = block.bytes
                for place in max(blockEnd - 16, offset)..<min(blockEnd, end) {
                    buffer[Int(place - offset)] = bytes[Int(place - (blockEnd - 16))]
                }
            }
            if blockEnd == byteCount { return }
            stretch += 1
        }
    }
}
