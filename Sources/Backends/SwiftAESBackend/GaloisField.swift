/// Arithmetic on bytes as elements of GF(2⁸). Source: FIPS 197 (2023 update), section 4.
enum GaloisField {
    /// Multiplication by x, that is by {02}, modulo x⁸ + x⁴ + x³ + x + 1. Source: section 4.2, equation (4.5).
    @inline(__always)
    static func xTimes(_ b: UInt8) -> UInt8 {
        // {1b} where the highest bit falls out, chosen without a branch.
        b &<< 1 ^ (0x1b & (0 &- (b &>> 7)))
    }

    /// Multiplication. Source: section 4.2.
    static func multiply(_ a: UInt8, _ b: UInt8) -> UInt8 {
        var product: UInt8 = 0
        var power = a
        for bit in 0..<8 {
            if b >> bit & 1 == 1 { product ^= power }
            power = xTimes(power)
        }
        return product
    }

    /// The multiplicative inverse b⁻¹ = b²⁵⁴; {00} goes to itself. Source: section 4.4, equation (4.10).
    static func inverse(_ b: UInt8) -> UInt8 {
        (0..<254).reduce(1) { power, _ in multiply(power, b) }
    }
}
