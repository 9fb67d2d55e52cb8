/// A number of blocks as bit planes, and the steps of a round on all of them at once.
///
/// The caller owns the memory of a batch. Row shifts are applied when their input is stored, at the end of the round
/// before. Round keys are planes of 128 bits at each width. All steps are inlined into their caller, and so compiled
/// for the caller's vectors; see ``BatchTask``.
protocol BitslicedBatch {
    /// The type of a plane.
    associatedtype Vector: PlaneVector

    /// The number of planes of a batch, and of a round key.
    static var planeCount: Int { get }

    /// Turns blocks into planes.
    static func pack(_ batch: UnsafeMutablePointer<Vector>)

    /// Turns planes into blocks.
    static func unpack(_ batch: UnsafeMutablePointer<Vector>)

    /// ADDROUNDKEY(). Source: FIPS 197, section 5.1.4.
    static func addRoundKey(_ key: UnsafePointer<Plane>, to batch: UnsafeMutablePointer<Vector>)

    /// SHIFTROWS(): row r moves r columns to the left. Source: FIPS 197, section 5.1.2, equation (5.5).
    static func shiftRows(_ batch: UnsafeMutablePointer<Vector>)

    /// INVSHIFTROWS(): row r moves r columns to the right. Source: FIPS 197, section 5.3.1, equation (5.12).
    static func invShiftRows(_ batch: UnsafeMutablePointer<Vector>)

    /// SUBBYTES() ⊕ {63}. Source: FIPS 197, section 5.1.1.
    static func subBytes(_ batch: UnsafeMutablePointer<Vector>)

    /// INVSUBBYTES() of the bytes ⊕ {63}, then ADDROUNDKEY(). Source: FIPS 197, section 5.3.2.
    static func invSubBytes(_ batch: UnsafeMutablePointer<Vector>, addingRoundKey key: UnsafePointer<Plane>)

    /// MIXCOLUMNS(), ADDROUNDKEY(), and the next round's SHIFTROWS(). Source: FIPS 197, section 5.1.3, equation (5.8).
    static func mixColumns(
        _ batch: UnsafeMutablePointer<Vector>, addingRoundKeyAndShiftingRows key: UnsafePointer<Plane>)

    /// INVMIXCOLUMNS(), and the next round's INVSHIFTROWS(). Source: FIPS 197, section 5.3.3, equation (5.15).
    static func invMixColumnsShiftingRows(_ batch: UnsafeMutablePointer<Vector>)
}

extension BitslicedBatch {
    /// CIPHER() of all blocks, in place. Source: FIPS 197, section 5.1, algorithm 1.
    ///
    /// `keys` has as many planes as a batch per round, and once more; see ``BitslicedKeyExpansion``.
    @inline(__always)
    static func encrypt(_ batch: UnsafeMutablePointer<Vector>, keys: UnsafePointer<Plane>, roundCount: Int) {
        pack(batch)
        addRoundKey(keys, to: batch)
        shiftRows(batch)
        for round in 1..<roundCount {
            subBytes(batch)
            mixColumns(batch, addingRoundKeyAndShiftingRows: keys + planeCount &* round)
        }
        subBytes(batch)
        addRoundKey(keys + planeCount &* roundCount, to: batch)
        unpack(batch)
    }

    /// INVCIPHER() of all blocks, in place. Source: FIPS 197, section 5.3, algorithm 3.
    ///
    /// `keys` has as many planes as a batch per round, and once more; see ``BitslicedKeyExpansion``.
    @inline(__always)
    static func decrypt(_ batch: UnsafeMutablePointer<Vector>, keys: UnsafePointer<Plane>, roundCount: Int) {
        pack(batch)
        addRoundKey(keys + planeCount &* roundCount, to: batch)
        invShiftRows(batch)
        for round in (1..<roundCount).reversed() {
            invSubBytes(batch, addingRoundKey: keys + planeCount &* round)
            invMixColumnsShiftingRows(batch)
        }
        invSubBytes(batch, addingRoundKey: keys)
        unpack(batch)
    }
}

/// Eight blocks as eight planes, one per bit: a third of a wide batch's work, for input that fills less than one.
///
/// Plane *b* has bit *b* of all bytes: its lane *r* is row *r*, byte *c* of that lane is column *c*, and bit *k* of
/// that byte is block *k*. So MIXCOLUMNS() moves lanes, and a row shift moves bytes within them.
enum NarrowBatch: BitslicedBatch {
    /// The number of blocks.
    static let blockCount = 8

