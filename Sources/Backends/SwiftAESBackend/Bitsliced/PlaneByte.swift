/// The eight bits of many bytes at once, as elements of GF(2⁸).
struct PlaneByte {
    var b0, b1, b2, b3, b4, b5, b6, b7: Plane

    @inline(__always)
    init(b0: Plane, b1: Plane, b2: Plane, b3: Plane, b4: Plane, b5: Plane, b6: Plane, b7: Plane) {
        (self.b0, self.b1, self.b2, self.b3) = (b0, b1, b2, b3)
        (self.b4, self.b5, self.b6, self.b7) = (b4, b5, b6, b7)
    }

    /// Reads eight planes, the lowest bit first.
    @inline(__always)
    init(_ planes: UnsafePointer<Plane>) {
        self.init(
            b0: planes[0], b1: planes[1], b2: planes[2], b3: planes[3], b4: planes[4], b5: planes[5], b6: planes[6],
            b7: planes[7])
    }

    @inline(__always)
    func store(to planes: UnsafeMutablePointer<Plane>) {
        (planes[0], planes[1], planes[2], planes[3]) = (b0, b1, b2, b3)
        (planes[4], planes[5], planes[6], planes[7]) = (b4, b5, b6, b7)
    }

    @inline(__always)
    func map(_ transform: (Plane) -> Plane) -> PlaneByte {
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
