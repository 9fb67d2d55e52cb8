import RandomAccess

/// AES on single blocks, with 32-bit look-up tables.
///
/// It shares nothing with the backends. Its look-ups depend on keys and data, so it is for tests and not for secrets.
final class OracleAES: Sendable {
    private let roundCount: Int
    /// Round keys for encryption, then those of the equivalent inverse cipher; 4 × (`roundCount` + 1) words each.
    nonisolated(unsafe) private let keys: UnsafeMutablePointer<UInt32>
    private let wordCount: Int
    private let tables = OracleTables.shared

    convenience init(key: SecretKey) {
        self.init(key.withUnsafeBytes { Array($0) })
    }

    init(_ key: [UInt8]) {
        let keyWordCount = key.count / 4
        let roundCount = keyWordCount + 6
        let wordCount = 4 * (roundCount + 1)
        let box = OracleTables.shared.box
        let keys = UnsafeMutablePointer<UInt32>.allocate(capacity: 2 * wordCount)
        key.withUnsafeBytes { bytes in
            for index in 0..<keyWordCount {
                keys[index] = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self))
            }
        }
        func substitute(_ word: UInt32) -> UInt32 {
            UInt32(box[Int(word >> 24)]) << 24 | UInt32(box[Int(word >> 16 & 255)]) << 16
                | UInt32(box[Int(word >> 8 & 255)]) << 8 | UInt32(box[Int(word & 255)])
        }
        // Rcon, from FIPS 197, table 5.
        let constants: [UInt32] = [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36]
        for index in keyWordCount..<wordCount {
            var word = keys[index - 1]
            if index % keyWordCount == 0 {
                word = substitute(word << 8 | word >> 24) ^ constants[index / keyWordCount - 1] << 24
            } else if keyWordCount == 8, index % 8 == 4 {
                word = substitute(word)
            }
            keys[index] = keys[index - keyWordCount] ^ word
        }
        // The inverse rounds use the keys in reverse order, with the columns of the middle ones unmixed. An inverse
        // table holds "unmix after inverse S-box", so a look-up through the S-box only unmixes.
        let inverse = OracleTables.shared.inverse
        for round in 0...roundCount {
            for column in 0..<4 {
                var word = keys[4 * (roundCount - round) + column]
                if round > 0, round < roundCount {
                    word =
                        inverse[Int(box[Int(word >> 24)])] ^ inverse[256 + Int(box[Int(word >> 16 & 255)])]
                        ^ inverse[512 + Int(box[Int(word >> 8 & 255)])] ^ inverse[768 + Int(box[Int(word & 255)])]
                }
                keys[wordCount + 4 * round + column] = word
            }
        }
        self.keys = keys
        self.roundCount = roundCount
        self.wordCount = wordCount
    }

    deinit {
        eraseBytes(UnsafeMutableRawBufferPointer(start: keys, count: 8 * wordCount))
        keys.deallocate()
    }

    /// CIPHER().
    @inline(__always)
    func encrypt(_ block: OracleBlock) -> OracleBlock {
        let table = tables.forward
        var key = UnsafePointer(keys)
        var (a, b, c, d) = (block.a ^ key[0], block.b ^ key[1], block.c ^ key[2], block.d ^ key[3])
        for _ in 1..<roundCount {
            key += 4
            let (e, f, g, h) = (
                column(table, a, b, c, d) ^ key[0], column(table, b, c, d, a) ^ key[1],
                column(table, c, d, a, b) ^ key[2], column(table, d, a, b, c) ^ key[3]
            )
            (a, b, c, d) = (e, f, g, h)
        }
        key += 4
        let box = tables.box
        return OracleBlock(
            a: last(box, a, b, c, d) ^ key[0], b: last(box, b, c, d, a) ^ key[1],
            c: last(box, c, d, a, b) ^ key[2], d: last(box, d, a, b, c) ^ key[3])
    }

    /// EQINVCIPHER().
    @inline(__always)
    func decrypt(_ block: OracleBlock) -> OracleBlock {
        let table = tables.inverse
        var key = UnsafePointer(keys) + wordCount
        var (a, b, c, d) = (block.a ^ key[0], block.b ^ key[1], block.c ^ key[2], block.d ^ key[3])
        for _ in 1..<roundCount {
            key += 4
            let (e, f, g, h) = (
                column(table, a, d, c, b) ^ key[0], column(table, b, a, d, c) ^ key[1],
                column(table, c, b, a, d) ^ key[2], column(table, d, c, b, a) ^ key[3]
            )
            (a, b, c, d) = (e, f, g, h)
        }
        key += 4
        let box = tables.inverseBox
        return OracleBlock(
            a: last(box, a, d, c, b) ^ key[0], b: last(box, b, a, d, c) ^ key[1],
            c: last(box, c, b, a, d) ^ key[2], d: last(box, d, c, b, a) ^ key[3])
    }

    @inline(__always)
    private func column(
        _ table: UnsafePointer<UInt32>, _ p: UInt32, _ q: UInt32, _ r: UInt32, _ s: UInt32
    ) -> UInt32 {
        table[Int(p &>> 24)] ^ table[256 &+ Int(q &>> 16 & 255)] ^ table[512 &+ Int(r &>> 8 & 255)]
            ^ table[768 &+ Int(s & 255)]
    }

    @inline(__always)
    private func last(
        _ box: UnsafePointer<UInt8>, _ p: UInt32, _ q: UInt32, _ r: UInt32, _ s: UInt32
    ) -> UInt32 {
        UInt32(box[Int(p &>> 24)]) &<< 24 | UInt32(box[Int(q &>> 16 & 255)]) &<< 16
            | UInt32(box[Int(r &>> 8 & 255)]) &<< 8 | UInt32(box[Int(s & 255)])
    }
}

