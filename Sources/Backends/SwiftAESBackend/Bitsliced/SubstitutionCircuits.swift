/// The S-box and its inverse as gates on bit planes: no table, no branch, so no timing depends on the bytes.
///
/// Both boxes omit the constant {63} of the affine transformation. The key schedule adds it instead, since SHIFTROWS()
/// and MIXCOLUMNS() do not change a state of equal bytes.
enum SubstitutionCircuits {
    /// SUBBYTES() ⊕ {63} on eight planes, the lowest bit first. 115 gates.
    ///
    /// - Source: Boyar and Peralta, "A New Combinational Logic Minimization Technique with Applications to Cryptology"
    ///   (SEA 2010), the circuit of 115 gates.
    @inline(__always)
    static func subBytes<Vector: PlaneVector>(_ planes: UnsafeMutablePointer<Vector>) {
        let x0 = planes[7]
        let x1 = planes[6]
        let x2 = planes[5]
        let x3 = planes[4]
        let x4 = planes[3]
        let x5 = planes[2]
        let x6 = planes[1]
        let x7 = planes[0]
        let y14 = x3 ^ x5
        let y13 = x0 ^ x6
        let y9 = x0 ^ x3
        let y8 = x0 ^ x5
        let t0 = x1 ^ x2
        let y1 = t0 ^ x7
        let y4 = y1 ^ x3
        let y12 = y13 ^ y14
        let y2 = y1 ^ x0
        let y5 = y1 ^ x6
        let y3 = y5 ^ y8
        let t1 = x4 ^ y12
        let y15 = t1 ^ x5
        let y20 = t1 ^ x1
        let y6 = y15 ^ x7
        let y10 = y15 ^ t0
        let y11 = y20 ^ y9
        let y7 = x7 ^ y11
        let y17 = y10 ^ y11
        let y19 = y10 ^ y8
        let y16 = t0 ^ y11
        let y21 = y13 ^ y16
        let y18 = x0 ^ y16
        let z = FieldInversion(
            a: (y12, y3, y4, y13, y5, y2, y9, y14, y8),
            b: (y15, y6, x7, y16, y1, y7, y11, y17, y10),
            c: (y20, y19, y21, y18)
        ).products
        let t46 = z.z15 ^ z.z16
        let t47 = z.z10 ^ z.z11
        let t48 = z.z5 ^ z.z13
        let t49 = z.z9 ^ z.z10
        let t50 = z.z2 ^ z.z12
        let t51 = z.z2 ^ z.z5
        let t52 = z.z7 ^ z.z8
        let t53 = z.z0 ^ z.z3
        let t54 = z.z6 ^ z.z7
        let t55 = z.z16 ^ z.z17
        let t56 = z.z12 ^ t48
        let t57 = t50 ^ t53
        let t58 = z.z4 ^ t46
        let t59 = z.z3 ^ t54
        let t60 = t46 ^ t57
        let t61 = z.z14 ^ t57
        let t62 = t52 ^ t58
        let t63 = t49 ^ t58
        let t64 = z.z4 ^ t59
        let t65 = t61 ^ t62
        let t66 = z.z1 ^ t63
        let s0 = t59 ^ t63
        let s6 = t56 ^ t62
        let s7 = t48 ^ t60
        let t67 = t64 ^ t65
        let s3 = t53 ^ t66
        let s4 = t51 ^ t66
        let s5 = t47 ^ t65
        let s1 = t64 ^ s3
        let s2 = t55 ^ t67
        planes[7] = s0
        planes[6] = s1
        planes[5] = s2
        planes[4] = s3
        planes[3] = s4
        planes[2] = s5
        planes[1] = s6
        planes[0] = s7
    }

