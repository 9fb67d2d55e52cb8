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