/// One AES block as four columns: 32-bit words whose most significant byte is the column's first row.
struct OracleBlock: Equatable {
    var a: UInt32
    var b: UInt32
    var c: UInt32
    var d: UInt32

    @inline(__always)
    init(a: UInt32, b: UInt32, c: UInt32, d: UInt32) {
        (self.a, self.b, self.c, self.d) = (a, b, c, d)
    }

    @inline(__always)
    init(loadingFrom bytes: UnsafeRawPointer) {
        self.a = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self))
        self.b = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
        self.c = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
        self.d = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
    }

    init(_ bytes: [UInt8]) {
        precondition(bytes.count == 16, "\(bytes.count) bytes in a block")
        func word(_ index: Int) -> UInt32 {
            bytes[4 * index..<4 * index + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }
        self.init(a: word(0), b: word(1), c: word(2), d: word(3))
    }

    var bytes: [UInt8] {
        [a, b, c, d].flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } }
    }

    @inline(__always)
    func store(to bytes: UnsafeMutableRawPointer) {
        bytes.storeBytes(of: a.bigEndian, toByteOffset: 0, as: UInt32.self)
        bytes.storeBytes(of: b.bigEndian, toByteOffset: 4, as: UInt32.self)
        bytes.storeBytes(of: c.bigEndian, toByteOffset: 8, as: UInt32.self)
        bytes.storeBytes(of: d.bigEndian, toByteOffset: 12, as: UInt32.self)
    }

    @inline(__always)
    static func ^ (left: OracleBlock, right: OracleBlock) -> OracleBlock {
        OracleBlock(a: left.a ^ right.a, b: left.b ^ right.b, c: left.c ^ right.c, d: left.d ^ right.d)
    }

    /// Returns the block as a 128-bit big-endian number plus `count`, modulo 2¹²⁸: schoolbook addition, word by word.
    func adding(_ count: UInt64) -> OracleBlock {
        var sum = self
        var carry = UInt64(sum.d) + (count & 0xffff_ffff)
        sum.d = UInt32(truncatingIfNeeded: carry)
        carry = carry >> 32 + UInt64(sum.c) + count >> 32
        sum.c = UInt32(truncatingIfNeeded: carry)
        carry = carry >> 32 + UInt64(sum.b)
        sum.b = UInt32(truncatingIfNeeded: carry)
        sum.a = sum.a &+ UInt32(truncatingIfNeeded: carry >> 32)
        return sum
    }
}

/// Look-up tables that combine AES's S-box and column mixing: four tables of 32-bit words for each direction.
///
/// They are built from powers of the generator {03} and not from the standard's formulas. So a mistake in
/// `SwiftAESBackend`, which follows the standard, is not repeated here.
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

    /// The tables, computed once and never freed.
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

/// Multiplication in GF(2⁸) by addition of logarithms to the base {03}.
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

    /// Returns a column of the mixing matrix times `a`, with the first row in the word's most significant byte.
    func word(_ a: UInt8, times column: (UInt8, UInt8, UInt8, UInt8)) -> UInt32 {
        UInt32(product(a, column.0)) << 24 | UInt32(product(a, column.1)) << 16
            | UInt32(product(a, column.2)) << 8 | UInt32(product(a, column.3))
    }
}
