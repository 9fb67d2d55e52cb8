/// An endless stream of pseudo-random bytes of which any part can be computed on its own.
///
/// Bytes 8*i* to 8*i* + 7 are, little-endian, output *i* of SplitMix64 started from `seed`. As a program: add
/// `9e3779b97f4a7c15` (*i* + 1) times to the seed, then z = (z ⊕ z≫30) · `bf58476d1ce4e5b9`, z = (z ⊕ z≫27) ·
/// `94d049bb133111eb`, z ⊕ z≫31, all modulo 2⁶⁴. It is no cipher and hides nothing.
///
/// - Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014; PROTOCOL.md,
///   "measure".
public struct SplitMix64Stream: Hashable, Sendable {
    /// What the stream is computed from.
    public let seed: UInt64

    /// Creates a stream.
    public init(seed: UInt64) {
        self.seed = seed
    }

    /// Output `index` of the generator, from 0.
    @inline(__always)
    public func word(_ index: UInt64) -> UInt64 {
        var z = seed &+ (index &+ 1) &* 0x9e37_79b9_7f4a_7c15
        z = (z ^ z &>> 30) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ z &>> 27) &* 0x94d0_49bb_1331_11eb
        return z ^ z &>> 31
    }

    /// The byte at `offset`.
    public func byte(_ offset: UInt64) -> UInt8 {
        UInt8(truncatingIfNeeded: word(offset / 8) >> (offset % 8 * 8))
    }

    /// Fills a buffer with the bytes from `offset` on, at the same cost whatever `offset` is.
    public func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: UInt64) {
        var place = 0
        while place < buffer.count, (offset &+ UInt64(place)) % 8 != 0 {
            buffer[place] = byte(offset &+ UInt64(place))
            place += 1
        }
        var index = (offset &+ UInt64(place)) / 8
        while place + 8 <= buffer.count {
            buffer.storeBytes(of: word(index).littleEndian, toByteOffset: place, as: UInt64.self)
            index &+= 1
            place += 8
        }
        while place < buffer.count {
            buffer[place] = byte(offset &+ UInt64(place))
            place += 1
        }
    }
}
