/// 32 blocks as 32 planes: four state rows of eight bits each.
///
/// Plane 8 *r* + *b* has bit *b* of row *r*: its lane *c* is column *c*, and bit *k* of that lane is block *k*. So a
/// row shift moves lanes, all gates of MIXCOLUMNS() are between planes of equal lanes, and nothing is masked.
enum WideBatch: BitslicedBatch {
    static let blockCount = 32

    // In every lane, this transposes a matrix of 32 × 32 bits.
    static func pack(_ batch: UnsafeMutablePointer<Plane>) {
        BitTransposition.swapWithinBytes(batch, groupCount: 4)
        swapBytes(batch)
    }

    static func unpack(_ batch: UnsafeMutablePointer<Plane>) {
        swapBytes(batch)
        BitTransposition.swapWithinBytes(batch, groupCount: 4)
    }

    @inline(never)
    private static func swapBytes(_ batch: UnsafeMutablePointer<Plane>) {
        for bit in 0..<8 {
            let planes = batch + bit
            var (a, b, c, d) = (planes[0], planes[8], planes[16], planes[24])
            BitTransposition.swapBits(&a, &b, distance: 8, mask: 0x00ff_00ff)
            BitTransposition.swapBits(&c, &d, distance: 8, mask: 0x00ff_00ff)
            BitTransposition.swapBits(&a, &c, distance: 16, mask: 0x0000_ffff)
            BitTransposition.swapBits(&b, &d, distance: 16, mask: 0x0000_ffff)
            (planes[0], planes[8], planes[16], planes[24]) = (a, b, c, d)
        }
    }

    @inline(never)
    static func addRoundKey(_ key: UnsafePointer<Plane>, to batch: UnsafeMutablePointer<Plane>) {
        for index in 0..<blockCount { batch[index] = batch[index] ^ key[index] }
    }

    @inline(never)
    static func shiftRows(_ batch: UnsafeMutablePointer<Plane>) {
        for row in 1..<4 { PlaneByte(batch + 8 * row).lanesRotated(by: row).store(to: batch + 8 * row) }
    }

    @inline(never)
    static func invShiftRows(_ batch: UnsafeMutablePointer<Plane>) {
        for row in 1..<4 { PlaneByte(batch + 8 * row).lanesRotated(by: -row).store(to: batch + 8 * row) }
    }

    static func subBytes(_ batch: UnsafeMutablePointer<Plane>) {
        for row in 0..<4 { SubstitutionCircuits.subBytes(batch + 8 * row) }
    }

    static func invSubBytes(_ batch: UnsafeMutablePointer<Plane>, addingRoundKey key: UnsafePointer<Plane>) {
        for row in 0..<4 { SubstitutionCircuits.invSubBytes(batch + 8 * row, addingRoundKey: key + 8 * row) }
    }

    @inline(never)
    static func mixColumns(
        _ batch: UnsafeMutablePointer<Plane>, addingRoundKeyAndShiftingRows key: UnsafePointer<Plane>
    ) {
        // {03}·s = {02}·s ⊕ s, so {02}·s0 ⊕ {03}·s1 = {02}·(s0 ⊕ s1) ⊕ s1.
        let (s0, s1, s2, s3) = rows(batch)
        let (s01, s12, s23, s30) = (s0 ^ s1, s1 ^ s2, s2 ^ s3, s3 ^ s0)
        (s01.timesTwo ^ s1 ^ s23 ^ PlaneByte(key)).store(to: batch)
        (s12.timesTwo ^ s0 ^ s23 ^ PlaneByte(key + 8)).lanesRotated(by: 1).store(to: batch + 8)
        (s23.timesTwo ^ s3 ^ s01 ^ PlaneByte(key + 16)).lanesRotated(by: 2).store(to: batch + 16)
        (s30.timesTwo ^ s2 ^ s01 ^ PlaneByte(key + 24)).lanesRotated(by: 3).store(to: batch + 24)
    }

    @inline(never)
    static func invMixColumnsShiftingRows(_ batch: UnsafeMutablePointer<Plane>) {
        // With {0e} = {02} ⊕ {0c}, {0b} = {03} ⊕ {08}, {0d} = {01} ⊕ {0c}, {09} = {01} ⊕ {08}, the product is
        // MIXCOLUMNS() of the column after {04}·(s0 ⊕ s2) is added to s0 and s2, {04}·(s1 ⊕ s3) to s1 and s3.
        var (s0, s1, s2, s3) = rows(batch)
        let (even, odd) = ((s0 ^ s2).timesFour, (s1 ^ s3).timesFour)
        (s0, s1, s2, s3) = (s0 ^ even, s1 ^ odd, s2 ^ even, s3 ^ odd)
        // Each row is stored as soon as it is there: sixteen registers hold no more.
        let (s01, s12, s23, s30) = (s0 ^ s1, s1 ^ s2, s2 ^ s3, s3 ^ s0)
        (s01.timesTwo ^ s1 ^ s23).store(to: batch)
        (s12.timesTwo ^ s0 ^ s23).lanesRotated(by: -1).store(to: batch + 8)
        (s23.timesTwo ^ s3 ^ s01).lanesRotated(by: -2).store(to: batch + 16)
        (s30.timesTwo ^ s2 ^ s01).lanesRotated(by: -3).store(to: batch + 24)
    }

    @inline(__always)
    private static func rows(_ batch: UnsafePointer<Plane>) -> (PlaneByte, PlaneByte, PlaneByte, PlaneByte) {
        (PlaneByte(batch), PlaneByte(batch + 8), PlaneByte(batch + 16), PlaneByte(batch + 24))
    }
}