    @inline(__always)
    static var planeCount: Int { 8 }

    @inline(__always)
    static func pack(_ batch: UnsafeMutablePointer<Plane>) {
        BitTransposition.swapWithinBytes(batch, groupCount: 1)
        transposeBytes(batch)
    }

    @inline(__always)
    static func unpack(_ batch: UnsafeMutablePointer<Plane>) {
        transposeBytes(batch)
        BitTransposition.swapWithinBytes(batch, groupCount: 1)
    }

    /// Exchanges rows and columns.
    @inline(__always)
    private static func transposeBytes(_ batch: UnsafeMutablePointer<Plane>) {
        PlaneByte(batch).map { $0.bytesTransposed }.store(to: batch)
    }

    @inline(__always)
    static func addRoundKey(_ key: UnsafePointer<Plane>, to batch: UnsafeMutablePointer<Plane>) {
        (PlaneByte(batch) ^ PlaneByte(roundKey: key)).store(to: batch)
    }

    @inline(__always)
    static func shiftRows(_ batch: UnsafeMutablePointer<Plane>) {
        PlaneByte(batch).map { $0.lanesRotatedDown }.store(to: batch)
    }

    @inline(__always)
    static func invShiftRows(_ batch: UnsafeMutablePointer<Plane>) {
        PlaneByte(batch).map { $0.lanesRotatedUp }.store(to: batch)
    }

    @inline(__always)
    static func subBytes(_ batch: UnsafeMutablePointer<Plane>) {
        SubstitutionCircuits.subBytes(batch)
    }

    @inline(__always)
    static func invSubBytes(_ batch: UnsafeMutablePointer<Plane>, addingRoundKey key: UnsafePointer<Plane>) {
        SubstitutionCircuits.invSubBytes(batch, addingRoundKey: key)
    }

    @inline(__always)
    static func mixColumns(
        _ batch: UnsafeMutablePointer<Plane>, addingRoundKeyAndShiftingRows key: UnsafePointer<Plane>
    ) {
        (mixed(PlaneByte(batch)) ^ PlaneByte(roundKey: key)).map { $0.lanesRotatedDown }.store(to: batch)
    }

    @inline(__always)
    static func invMixColumnsShiftingRows(_ batch: UnsafeMutablePointer<Plane>) {
        // As in a wide batch: MIXCOLUMNS() after {04}·(sᵣ ⊕ sᵣ₊₂) is added to each row r.
        let s = PlaneByte(batch)
        mixed(s ^ (s ^ s.lanesRotated(by: 2)).timesFour).map { $0.lanesRotatedUp }.store(to: batch)
    }

