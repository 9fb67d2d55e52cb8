/// A word of SHA-2, 32 or 64 bits, with what tells SHA-256 and SHA-512 apart.
///
/// - Source: FIPS 180-4, sections 4.1.2, 4.1.3, 5.3.3, 5.3.5, 6.2 and 6.4.
protocol SHA2Word: FixedWidthInteger, UnsignedInteger, BitwiseCopyable {
    /// The rounds of a block.
    static var roundCount: Int { get }
    /// How far Σ₀ turns its word to the right, three times.
    static var bigSigma0: (Int, Int, Int) { get }
    /// How far Σ₁ turns its word to the right, three times.
    static var bigSigma1: (Int, Int, Int) { get }
    /// How far σ₀ turns its word to the right, twice, and then shifts it.
    static var smallSigma0: (Int, Int, Int) { get }
    /// How far σ₁ turns its word to the right, twice, and then shifts it.
    static var smallSigma1: (Int, Int, Int) { get }
}

extension UInt32: SHA2Word {
    static let roundCount = 64
    static let bigSigma0 = (2, 13, 22)
    static let bigSigma1 = (6, 11, 25)
    static let smallSigma0 = (7, 18, 3)
    static let smallSigma1 = (17, 19, 10)
}

extension UInt64: SHA2Word {
    static let roundCount = 80
    static let bigSigma0 = (28, 34, 39)
    static let bigSigma1 = (14, 18, 41)
    static let smallSigma0 = (1, 8, 7)
    static let smallSigma1 = (19, 61, 6)
}

/// SHA-2's constants, computed from their definition instead of copied from the standard's tables: the first bits of the
/// fractional parts of roots of the first primes.
///
/// SHA-256 has the first 32 bits of the numbers of which SHA-512 has 64. Source: FIPS 180-4, sections 4.2.2, 4.2.3,
/// 5.3.3 and 5.3.5.
enum SHA2Constants {
    /// Of the cube roots of the first 80 primes.
    static let rounds: [UInt64] = primes.map { prime in
        // The largest root with root³ ≤ prime · 2¹⁹², less its integral part.
        UInt64(
            truncatingIfNeeded: largest(below: 1 << 67) { root in
                let square = root.multipliedFullWidth(by: root)
                let low = square.low.multipliedFullWidth(by: root)
                // root³ is below 2²⁰⁴, so that these sums do not overflow.
                let high = low.high + UInt128(truncatingIfNeeded: square.high) &* root
                return (high, low.low) <= (UInt128(prime) << 64, 0)
            })
    }

    /// Of the square roots of the first eight primes.
    static let start: [UInt64] = primes.prefix(8).map { prime in
        UInt64(
            truncatingIfNeeded: largest(below: 1 << 67) { root in
                let square = root.multipliedFullWidth(by: root)
                return (UInt128(square.high), square.low) <= (UInt128(prime), 0)
            })
    }

    private static let primes: [UInt64] = (2...409).filter { number in
        !(2..<number).contains { $0 * $0 <= number && number.isMultiple(of: $0) }
    }

    /// The largest number below a power of two that is small enough, found bit by bit.
    private static func largest(below limit: UInt128, isSmallEnough: (UInt128) -> Bool) -> UInt128 {
        var root: UInt128 = 0
        var bit = limit >> 1
        while bit > 0 {
            if isSmallEnough(root | bit) { root |= bit }
            bit >>= 1
        }
        return root
    }
}
