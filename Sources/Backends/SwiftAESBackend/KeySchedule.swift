internal import RandomAccess

/// The round keys. Source: FIPS 197, section 5.2.
final class KeySchedule: Sendable {
    /// The number of rounds Nr: 10, 12 or 14. Source: section 5, table 3.
    let roundCount: Int

    // Written in `init` only.
    nonisolated(unsafe) private let storage: UnsafeMutableBufferPointer<UInt8>

    /// KEYEXPANSION(). Source: section 5.2, algorithm 2.
    init(_ key: SecretKey) {
        let keyWordCount = key.byteCount / 4
        let roundCount = keyWordCount + 6
        let byteCount = 16 * (roundCount + 1)
        let w = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: byteCount)
        key.withUnsafeBytes { bytes in
            for index in 0..<byteCount { w[index] = index < bytes.count ? bytes[index] : 0 }
        }
        let boxes = SubstitutionBoxes.shared
        func sbox(_ byte: UInt8) -> UInt8 { boxes.forward[Int(byte)] }
        var roundConstant: UInt8 = 1
        for i in keyWordCount..<4 * (roundCount + 1) {
            var word = (w[4 * i - 4], w[4 * i - 3], w[4 * i - 2], w[4 * i - 1])
            if i % keyWordCount == 0 {
                // SUBWORD(ROTWORD(temp)) ⊕ Rcon[i/Nk]; Rcon is the next power of x. Equations (5.10), (5.11), table 5.
                word = (
                    sbox(word.1) ^ roundConstant, sbox(word.2), sbox(word.3), sbox(word.0)
                )
                roundConstant = GaloisField.xTimes(roundConstant)
            } else if keyWordCount > 6, i % keyWordCount == 4 {
                word = (sbox(word.0), sbox(word.1), sbox(word.2), sbox(word.3))
            }
            let before = 4 * (i - keyWordCount)
            w[4 * i] = w[before] ^ word.0
            w[4 * i + 1] = w[before + 1] ^ word.1
            w[4 * i + 2] = w[before + 2] ^ word.2
            w[4 * i + 3] = w[before + 3] ^ word.3
        }
        self.roundCount = roundCount
        self.storage = w
    }

    deinit {
        eraseBytes(UnsafeMutableRawBufferPointer(storage))
        storage.deallocate()
    }

    /// Byte `index` (0 to 15) of the round key of `round` (0 to `roundCount`).
    @inline(__always)
    func byte(_ index: Int, ofRound round: Int) -> UInt8 {
        storage[16 * round + index]
    }
}
