#if !_endian(little)
#error("planes take the first byte of a word to be its lowest")
#endif

/// 128 bits that go through every gate side by side.
///
/// In a wide batch they are one bit of one state row of 32 blocks; in a narrow one, one bit of all bytes of 8 blocks.
struct Plane {
    // `^` and `&` on integer vectors are loops over their lanes, which the optimiser leaves as such in functions as
    // long as an S-box; on masks they are one operation on the whole vector, whatever bits it holds.
    private var bits: SIMDMask<SIMD4<Int32>>

    /// The four words in order: of a block, its columns.
    @inline(__always)
    var words: SIMD4<UInt32> { unsafeBitCast(bits, to: SIMD4<UInt32>.self) }

    @inline(__always)
    private init(_ bits: SIMDMask<SIMD4<Int32>>) {
        self.bits = bits
    }

    @inline(__always)
    init(words: SIMD4<UInt32>) {
        self.bits = unsafeBitCast(words, to: SIMDMask<SIMD4<Int32>>.self)
    }

    /// The sixteen bytes in order.
    @inline(__always)
    var bytes: SIMD16<UInt8> { unsafeBitCast(bits, to: SIMD16<UInt8>.self) }

    @inline(__always)
    init(bytes: SIMD16<UInt8>) {
        self.bits = unsafeBitCast(bytes, to: SIMDMask<SIMD4<Int32>>.self)
    }

    @inline(__always)
    static func ^ (left: Plane, right: Plane) -> Plane {
        Plane(left.bits .^ right.bits)
    }

    @inline(__always)
    static func & (left: Plane, right: Plane) -> Plane {
        Plane(left.bits .& right.bits)
    }

    @inline(__always)
    static func | (left: Plane, right: Plane) -> Plane {
        Plane(left.bits .| right.bits)
    }

    /// The same word in all four lanes.
    @inline(__always)
    static func repeating(_ word: UInt32) -> Plane {
        Plane(words: SIMD4(repeating: word))
    }

    /// Each word shifted towards its lower bits.
    @inline(__always)
    func shiftedRight(by count: UInt32) -> Plane {
        Plane(words: words &>> SIMD4(repeating: count))
    }

    /// Each word shifted towards its higher bits. A product is one operation on the vector, and compiled to a shift.
    @inline(__always)
    func shiftedLeft(by count: UInt32) -> Plane {
        Plane(words: words &* SIMD4(repeating: 1 << count))
    }

    /// Lane *i* is lane *i* + `count` modulo 4 of this plane.
    @inline(__always)
    func lanesRotated(by count: Int) -> Plane {
        let w = words
        return switch count & 3 {
        case 1: Plane(words: SIMD4(w[1], w[2], w[3], w[0]))
        case 2: Plane(words: SIMD4(w[2], w[3], w[0], w[1]))
        case 3: Plane(words: SIMD4(w[3], w[0], w[1], w[2]))
        default: self
        }
    }
}
