/// The part that SUBBYTES() and INVSUBBYTES() share: a byte's inverse in GF(2⁸), built over GF(2⁴).
///
/// The byte enters as linear forms of its bits and leaves as products, of which other linear forms make the bits of the
/// result; these forms differ between the two boxes, the 62 gates here do not.
///
/// - Source: Boyar and Peralta, "A New Combinational Logic Minimization Technique with Applications to Cryptology"
///   (SEA 2010), the circuit of 115 gates; Canright, "A Very Compact S-Box for AES" (CHES 2005), for its fields.
struct FieldInversion {
    /// The nine products `a` · `b` make the norm, together with `c`, which is linear; `b` and then `a` are multiplied
    /// by the norm's inverse.
    var a0, a1, a2, a3, a4, a5, a6, a7, a8: Plane
    var b0, b1, b2, b3, b4, b5, b6, b7, b8: Plane
    var c0, c1, c2, c3: Plane

    /// The multiples of `b0` to `b8`, then those of `a0` to `a8`.
    struct Products {
        var z0, z1, z2, z3, z4, z5, z6, z7, z8, z9, z10, z11, z12, z13, z14, z15, z16, z17: Plane
    }

    @inline(__always)
    var products: Products {
        let (n0, n1, n2, n3) = inverseOfNorm
        let n01 = n0 ^ n1
        let n23 = n2 ^ n3
        let n03 = n0 ^ n3
        let n12 = n1 ^ n2
        let all = n01 ^ n23
        return Products(
            z0: n12 & b0, z1: n2 & b1, z2: n1 & b2, z3: n03 & b3, z4: n3 & b4, z5: n0 & b5, z6: n01 & b6,
            z7: all & b7, z8: n23 & b8, z9: n12 & a0, z10: n2 & a1, z11: n1 & a2, z12: n03 & a3, z13: n3 & a4,
            z14: n0 & a5, z15: n01 & a6, z16: all & a7, z17: n23 & a8)
    }

    /// The norm to GF(2⁴), inverted there.
    @inline(__always)
    private var inverseOfNorm: (Plane, Plane, Plane, Plane) {
        let p0 = a0 & b0
        let p3 = a3 & b3
        let p6 = a6 & b6
        let p67 = (a7 & b7) ^ p6
        let p68 = (a8 & b8) ^ p6
        let d0 = (a1 & b1) ^ p0 ^ p67 ^ c0
        let d1 = (a2 & b2) ^ p0 ^ p68 ^ c1
        let d2 = (a4 & b4) ^ p3 ^ p67 ^ c2
        let d3 = (a5 & b5) ^ p3 ^ p68 ^ c3
        let d01 = d0 ^ d1
        let d02 = d0 & d2
        let e3 = d3 ^ d02
        let n0 = (d01 & e3) ^ d1
        let n1 = ((d1 ^ d02) & (d2 ^ d3)) ^ d3
        let e1 = d3 & (e3 ^ n1)
        let n2 = e1 ^ d2 ^ n1
        let n3 = d01 ^ (n0 & (e3 ^ e1))
        return (n0, n1, n2, n3)
    }
}