    /// {02}·(sᵣ ⊕ sᵣ₊₁) ⊕ sᵣ₊₁ ⊕ sᵣ₊₂ ⊕ sᵣ₊₃ in each row r.
    @inline(__always)
    private static func mixed(_ s: PlaneByte<Plane>) -> PlaneByte<Plane> {
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

/// 32 blocks per four lanes, as 32 planes: four state rows of eight bits each.
///
/// Plane 8 *r* + *b* has bit *b* of row *r*. Its lane *c* is column *c*, and bit *k* of that lane is block *k*. With 64
/// blocks, bit *k* of lane *c* is block 2 *k*, and bit *k* of lane 4 + *c* is block 2 *k* + 1. So a row shift moves
/// lanes, all gates of MIXCOLUMNS() connect equal lanes, and nothing is masked.
enum WideBatch<Vector: PlaneVector>: BitslicedBatch {
    /// The number of blocks: 32 or 64.
    static var blockCount: Int { 8 * MemoryLayout<Vector>.size / 4 }

    @inline(__always)
    static var planeCount: Int { 32 }

    // In every lane, this transposes a matrix of 32 × 32 bits.
    @inline(__always)
    static func pack(_ batch: UnsafeMutablePointer<Vector>) {
        BitTransposition.swapWithinBytes(batch, groupCount: 4)
        swapBytes(batch)
    }

    @inline(__always)
    static func unpack(_ batch: UnsafeMutablePointer<Vector>) {
        swapBytes(batch)
        BitTransposition.swapWithinBytes(batch, groupCount: 4)
    }

    @inline(__always)
    private static func swapBytes(_ batch: UnsafeMutablePointer<Vector>) {
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

    @inline(__always)
    static func addRoundKey(_ key: UnsafePointer<Plane>, to batch: UnsafeMutablePointer<Vector>) {
        for index in 0..<planeCount { batch[index] = batch[index] ^ Vector(key[index]) }
    }

    @inline(__always)
    static func shiftRows(_ batch: UnsafeMutablePointer<Vector>) {
        for row in 1..<4 { PlaneByte(batch + 8 * row).lanesRotated(by: row).store(to: batch + 8 * row) }
    }

    @inline(__always)
    static func invShiftRows(_ batch: UnsafeMutablePointer<Vector>) {
        for row in 1..<4 { PlaneByte(batch + 8 * row).lanesRotated(by: -row).store(to: batch + 8 * row) }
    }

    @inline(__always)
    static func subBytes(_ batch: UnsafeMutablePointer<Vector>) {
        for row in 0..<4 { SubstitutionCircuits.subBytes(batch + 8 * row) }
    }

    @inline(__always)
    static func invSubBytes(_ batch: UnsafeMutablePointer<Vector>, addingRoundKey key: UnsafePointer<Plane>) {
        for row in 0..<4 { SubstitutionCircuits.invSubBytes(batch + 8 * row, addingRoundKey: key + 8 * row) }
    }

    @inline(__always)
    static func mixColumns(
        _ batch: UnsafeMutablePointer<Vector>, addingRoundKeyAndShiftingRows key: UnsafePointer<Plane>
    ) {
        // {03}·s = {02}·s ⊕ s, so {02}·s0 ⊕ {03}·s1 = {02}·(s0 ⊕ s1) ⊕ s1.
        let (s0, s1, s2, s3) = rows(batch)
        let (s01, s12, s23, s30) = (s0 ^ s1, s1 ^ s2, s2 ^ s3, s3 ^ s0)
        (s01.timesTwo ^ s1 ^ s23 ^ PlaneByte(roundKey: key)).store(to: batch)
        (s12.timesTwo ^ s0 ^ s23 ^ PlaneByte(roundKey: key + 8)).lanesRotated(by: 1).store(to: batch + 8)
        (s23.timesTwo ^ s3 ^ s01 ^ PlaneByte(roundKey: key + 16)).lanesRotated(by: 2).store(to: batch + 16)
        (s30.timesTwo ^ s2 ^ s01 ^ PlaneByte(roundKey: key + 24)).lanesRotated(by: 3).store(to: batch + 24)
    }

    @inline(__always)
    static func invMixColumnsShiftingRows(_ batch: UnsafeMutablePointer<Vector>) {
        // With {0e} = {02} ⊕ {0c}, {0b} = {03} ⊕ {08}, {0d} = {01} ⊕ {0c}, {09} = {01} ⊕ {08}, the product is
        // MIXCOLUMNS() of the column after {04}·(s0 ⊕ s2) is added to s0 and s2, {04}·(s1 ⊕ s3) to s1 and s3.
        var (s0, s1, s2, s3) = rows(batch)
        let (even, odd) = ((s0 ^ s2).timesFour, (s1 ^ s3).timesFour)
        (s0, s1, s2, s3) = (s0 ^ even, s1 ^ odd, s2 ^ even, s3 ^ odd)
        // Each row is stored as soon as it is complete: sixteen registers hold no more.
        let (s01, s12, s23, s30) = (s0 ^ s1, s1 ^ s2, s2 ^ s3, s3 ^ s0)
        (s01.timesTwo ^ s1 ^ s23).store(to: batch)
        (s12.timesTwo ^ s0 ^ s23).lanesRotated(by: -1).store(to: batch + 8)
        (s23.timesTwo ^ s3 ^ s01).lanesRotated(by: -2).store(to: batch + 16)
        (s30.timesTwo ^ s2 ^ s01).lanesRotated(by: -3).store(to: batch + 24)
    }

    private typealias Rows = (PlaneByte<Vector>, PlaneByte<Vector>, PlaneByte<Vector>, PlaneByte<Vector>)

    @inline(__always)
    private static func rows(_ batch: UnsafePointer<Vector>) -> Rows {
        (PlaneByte(batch), PlaneByte(batch + 8), PlaneByte(batch + 16), PlaneByte(batch + 24))
    }
}
