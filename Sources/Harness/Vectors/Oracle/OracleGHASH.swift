/// GHASH with a table of products for each byte of a block. It is for tests, not for secrets.
///
/// - Source: NIST SP 800-38D, section 6.4; McGrew and Viega, "The Galois/Counter Mode of Operation (GCM)", section 4.1,
///   for the tables.
final class OracleGHASH: Sendable {
    /// The product of the hash key and each byte at each index in a block: entry 256 · index + byte.
    private let products: [OracleBlock]

    init(key: OracleBlock) {
        // H·xⁱ for each bit of a block; the first bit is that of x⁰.
        var powers: [OracleBlock] = []
        var power = key
        for _ in 0..<128 {
            powers.append(power)
            power = power.timesX
        }
        var products: [OracleBlock] = []
        for index in 0..<16 {
            for byte in 0..<256 {
                var sum = OracleBlock(a: 0, b: 0, c: 0, d: 0)
                for bit in 0..<8 where byte >> (7 - bit) & 1 == 1 { sum = sum ^ powers[8 * index + bit] }
                products.append(sum)
            }
        }
        self.products = products
    }

    /// Returns the hash of associated data and a ciphertext, each padded to whole blocks with zeros, and of their
    /// lengths.
    func hash(_ ciphertext: [UInt8], associatedData: [UInt8]) -> OracleBlock {
        let start = associatedData.withUnsafeBytes { add($0, to: OracleBlock(a: 0, b: 0, c: 0, d: 0)) }
        return finish(
            ciphertext.withUnsafeBytes { add($0, to: start) }, ciphertext.count, associatedData: associatedData.count)
    }

    private func add(_ bytes: UnsafeRawBufferPointer, to sum: OracleBlock) -> OracleBlock {
        guard let start = bytes.baseAddress else { return sum }
        var sum = sum
        let wholeCount = bytes.count / 16
        for index in 0..<wholeCount { sum = times(sum ^ OracleBlock(loadingFrom: start + 16 * index)) }
        if bytes.count % 16 > 0 {
            let rest = Array(bytes[(16 * wholeCount)...])
            sum = times(sum ^ OracleBlock(rest + [UInt8](repeating: 0, count: 16 - rest.count)))
        }
        return sum
    }

    private func finish(_ sum: OracleBlock, _ byteCount: Int, associatedData: Int) -> OracleBlock {
        let (first, second) = (UInt64(associatedData) * 8, UInt64(byteCount) * 8)
        let lengths = OracleBlock(
            a: UInt32(truncatingIfNeeded: first >> 32), b: UInt32(truncatingIfNeeded: first),
            c: UInt32(truncatingIfNeeded: second >> 32), d: UInt32(truncatingIfNeeded: second))
        return times(sum ^ lengths)
    }

    private func times(_ block: OracleBlock) -> OracleBlock {
        products.withUnsafeBufferPointer { products in
            var sum = OracleBlock(a: 0, b: 0, c: 0, d: 0)
            for (word, value) in [block.a, block.b, block.c, block.d].enumerated() {
                for index in 0..<4 {
                    let byte = Int(value >> UInt32(24 - 8 * index) & 255)
                    sum = sum ^ products[256 * (4 * word + index) + byte]
                }
            }
            return sum
        }
    }
}

extension OracleBlock {
    /// The product with x: one bit to the right, and R if a bit is shifted out. Source: section 6.3, algorithm 1.
    fileprivate var timesX: OracleBlock {
        let fallsOut = d & 1 == 1
        return OracleBlock(
            a: a >> 1 ^ (fallsOut ? 0xe100_0000 : 0), b: b >> 1 | a << 31, c: c >> 1 | b << 31, d: d >> 1 | c << 31)
    }
}
