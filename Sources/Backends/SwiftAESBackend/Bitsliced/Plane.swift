#if !_endian(little)
#error("planes take the first byte of a word to be its lowest")
#endif

/// Bits that pass through every gate side by side, in 32-bit lanes.
protocol PlaneVector {
    /// The same 128 bits in each group of four lanes.
    init(_ plane: Plane)

    /// Returns the same word in all lanes.
    static func repeating(_ word: UInt32) -> Self

    static func ^ (left: Self, right: Self) -> Self
    static func & (left: Self, right: Self) -> Self

    /// Returns each word shifted towards its lower bits.
    func shiftedRight(by count: UInt32) -> Self

    /// Returns each word shifted towards its higher bits.
    func shiftedLeft(by count: UInt32) -> Self

    /// Returns the lanes rotated in groups of four: lane *i* is lane *i* + `count` modulo 4 of this vector.
    func lanesRotated(by count: Int) -> Self
}

/// 128 bits, as in a block.
///
/// In a wide batch, they are one bit of one state row of 32 blocks; in a narrow one, one bit of all bytes of 8 blocks.
struct Plane: PlaneVector {
    // `^` and `&` on integer vectors are loops over their lanes, which the optimiser does not vectorise in functions as
    // long as an S-box. On masks, they are one operation on the whole vector, with any bits.
    private var bits: SIMDMask<SIMD4<Int32>>

    /// The four words in order, which are the columns of a block.
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

