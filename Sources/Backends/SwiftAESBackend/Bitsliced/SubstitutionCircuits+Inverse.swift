extension SubstitutionCircuits {
    /// INVSUBBYTES() of the byte ⊕ {63}, then ADDROUNDKEY(), on eight planes, the lowest bit first.
    ///
    /// 126 gates and the key's eight.
    ///
    /// - Source: Boyar and Peralta, "A Small Depth-16 Circuit for the AES S-Box" (SEC 2012), the linear layers of
    ///   the inverse, whose XNOR gates the {63} makes XOR gates.
    @inline(never)
    static func invSubBytes(_ planes: UnsafeMutablePointer<Plane>, addingRoundKey key: UnsafePointer<Plane>) {
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
            a0: t13, a1: t23, a2: t19, a3: t3, a4: t22, a5: t20, a6: t1, a7: t4, a8: t2,
            b0: t6, b1: t8, b2: y5, b3: t16, b4: t9, b5: t17, b6: t15, b7: t27, b8: t10,
            c0: t14, c1: t24, c2: t26, c3: t25
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
        planes[7] = p13 ^ p22 ^ key[7]
        planes[6] = p26 ^ p29 ^ key[6]
        planes[5] = p17 ^ p28 ^ key[5]
        planes[4] = p12 ^ p22 ^ key[4]
        planes[3] = p23 ^ p27 ^ key[3]
        planes[2] = p19 ^ p24 ^ key[2]
        planes[1] = p14 ^ p23 ^ key[1]
        planes[0] = p9 ^ p16 ^ key[0]
    }
}
