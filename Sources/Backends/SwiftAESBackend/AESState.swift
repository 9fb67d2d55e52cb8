/// The 4 × 4 array of bytes that AES works on, and the steps of a round.
///
/// Byte *i* of a block is row *i* mod 4, column *i* div 4. Source: FIPS 197, section 3.4. The steps are written like the
/// standard's, one byte after another; table look-ups depend on secrets, so this is no implementation for secrets that
/// a neighbour could time.
struct AESState {
    /// s[r, c] is `bytes[r + 4 * c]`.
    var bytes: InlineArray<16, UInt8>

    /// SUBBYTES(). Source: section 5.1.1.
    @inline(__always)
    mutating func subBytes(_ boxes: SubstitutionBoxes) {
        for i in 0..<16 { bytes[i] = boxes.forward[Int(bytes[i])] }
    }

    /// SHIFTROWS(): row r moves r columns to the left. Source: section 5.1.2, equation (5.5).
    @inline(__always)
    mutating func shiftRows() {
        let s = bytes
        for r in 0..<4 {
            for c in 0..<4 { bytes[r + 4 * c] = s[r + 4 * ((c + r) & 3)] }
        }
    }

    /// MIXCOLUMNS(): each column times {02} {03} {01} {01}, rotated by rows. Source: section 5.1.3, equation (5.8).
    @inline(__always)
    mutating func mixColumns() {
        for c in 0..<4 {
            let (s0, s1, s2, s3) = (bytes[4 * c], bytes[4 * c + 1], bytes[4 * c + 2], bytes[4 * c + 3])
            // {03}·s = {02}·s ⊕ s, so {02}·s0 ⊕ {03}·s1 = {02}·(s0 ⊕ s1) ⊕ s1.
            bytes[4 * c] = GaloisField.xTimes(s0 ^ s1) ^ s1 ^ s2 ^ s3
            bytes[4 * c + 1] = GaloisField.xTimes(s1 ^ s2) ^ s2 ^ s3 ^ s0
            bytes[4 * c + 2] = GaloisField.xTimes(s2 ^ s3) ^ s3 ^ s0 ^ s1
            bytes[4 * c + 3] = GaloisField.xTimes(s3 ^ s0) ^ s0 ^ s1 ^ s2
        }
    }

    /// ADDROUNDKEY(), its own inverse. Source: sections 5.1.4 and 5.3.4.
    @inline(__always)
    mutating func addRoundKey(_ schedule: KeySchedule, round: Int) {
        for i in 0..<16 { bytes[i] ^= schedule.byte(i, ofRound: round) }
    }

    /// INVSHIFTROWS(): row r moves r columns to the right. Source: section 5.3.1, equation (5.12).
    @inline(__always)
    mutating func invShiftRows() {
        let s = bytes
        for r in 0..<4 {
            for c in 0..<4 { bytes[r + 4 * c] = s[r + 4 * ((c - r) & 3)] }
        }
    }

    /// INVSUBBYTES(). Source: section 5.3.2.
    @inline(__always)
    mutating func invSubBytes(_ boxes: SubstitutionBoxes) {
        for i in 0..<16 { bytes[i] = boxes.inverse[Int(bytes[i])] }
    }

    /// INVMIXCOLUMNS(): each column times {0e} {0b} {0d} {09}, rotated by rows. Source: section 5.3.3, equation (5.15).
    @inline(__always)
    mutating func invMixColumns() {
        for c in 0..<4 {
            let (s0, s1, s2, s3) = (bytes[4 * c], bytes[4 * c + 1], bytes[4 * c + 2], bytes[4 * c + 3])
            // With {0e} = {02} ⊕ {0c}, {0b} = {03} ⊕ {08}, {0d} = {01} ⊕ {0c}, {09} = {01} ⊕ {08}, the product is
            // MIXCOLUMNS() of the column after {04}·(s0 ⊕ s2) is added to s0 and s2, {04}·(s1 ⊕ s3) to s1 and s3.
            let even = GaloisField.xTimes(GaloisField.xTimes(s0 ^ s2))
            let odd = GaloisField.xTimes(GaloisField.xTimes(s1 ^ s3))
            bytes[4 * c] = s0 ^ even
            bytes[4 * c + 1] = s1 ^ odd
            bytes[4 * c + 2] = s2 ^ even
            bytes[4 * c + 3] = s3 ^ odd
        }
        mixColumns()
    }
}