    /// INVSUBBYTES() of the byte ⊕ {63}, then ADDROUNDKEY(), on eight planes, the lowest bit first.
    ///
    /// 126 gates and the key's eight.
    ///
    /// - Source: Boyar and Peralta, "A Small Depth-16 Circuit for the AES S-Box" (SEC 2012), the linear layers of the
    ///   inverse, with XOR instead of XNOR gates because of the {63}.
    @inline(__always)
    static func invSubBytes<Vector: PlaneVector>(
        _ planes: UnsafeMutablePointer<Vector>, addingRoundKey key: UnsafePointer<Plane>
    ) {
        let u0 = planes[7]
        let u1 = planes[6]
        let u2 = planes[5]
        let u3 = planes[4]
        let u4 = planes[3]
        let u5 = planes[2]
        let u6 = planes[1]
        let u7 = planes[0]
        let t23 = u0 ^ u3
        let t22 = u1 ^ u3
        let t2 = u0 ^ u1
        let t1 = u3 ^ u4
        let t24 = u4 ^ u7
        let r5 = u6 ^ u7
        let t8 = u1 ^ t23
        let t19 = t22 ^ r5
        let t9 = u7 ^ t1
        let t10 = t2 ^ t24
        let t13 = t2 ^ r5
        let t3 = t1 ^ r5
        let t25 = u2 ^ t1
        let r13 = u1 ^ u6
        let t17 = u2 ^ t19
        let t20 = t24 ^ r13
        let t4 = u4 ^ t8
        let r17 = u2 ^ u5
        let r18 = u5 ^ u6
        let r19 = u2 ^ u4
        let y5 = u0 ^ r17
        let t6 = t22 ^ r17
        let t16 = r13 ^ r19
        let t27 = t1 ^ r18
        let t15 = t10 ^ t27
        let t14 = t10 ^ r18
        let t26 = t3 ^ t16
        let z = FieldInversion(
            a: (t13, t23, t19, t3, t22, t20, t1, t4, t2),
            b: (t6, t8, y5, t16, t9, t17, t15, t27, t10),
            c: (t14, t24, t26, t25)
        ).products
        let p0 = z.z6 ^ z.z15
        let p1 = z.z12 ^ z.z13
        let p2 = z.z8 ^ z.z16
        let p3 = z.z1 ^ z.z4
        let p4 = z.z2 ^ z.z10
        let p5 = z.z0 ^ z.z5
        let p6 = z.z3 ^ z.z14
        let p7 = p0 ^ p1
        let p8 = z.z4 ^ z.z7
        let p9 = z.z9 ^ z.z17
        let p10 = z.z11 ^ p4
        let p11 = p0 ^ p3
        let p12 = z.z0 ^ z.z2
        let p13 = z.z3 ^ z.z5
        let p14 = z.z3 ^ z.z16
        let p15 = z.z8 ^ z.z13
        let p16 = z.z11 ^ z.z15
        let p17 = z.z12 ^ p2
        let p18 = z.z17 ^ p5
        let p19 = p2 ^ p3
        let p20 = p4 ^ p6
        let p22 = p2 ^ p7
        let p23 = p7 ^ p8
        let p24 = p5 ^ p7
        let p25 = p6 ^ p10
        let p26 = p9 ^ p11
        let p27 = p10 ^ p18
        let p28 = p11 ^ p25
        let p29 = p15 ^ p20
        planes[7] = p13 ^ p22 ^ Vector(key[7])
        planes[6] = p26 ^ p29 ^ Vector(key[6])
        planes[5] = p17 ^ p28 ^ Vector(key[5])
        planes[4] = p12 ^ p22 ^ Vector(key[4])
        planes[3] = p23 ^ p27 ^ Vector(key[3])
        planes[2] = p19 ^ p24 ^ Vector(key[2])
        planes[1] = p14 ^ p23 ^ Vector(key[1])
        planes[0] = p9 ^ p16 ^ Vector(key[0])
    }
}

/// The part that SUBBYTES() and INVSUBBYTES() share: a byte's inverse in GF(2⁸), built over GF(2⁴).
///
/// The input is linear forms of the byte's bits, and the output is products. Other linear forms turn the products into
/// the bits of the result. These forms differ between the two boxes; the 62 gates here are common.
///
/// - Source: Boyar and Peralta, "A New Combinational Logic Minimization Technique with Applications to Cryptology"
///   (SEA 2010), the circuit of 115 gates; Canright, "A Very Compact S-Box for AES" (CHES 2005), for its fields.
struct FieldInversion<Vector: PlaneVector> {
    /// The factors of the nine products `a` · `b`, which form the norm together with the linear part `c`. Later, `b`
    /// and then `a` are multiplied by the norm's inverse.
    private let a, b: Nine
    private let c: Four

    typealias Four = (Vector, Vector, Vector, Vector)
    typealias Nine = (Vector, Vector, Vector, Vector, Vector, Vector, Vector, Vector, Vector)

    @inline(__always)
    init(a: Nine, b: Nine, c: Four) {
        (self.a, self.b, self.c) = (a, b, c)
    }

    /// The multiples of `b`, then those of `a`.
    typealias Products = (
        z0: Vector, z1: Vector, z2: Vector, z3: Vector, z4: Vector, z5: Vector, z6: Vector, z7: Vector, z8: Vector,
        z9: Vector, z10: Vector, z11: Vector, z12: Vector, z13: Vector, z14: Vector, z15: Vector, z16: Vector,
        z17: Vector
    )

    @inline(__always)
    var products: Products {
        let (n0, n1, n2, n3) = inverseOfNorm
        let n01 = n0 ^ n1
        let n23 = n2 ^ n3
        let n03 = n0 ^ n3
        let n12 = n1 ^ n2
        let all = n01 ^ n23
        return (
            z0: n12 & b.0, z1: n2 & b.1, z2: n1 & b.2, z3: n03 & b.3, z4: n3 & b.4, z5: n0 & b.5, z6: n01 & b.6,
            z7: all & b.7, z8: n23 & b.8, z9: n12 & a.0, z10: n2 & a.1, z11: n1 & a.2, z12: n03 & a.3, z13: n3 & a.4,
            z14: n0 & a.5, z15: n01 & a.6, z16: all & a.7, z17: n23 & a.8
        )
    }

    /// The inverse of the norm to GF(2⁴).
    @inline(__always)
    private var inverseOfNorm: Four {
        let p0 = a.0 & b.0
        let p3 = a.3 & b.3
        let p6 = a.6 & b.6
        let p67 = (a.7 & b.7) ^ p6
        let p68 = (a.8 & b.8) ^ p6
        let d0 = (a.1 & b.1) ^ p0 ^ p67 ^ c.0
        let d1 = (a.2 & b.2) ^ p0 ^ p68 ^ c.1
        let d2 = (a.4 & b.4) ^ p3 ^ p67 ^ c.2
        let d3 = (a.5 & b.5) ^ p3 ^ p68 ^ c.3
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
