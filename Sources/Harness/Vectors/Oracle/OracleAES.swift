internal import RandomAccess

/// AES on single blocks, with 32-bit table look-ups.
///
/// Shares nothing with the backends. Its look-ups depend on keys and data: for tests, not for secrets.
final class OracleAES: Sendable {
    private let roundCount: Int
    /// Round keys for encryption, then those of the equivalent inverse cipher; 4 × (`roundCount` + 1) words each.
    nonisolated(unsafe) private let keys: UnsafeMutablePointer<UInt32>
    private let wordCount: Int
    private let tables = OracleTables.shared

    /// AES under 16 zeros, where no key is known yet.
    static let ofZeros = OracleAES([UInt8](repeating: 0, count: 16))

    convenience init(key: SecretKey) {
        self.init(key.withUnsafeBytes { Array($0) })
    }

    private init(_ key: [UInt8]) {
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
        // Rcon as FIPS 197, table 5, prints it.
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
        // The inverse rounds take the keys backwards, those in the middle with their columns unmixed: an inverse table
        // holds "unmix after inverse S-box", so a look-up through the S-box only unmixes.
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
