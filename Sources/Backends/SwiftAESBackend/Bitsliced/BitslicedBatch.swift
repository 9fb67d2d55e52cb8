/// A number of blocks as bit planes, and the steps of a round on all of them at once.
///
/// A batch is so many planes as it has blocks, in memory that the caller owns. Row shifts are done where their input is
/// stored: at the end of the round before.
protocol BitslicedBatch {
    /// The number of blocks, and of planes.
    static var blockCount: Int { get }

    /// Turns blocks into planes.
    static func pack(_ batch: UnsafeMutablePointer<Plane>)

    /// Turns planes into blocks.
    static func unpack(_ batch: UnsafeMutablePointer<Plane>)

    /// ADDROUNDKEY(). Source: FIPS 197, section 5.1.4.
    static func addRoundKey(_ key: UnsafePointer<Plane>, to batch: UnsafeMutablePointer<Plane>)

    /// SHIFTROWS(): row r moves r columns to the left. Source: FIPS 197, section 5.1.2, equation (5.5).
    static func shiftRows(_ batch: UnsafeMutablePointer<Plane>)

    /// INVSHIFTROWS(): row r moves r columns to the right. Source: FIPS 197, section 5.3.1, equation (5.12).
    static func invShiftRows(_ batch: UnsafeMutablePointer<Plane>)

    /// SUBBYTES() ⊕ {63}. Source: FIPS 197, section 5.1.1.
    static func subBytes(_ batch: UnsafeMutablePointer<Plane>)

    /// INVSUBBYTES() of the bytes ⊕ {63}, then ADDROUNDKEY(). Source: FIPS 197, section 5.3.2.
    static func invSubBytes(_ batch: UnsafeMutablePointer<Plane>, addingRoundKey key: UnsafePointer<Plane>)

    /// MIXCOLUMNS(), ADDROUNDKEY(), and the next round's SHIFTROWS(). Source: FIPS 197, section 5.1.3, equation (5.8).
    static func mixColumns(
        _ batch: UnsafeMutablePointer<Plane>, addingRoundKeyAndShiftingRows key: UnsafePointer<Plane>)

    /// INVMIXCOLUMNS(), and the next round's INVSHIFTROWS(). Source: FIPS 197, section 5.3.3, equation (5.15).
    static func invMixColumnsShiftingRows(_ batch: UnsafeMutablePointer<Plane>)
}

extension BitslicedBatch {
    /// CIPHER() of all blocks, in place. Source: FIPS 197, section 5.1, algorithm 1.
    ///
    /// `keys` has a batch of planes for each round and one more; see ``BitslicedKeyExpansion``.
    static func encrypt(_ batch: UnsafeMutablePointer<Plane>, keys: UnsafePointer<Plane>, roundCount: Int) {
        pack(batch)
        addRoundKey(keys, to: batch)
        shiftRows(batch)
        for round in 1..<roundCount {
            subBytes(batch)
            mixColumns(batch, addingRoundKeyAndShiftingRows: keys + blockCount * round)
        }
        subBytes(batch)
        addRoundKey(keys + blockCount * roundCount, to: batch)
        unpack(batch)
    }

    /// INVCIPHER() of all blocks, in place. Source: FIPS 197, section 5.3, algorithm 3.
    ///
    /// `keys` has a batch of planes for each round and one more; see ``BitslicedKeyExpansion``.
    static func decrypt(_ batch: UnsafeMutablePointer<Plane>, keys: UnsafePointer<Plane>, roundCount: Int) {
        pack(batch)
        addRoundKey(keys + blockCount * roundCount, to: batch)
        invShiftRows(batch)
        for round in (1..<roundCount).reversed() {
            invSubBytes(batch, addingRoundKey: keys + blockCount * round)
            invMixColumnsShiftingRows(batch)
        }
        invSubBytes(batch, addingRoundKey: keys)
        unpack(batch)
    }
}

/// Eight blocks as eight planes, one for each bit: a third of a wide batch's work, for what fills less than one.
///
/// Plane *b* has bit *b* of all bytes: its lane *r* is row *r*, byte *c* of that lane is column *c*, and bit *k* of
/// that byte is block *k*. So MIXCOLUMNS() moves lanes, and a row shift moves bytes within them.
enum NarrowBatch: BitslicedBatch {
    static let blockCount = 8

