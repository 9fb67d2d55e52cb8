/// A protection scheme of Common Encryption with its pattern.
///
/// - Source: ISO/IEC 23001-7:2016, sections 9 and 10.
package struct CommonEncryption: Hashable, Sendable {
    /// A scheme's four letters.
    package enum Scheme: String, CaseIterable, Sendable {
        /// CTR over all protected bytes of a sample.
        case cenc
        /// CTR over a pattern of blocks of each subsample.
        case cens
        /// CBC through all protected blocks of a sample.
        case cbc1
        /// CBC over a pattern of blocks of each subsample, restarted at each.
        case cbcs
    }

    /// The scheme.
    package let scheme: Scheme
    /// The encrypted blocks of a group, and the clear blocks behind them; 0 and 0 without a pattern.
    package let cryptBlockCount: UInt64
    package let skipBlockCount: UInt64

    /// The max length of either part of a pattern, in blocks.
    package static let maxPatternBlockCount = 15

    /// A scheme with a pattern.
    ///
    /// - Throws: `DecryptionError.unsupported` for a pattern that the scheme does not allow.
    package init(_ scheme: Scheme, cryptBlockCount: Int = 0, skipBlockCount: Int = 0) throws(DecryptionError) {
        let counts = 0...Self.maxPatternBlockCount
        guard counts.contains(cryptBlockCount), counts.contains(skipBlockCount) else {
            throw .unsupported(
                "pattern \(cryptBlockCount):\(skipBlockCount): expected 0 to \(Self.maxPatternBlockCount) blocks each")
        }
        let hasPattern = cryptBlockCount > 0 || skipBlockCount > 0
        guard !hasPattern || scheme == .cens || scheme == .cbcs, cryptBlockCount > 0 || skipBlockCount == 0 else {
            throw .unsupported(
                "pattern \(cryptBlockCount):\(skipBlockCount) with the scheme \(scheme.rawValue): expected "
                    + (hasPattern && cryptBlockCount > 0 ? "0:0" : "a block that is encrypted, or 0:0"))
        }
        self.scheme = scheme
        // A pattern that skips nothing counts as no pattern.
        self.cryptBlockCount = skipBlockCount == 0 ? 0 : UInt64(cryptBlockCount)
        self.skipBlockCount = UInt64(skipBlockCount)
    }

    /// The cipher.
    package var cipher: Cipher { scheme == .cenc || scheme == .cens ? .aesCTR : .aesCBC }

    /// True if the pattern skips blocks.
    var hasPattern: Bool { skipBlockCount > 0 }

    /// The length of a group in bytes, skipped blocks included.
    private var groupByteCount: UInt64 { (cryptBlockCount + skipBlockCount) * 16 }

    /// Returns the length of a protected stretch up to the end of its last encrypted byte. Partial blocks, and a
    /// truncated encrypted part at the end of a pattern, are clear except in `cenc`.
    func encryptedByteCount(of byteCount: UInt64) -> UInt64 {
        if scheme == .cenc { return byteCount }
        guard hasPattern else { return byteCount / 16 * 16 }
        let (groups, rest) = byteCount.quotientAndRemainder(dividingBy: groupByteCount)
        let crypt = cryptBlockCount * 16
        if rest >= crypt { return groups * groupByteCount + crypt }
        return groups == 0 ? 0 : groups * groupByteCount - skipBlockCount * 16
    }

    /// Returns the number of encrypted blocks before an offset in a stretch, which is the index of the block at the
    /// offset if there is one.
    func blockIndex(at offset: UInt64) -> UInt64 {
        guard hasPattern else { return offset / 16 }
        let (groups, rest) = offset.quotientAndRemainder(dividingBy: groupByteCount)
        return groups * cryptBlockCount + min(rest / 16, cryptBlockCount)
    }

    /// Returns the number of encrypted blocks that begin before an offset in a stretch.
    func blockCount(before offset: UInt64) -> UInt64 {
        guard hasPattern else { return (offset + 15) / 16 }
        let (groups, rest) = offset.quotientAndRemainder(dividingBy: groupByteCount)
        return groups * cryptBlockCount + min((rest + 15) / 16, cryptBlockCount)
    }

    /// Returns the offset of an encrypted block in its stretch.
    func offset(ofBlock index: UInt64) -> UInt64 {
        guard hasPattern else { return index * 16 }
        let (groups, rest) = index.quotientAndRemainder(dividingBy: cryptBlockCount)
        return groups * groupByteCount + rest * 16
    }
}
