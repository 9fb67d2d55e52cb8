/// SHA-256 of a small message, for the digests of measurements.
///
/// Written here so that the harness's checks need no crypto library of those that they check.
///
/// - Source: FIPS 180-4, sections 4.1.2, 4.2.2, 5.1.1, 5.3.3 and 6.2.
enum SHA256Digest {
    static func digest(_ message: [UInt8]) -> [UInt8] {
        var padded = message + [0x80]
        padded += [UInt8](repeating: 0, count: (120 - padded.count % 64) % 64)
        padded += (0..<8).map { UInt8(truncatingIfNeeded: (UInt64(message.count) * 8) >> (56 - 8 * $0)) }
        var hash = fractions(of: primes.prefix(8), root: 2)
        let constants = fractions(of: primes[...], root: 3)
        for start in stride(from: 0, to: padded.count, by: 64) {
            var words = (0..<16).map { index in
                padded[start + 4 * index..<start + 4 * index + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            }
            for index in 16..<64 {
                let (early, late) = (words[index - 15], words[index - 2])
                let first = rotate(early, 7) ^ rotate(early, 18) ^ early >> 3
                let second = rotate(late, 17) ^ rotate(late, 19) ^ late >> 10
                words.append(words[index - 16] &+ first &+ words[index - 7] &+ second)
            }
            var v = hash
            for index in 0..<64 {
                let first = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)
                let choice = v[4] & v[5] ^ ~v[4] & v[6]
                let sum = v[7] &+ first &+ choice &+ constants[index] &+ words[index]
                let second = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)
                let majority = v[0] & v[1] ^ v[0] & v[2] ^ v[1] & v[2]
                v = [sum &+ second &+ majority, v[0], v[1], v[2], v[3] &+ sum, v[4], v[5], v[6]]
            }
            hash = zip(hash, v).map { $0 &+ $1 }
        }
        return hash.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } }
    }

    private static let primes: [UInt64] = (2...311).filter { number in (2..<number).allSatisfy { number % $0 != 0 } }

    /// The first 32 bits of the fractional parts of square or cube roots: ⌊root · 2³²⌋, found by bisection.
    private static func fractions(of primes: ArraySlice<UInt64>, root: Int) -> [UInt32] {
        primes.map { prime in
            let target = UInt128(prime) << (root == 2 ? 64 : 96)
            var low: UInt128 = 0
            var high: UInt128 = 1 << 37
            while high - low > 1 {
                let middle = (low + high) / 2
                if (root == 2 ? middle * middle : middle * middle * middle) <= target {
                    low = middle
                } else {
                    high = middle
                }
            }
            return UInt32(truncatingIfNeeded: low)
        }
    }

    private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }
}