    @inline(__always)
    init(_ plane: Plane) {
        self = plane
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
    static func repeating(_ word: UInt32) -> Plane {
        Plane(words: SIMD4(repeating: word))
    }

    @inline(__always)
    func shiftedRight(by count: UInt32) -> Plane {
        Plane(words: words &>> SIMD4(repeating: count))
    }

    /// A product is one operation on the vector, and compiles to a shift.
    @inline(__always)
    func shiftedLeft(by count: UInt32) -> Plane {
        Plane(words: words &* SIMD4(repeating: 1 << count))
    }

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

/// 256 bits: one bit of one state row of 64 blocks. It repeats the code of ``Plane``, because code that is generic over
/// vectors compiles to loops over their lanes.
struct WidePlane: PlaneVector {
    private var bits: SIMDMask<SIMD8<Int32>>

    @inline(__always)
    private var words: SIMD8<UInt32> { unsafeBitCast(bits, to: SIMD8<UInt32>.self) }

    @inline(__always)
    private init(_ bits: SIMDMask<SIMD8<Int32>>) {
        self.bits = bits
    }

    @inline(__always)
    private init(words: SIMD8<UInt32>) {
        self.bits = unsafeBitCast(words, to: SIMDMask<SIMD8<Int32>>.self)
    }

    @inline(__always)
    init(_ plane: Plane) {
        self.init(words: SIMD8(lowHalf: plane.words, highHalf: plane.words))
    }

    @inline(__always)
    static func repeating(_ word: UInt32) -> WidePlane {
        WidePlane(words: SIMD8(repeating: word))
    }

    @inline(__always)
    static func ^ (left: WidePlane, right: WidePlane) -> WidePlane {
        WidePlane(left.bits .^ right.bits)
    }

    @inline(__always)
    static func & (left: WidePlane, right: WidePlane) -> WidePlane {
        WidePlane(left.bits .& right.bits)
    }

    @inline(__always)
    func shiftedRight(by count: UInt32) -> WidePlane {
        WidePlane(words: words &>> SIMD8(repeating: count))
    }

    @inline(__always)
    func shiftedLeft(by count: UInt32) -> WidePlane {
        WidePlane(words: words &* SIMD8(repeating: 1 << count))
    }

    @inline(__always)
    func lanesRotated(by count: Int) -> WidePlane {
        let w = words
        return switch count & 3 {
        case 1: WidePlane(words: SIMD8(w[1], w[2], w[3], w[0], w[5], w[6], w[7], w[4]))
        case 2: WidePlane(words: SIMD8(w[2], w[3], w[0], w[1], w[6], w[7], w[4], w[5]))
        case 3: WidePlane(words: SIMD8(w[3], w[0], w[1], w[2], w[7], w[4], w[5], w[6]))
        default: self
        }
    }
}

/// The eight bits of many bytes at once, as elements of GF(2⁸).
struct PlaneByte<Vector: PlaneVector> {
    var b0, b1, b2, b3, b4, b5, b6, b7: Vector

    @inline(__always)
    init(
        b0: Vector, b1: Vector, b2: Vector, b3: Vector, b4: Vector, b5: Vector, b6: Vector, b7: Vector
    ) {
        (self.b0, self.b1, self.b2, self.b3) = (b0, b1, b2, b3)
        (self.b4, self.b5, self.b6, self.b7) = (b4, b5, b6, b7)
    }

    /// Reads eight planes, the lowest bit first.
    @inline(__always)
    init(_ planes: UnsafePointer<Vector>) {
        self.init(
            b0: planes[0], b1: planes[1], b2: planes[2], b3: planes[3], b4: planes[4], b5: planes[5], b6: planes[6],
            b7: planes[7])
    }

    /// Reads eight planes of a round key, the lowest bit first.
    @inline(__always)
    init(roundKey planes: UnsafePointer<Plane>) {
        self.init(
            b0: Vector(planes[0]), b1: Vector(planes[1]), b2: Vector(planes[2]), b3: Vector(planes[3]),
            b4: Vector(planes[4]), b5: Vector(planes[5]), b6: Vector(planes[6]), b7: Vector(planes[7]))
    }

    @inline(__always)
    func store(to planes: UnsafeMutablePointer<Vector>) {
        (planes[0], planes[1], planes[2], planes[3]) = (b0, b1, b2, b3)
        (planes[4], planes[5], planes[6], planes[7]) = (b4, b5, b6, b7)
    }

    @inline(__always)
    func map(_ transform: (Vector) -> Vector) -> PlaneByte {
        PlaneByte(
            b0: transform(b0), b1: transform(b1), b2: transform(b2), b3: transform(b3), b4: transform(b4),
            b5: transform(b5), b6: transform(b6), b7: transform(b7))
    }

    @inline(__always)
    func lanesRotated(by count: Int) -> PlaneByte {
        map { $0.lanesRotated(by: count) }
    }

    @inline(__always)
    static func ^ (left: PlaneByte, right: PlaneByte) -> PlaneByte {
        PlaneByte(
            b0: left.b0 ^ right.b0, b1: left.b1 ^ right.b1, b2: left.b2 ^ right.b2, b3: left.b3 ^ right.b3,
            b4: left.b4 ^ right.b4, b5: left.b5 ^ right.b5, b6: left.b6 ^ right.b6, b7: left.b7 ^ right.b7)
    }

    /// {02} · b, modulo x⁸ + x⁴ + x³ + x + 1. Source: FIPS 197, section 4.2, equation (4.5).
    @inline(__always)
    var timesTwo: PlaneByte {
        PlaneByte(b0: b7, b1: b0 ^ b7, b2: b1, b3: b2 ^ b7, b4: b3 ^ b7, b5: b4, b6: b5, b7: b6)
    }

    /// {04} · b.
    @inline(__always)
    var timesFour: PlaneByte {
        let b67 = b6 ^ b7
        return PlaneByte(
            b0: b6, b1: b67, b2: b0 ^ b7, b3: b1 ^ b6, b4: b2 ^ b67, b5: b3 ^ b7, b6: b4, b7: b5)
    }
}

/// Exchanges of bits between planes, which make up transpositions.
enum BitTransposition {
    /// Exchanges bits of `a` under `mask`, shifted up by `distance`, with the bits of `b` under `mask`.
    @inline(__always)
    static func swapBits<Vector: PlaneVector>(
        _ a: inout Vector, _ b: inout Vector, distance: UInt32, mask: UInt32
    ) {
        let difference = (a.shiftedRight(by: distance) ^ b) & .repeating(mask)
        b = b ^ difference
        a = a ^ difference.shiftedLeft(by: distance)
    }

    /// Exchanges bit *i* of plane *j* with bit *j* of plane *i*, in each byte of each group of eight planes.
    @inline(__always)
    static func swapWithinBytes<Vector: PlaneVector>(_ planes: UnsafeMutablePointer<Vector>, groupCount: Int) {
        for group in 0..<groupCount {
            let planes = planes + 8 &* group
            var (a, b, c, d) = (planes[0], planes[1], planes[2], planes[3])
            var (e, f, g, h) = (planes[4], planes[5], planes[6], planes[7])
            swapBits(&a, &b, distance: 1, mask: 0x5555_5555)
            swapBits(&c, &d, distance: 1, mask: 0x5555_5555)
            swapBits(&e, &f, distance: 1, mask: 0x5555_5555)
            swapBits(&g, &h, distance: 1, mask: 0x5555_5555)
            swapBits(&a, &c, distance: 2, mask: 0x3333_3333)
            swapBits(&b, &d, distance: 2, mask: 0x3333_3333)
            swapBits(&e, &g, distance: 2, mask: 0x3333_3333)
            swapBits(&f, &h, distance: 2, mask: 0x3333_3333)
            swapBits(&a, &e, distance: 4, mask: 0x0f0f_0f0f)
            swapBits(&b, &f, distance: 4, mask: 0x0f0f_0f0f)
            swapBits(&c, &g, distance: 4, mask: 0x0f0f_0f0f)
            swapBits(&d, &h, distance: 4, mask: 0x0f0f_0f0f)
            (planes[0], planes[1], planes[2], planes[3]) = (a, b, c, d)
            (planes[4], planes[5], planes[6], planes[7]) = (e, f, g, h)
        }
    }
}