    static func pack(_ batch: UnsafeMutablePointer<Plane>) {
        BitTransposition.swapWithinBytes(batch, groupCount: 1)
        transposeBytes(batch)
    }

    static func unpack(_ batch: UnsafeMutablePointer<Plane>) {
        transposeBytes(batch)
        BitTransposition.swapWithinBytes(batch, groupCount: 1)
    }

    /// Exchanges rows and columns.
    @inline(never)
    private static func transposeBytes(_ batch: UnsafeMutablePointer<Plane>) {
        PlaneByte(batch).map(\.bytesTransposed).store(to: batch)
    }

    @inline(never)
    static func addRoundKey(_ key: UnsafePointer<Plane>, to batch: UnsafeMutablePointer<Plane>) {
        (PlaneByte(batch) ^ PlaneByte(key)).store(to: batch)
    }

    @inline(never)
    static func shiftRows(_ batch: UnsafeMutablePointer<Plane>) {
        PlaneByte(batch).map(\.lanesRotatedDown).store(to: batch)
    }

    @inline(never)
    static func invShiftRows(_ batch: UnsafeMutablePointer<Plane>) {
        PlaneByte(batch).map(\.lanesRotatedUp).store(to: batch)
    }

    static func subBytes(_ batch: UnsafeMutablePointer<Plane>) {
        SubstitutionCircuits.subBytes(batch)
    }

    static func invSubBytes(_ batch: UnsafeMutablePointer<Plane>, addingRoundKey key: UnsafePointer<Plane>) {
        SubstitutionCircuits.invSubBytes(batch, addingRoundKey: key)
    }

    @inline(never)
    static func mixColumns(
        _ batch: UnsafeMutablePointer<Plane>, addingRoundKeyAndShiftingRows key: UnsafePointer<Plane>
    ) {
        (mixed(PlaneByte(batch)) ^ PlaneByte(key)).map(\.lanesRotatedDown).store(to: batch)
    }

    @inline(never)
    static func invMixColumnsShiftingRows(_ batch: UnsafeMutablePointer<Plane>) {
        // As in a wide batch: MIXCOLUMNS() after {04}·(sᵣ ⊕ sᵣ₊₂) is added to each row r.
        let s = PlaneByte(batch)
        mixed(s ^ (s ^ s.lanesRotated(by: 2)).timesFour).map(\.lanesRotatedUp).store(to: batch)
    }

    /// {02}·(sᵣ ⊕ sᵣ₊₁) ⊕ sᵣ₊₁ ⊕ sᵣ₊₂ ⊕ sᵣ₊₃ in each row r.
    @inline(__always)
    private static func mixed(_ s: PlaneByte) -> PlaneByte {
        let next = s.lanesRotated(by: 1)
        let sum = s ^ next
        return sum.timesTwo ^ next ^ sum.lanesRotated(by: 2)
    }
}

extension Plane {
    /// Byte *c* of lane *r* is byte *r* of lane *c* of this plane.
    @inline(__always)
    fileprivate var bytesTransposed: Plane {
        let b = bytes
        return Plane(
            bytes: SIMD16(
                b[0], b[4], b[8], b[12], b[1], b[5], b[9], b[13], b[2], b[6], b[10], b[14], b[3], b[7], b[11], b[15]))
    }

    /// Byte *c* of lane *r* is byte *c* + *r* modulo 4 of this plane's.
    @inline(__always)
    fileprivate var lanesRotatedDown: Plane {
        let b = bytes
        return Plane(
            bytes: SIMD16(
                b[0], b[1], b[2], b[3], b[5], b[6], b[7], b[4], b[10], b[11], b[8], b[9], b[15], b[12], b[13], b[14]))
    }

    /// Byte *c* of lane *r* is byte *c* − *r* modulo 4 of this plane's.
    @inline(__always)
    fileprivate var lanesRotatedUp: Plane {
        let b = bytes
        return Plane(
            bytes: SIMD16(
                b[0], b[1], b[2], b[3], b[7], b[4], b[5], b[6], b[10], b[11], b[8], b[9], b[13], b[14], b[15], b[12]))
    }
}

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
