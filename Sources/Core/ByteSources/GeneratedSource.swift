public import RandomAccess

/// Ciphertext that is computed when it is read: of any length, at the same cost at any offset.
///
/// The bytes are those of a ``SplitMix64Stream``. The caller supplies a few blocks, since the padding at the end of a
/// chunk cannot be random.
public struct GeneratedSource: ByteSource {
    /// The source's length in bytes.
    public let byteCount: UInt64

    private let stream: SplitMix64Stream
    private let replacement: @Sendable (_ block: UInt64) -> Block?
    private let replacementStride: UInt64

    /// A source of `byteCount` bytes, computed from `stream`.
    ///
    /// - Parameters:
    ///   - stream: The stream that the bytes come from.
    ///   - byteCount: The length.
    ///   - replacementStride: The distance between replaced blocks, in bytes, a multiple of 16. The last block of each
    ///     stretch of this length is replaced, and the source's last block.
    ///   - replacement: Returns the block to use instead, given the block's number; `nil` keeps the stream's block.
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
        rest.forEach { position, buffer in
            fill(buffer, from: offset + UInt64(position))
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
                for position in max(blockEnd - 16, offset)..<min(blockEnd, end) {
                    buffer[Int(position - offset)] = bytes[Int(position - (blockEnd - 16))]
                }
            }
            if blockEnd == byteCount { return }
            stretch += 1
        }
    }
}

/// An endless stream of pseudo-random bytes of which any part can be computed on its own.
///
/// Bytes 8*i* to 8*i* + 7 are, little-endian, output *i* of SplitMix64 started from `seed`. To compute it, add
/// `9e3779b97f4a7c15` (*i* + 1) times to the seed, then z = (z ⊕ z≫30) · `bf58476d1ce4e5b9`, z = (z ⊕ z≫27) ·
/// `94d049bb133111eb`, z ⊕ z≫31, all modulo 2⁶⁴. It is no cipher and hides nothing.
///
/// - Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014; PROTOCOL.md,
///   "measure".
public struct SplitMix64Stream: Hashable, Sendable {
    /// The seed of the generator.
    public let seed: UInt64

    /// The stream of a seed.
    public init(seed: UInt64) {
        self.seed = seed
    }

    /// Returns output `index` of the generator, from 0.
    @inline(__always)
    public func word(_ index: UInt64) -> UInt64 {
        var z = seed &+ (index &+ 1) &* 0x9e37_79b9_7f4a_7c15
        z = (z ^ z &>> 30) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ z &>> 27) &* 0x94d0_49bb_1331_11eb
        return z ^ z &>> 31
    }

    /// Returns the byte at `offset`.
    public func byte(_ offset: UInt64) -> UInt8 {
        UInt8(truncatingIfNeeded: word(offset / 8) >> (offset % 8 * 8))
    }

    /// Fills a buffer with the bytes from `offset` on, at the same cost for any `offset`.
    public func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: UInt64) {
        var position = 0
        while position < buffer.count, (offset &+ UInt64(position)) % 8 != 0 {
            buffer[position] = byte(offset &+ UInt64(position))
            position += 1
        }
        var index = (offset &+ UInt64(position)) / 8
        while position + 8 <= buffer.count {
            buffer.storeBytes(of: word(index).littleEndian, toByteOffset: position, as: UInt64.self)
            index &+= 1
            position += 8
        }
        while position < buffer.count {
            buffer[position] = byte(offset &+ UInt64(position))
            position += 1
        }
    }
}
