/// Exchanges of bits between planes, of which transpositions consist.
enum BitTransposition {
    /// Exchanges the bits of `a` that are `distance` above those of `mask` with the bits of `b` under `mask`.
    @inline(__always)
    static func swapBits(_ a: inout Plane, _ b: inout Plane, distance: UInt32, mask: UInt32) {
        let difference = (a.shiftedRight(by: distance) ^ b) & .repeating(mask)
        b = b ^ difference
        a = a ^ difference.shiftedLeft(by: distance)
    }

    /// In each byte place of each group of eight planes, exchanges bit *i* of plane *j* with bit *j* of plane *i*.
    @inline(never)
    static func swapWithinBytes(_ planes: UnsafeMutablePointer<Plane>, groupCount: Int) {
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
