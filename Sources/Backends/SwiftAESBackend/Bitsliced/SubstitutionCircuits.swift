/// The S-box and its inverse as gates on bit planes: no table, no branch, so no timing depends on the bytes.
///
/// The constant {63} of the affine transformation is left out of both boxes: whoever prepares the round keys adds it
/// there, since SHIFTROWS() and MIXCOLUMNS() leave a state of equal bytes as it is.
enum SubstitutionCircuits {
    /// SUBBYTES() ⊕ {63} on eight planes, the lowest bit first. 115 gates.
    ///
    /// - Source: Boyar and Peralta, "A New Combinational Logic Minimization Technique with Applications to Cryptology"
    ///   (SEA 2010), the circuit of 115 gates.
    @inline(never)
    static func subBytes(_ planes: UnsafeMutablePointer<Plane>) {
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
            a0: y12, a1: y3, a2: y4, a3: y13, a4: y5, a5: y2, a6: y9, a7: y14, a8: y8,
            b0: y15, b1: y6, b2: x7, b3: y16, b4: y1, b5: y7, b6: y11, b7: y17, b8: y10,
            c0: y20, c1: y19, c2: y21, c3: y18
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
}
