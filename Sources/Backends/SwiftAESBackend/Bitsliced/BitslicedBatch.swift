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
