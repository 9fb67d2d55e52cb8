/// Look-up tables that join the S-box and the column mixing of AES: four of 32-bit words for each direction.
///
/// Built from powers of the generator {03} and not from the standard's formulas, so that a mistake in
/// `SwiftAESBackend`, which follows those, is not made here again.
///
/// - Source: Daemen and Rijmen, "AES proposal: Rijndael" (1999), section 5.2.1 (tables T₀ to T₃).
final class OracleTables: Sendable {
    /// T₀ to T₃ for encryption, 256 words each.
    nonisolated(unsafe) let forward: UnsafePointer<UInt32>
    /// The same for decryption with the equivalent inverse cipher (FIPS 197, section 5.3.5).
    nonisolated(unsafe) let inverse: UnsafePointer<UInt32>
    /// The S-box, 256 bytes.
    nonisolated(unsafe) let box: UnsafePointer<UInt8>
    /// The inverse S-box, 256 bytes.
    nonisolated(unsafe) let inverseBox: UnsafePointer<UInt8>

    /// The tables, made once. Never freed.
    static let shared = OracleTables()

    private init() {
        let powers = Powers()
        let box = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
        let inverseBox = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
        let forward = UnsafeMutablePointer<UInt32>.allocate(capacity: 1024)
        let inverse = UnsafeMutablePointer<UInt32>.allocate(capacity: 1024)
        for value in 0..<256 {
            var image: UInt8 = 0x63
            let reciprocal = powers.reciprocal(of: UInt8(value))
            for shift in 0..<5 { image ^= reciprocal << UInt8(shift) | reciprocal >> UInt8((8 - shift) & 15) }
            box[value] = image
            inverseBox[Int(image)] = UInt8(value)
        }
        for value in 0..<256 {
            var word = powers.word(box[value], times: (2, 1, 1, 3))
            var inverseWord = powers.word(inverseBox[value], times: (14, 9, 13, 11))
            for table in 0..<4 {
                forward[256 * table + value] = word
                inverse[256 * table + value] = inverseWord
                word = word >> 8 | word << 24
                inverseWord = inverseWord >> 8 | inverseWord << 24
            }
        }
        self.box = UnsafePointer(box)
        self.inverseBox = UnsafePointer(inverseBox)
        self.forward = UnsafePointer(forward)
        self.inverse = UnsafePointer(inverse)
    }
}

/// Multiplication in GF(2⁸) by adding logarithms to the base {03}.
private struct Powers {
    private var power = [UInt8](repeating: 0, count: 255)
    private var logarithm = [Int](repeating: 0, count: 256)

    init() {
        var value: UInt32 = 1
        for exponent in 0..<255 {
            power[exponent] = UInt8(value)
            logarithm[Int(value)] = exponent
            value ^= value << 1
            if value > 255 { value ^= 0x11b }
        }
    }

    func product(_ a: UInt8, _ b: UInt8) -> UInt8 {
        a == 0 || b == 0 ? 0 : power[(logarithm[Int(a)] + logarithm[Int(b)]) % 255]
    }

    func reciprocal(of a: UInt8) -> UInt8 {
        a == 0 ? 0 : power[(255 - logarithm[Int(a)]) % 255]
    }

    /// A column of the mixing matrix times `a`, its first row in the word's most significant byte.
    func word(_ a: UInt8, times column: (UInt8, UInt8, UInt8, UInt8)) -> UInt32 {
        UInt32(product(a, column.0)) << 24 | UInt32(product(a, column.1)) << 16
            | UInt32(product(a, column.2)) << 8 | UInt32(product(a, column.3))
    }
}
