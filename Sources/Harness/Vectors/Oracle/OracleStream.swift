/// The key streams of ChaCha20 and Salsa20, and the functions that extend their nonces.
///
/// - Source: RFC 8439, section 2.3; draft-irtf-cfrg-xchacha-03, section 2.2; Bernstein, "Extending the Salsa20 nonce".
enum OracleStream {
    private static let constants = words(Array("expand 32-byte k".utf8))

    /// Returns a block of ChaCha20.
    static func chaCha(_ key: [UInt8], _ counter: UInt32, _ nonce: [UInt8]) -> [UInt8] {
        let start = constants + words(key) + [counter] + words(nonce)
        return bytes(zip(start, chaChaRounds(start)).map { $0 &+ $1 })
    }

    /// HChaCha20.
    static func hChaCha(_ key: [UInt8], _ nonce: [UInt8]) -> [UInt8] {
        let end = chaChaRounds(constants + words(key) + words(nonce))
        return bytes(Array(end[..<4] + end[12...]))
    }

    /// Returns a block of Salsa20.
    static func salsa(_ key: [UInt8], _ counter: UInt64, _ nonce: [UInt8]) -> [UInt8] {
        let count = [UInt32(truncatingIfNeeded: counter), UInt32(truncatingIfNeeded: counter >> 32)]
        let start = salsaState(words(key), words(nonce) + count)
        return bytes(zip(start, salsaRounds(start)).map { $0 &+ $1 })
    }

    /// HSalsa20.
    static func hSalsa(_ key: [UInt8], _ nonce: [UInt8]) -> [UInt8] {
        let end = salsaRounds(salsaState(words(key), words(nonce)))
        return bytes([0, 5, 10, 15, 6, 7, 8, 9].map { end[$0] })
    }

    private static func salsaState(_ key: [UInt32], _ input: [UInt32]) -> [UInt32] {
        [constants[0]] + key[..<4] + [constants[1]] + input + [constants[2]] + key[4...] + [constants[3]]
    }

    private static func chaChaRounds(_ start: [UInt32]) -> [UInt32] {
        var state = start
        func step(_ a: Int, _ b: Int, _ d: Int, _ shift: UInt32) {
            state[a] &+= state[b]
            state[d] = turned(state[d] ^ state[a], shift)
        }
        func quarter(_ a: Int, _ b: Int, _ c: Int, _ d: Int) {
            step(a, b, d, 16)
            step(c, d, b, 12)
            step(a, b, d, 8)
            step(c, d, b, 7)
        }
        for _ in 0..<10 {
            for column in 0..<4 { quarter(column, column + 4, column + 8, column + 12) }
            for column in 0..<4 {
                quarter(column, 4 + (column + 1) % 4, 8 + (column + 2) % 4, 12 + (column + 3) % 4)
            }
        }
        return state
    }

    private static func salsaRounds(_ start: [UInt32]) -> [UInt32] {
        var state = start
        func quarter(_ a: Int, _ b: Int, _ c: Int, _ d: Int) {
            state[b] ^= turned(state[a] &+ state[d], 7)
            state[c] ^= turned(state[b] &+ state[a], 9)
            state[d] ^= turned(state[c] &+ state[b], 13)
            state[a] ^= turned(state[d] &+ state[c], 18)
        }
        for _ in 0..<10 {
            for index in 0..<4 {
                let places = (0..<4).map { (5 * index + 4 * $0) % 16 }
                quarter(places[0], places[1], places[2], places[3])
            }
            for index in 0..<4 {
                let places = (0..<4).map { 4 * index + (index + $0) % 4 }
                quarter(places[0], places[1], places[2], places[3])
            }
        }
        return state
    }

    private static func turned(_ word: UInt32, _ count: UInt32) -> UInt32 { word << count | word >> (32 - count) }

    private static func words(_ bytes: [UInt8]) -> [UInt32] {
        stride(from: 0, to: bytes.count, by: 4).map { start in
            (0..<4).reduce(0) { $0 | UInt32(bytes[start + $1]) << UInt32(8 * $1) }
        }
    }

    private static func bytes(_ words: [UInt32]) -> [UInt8] {
        words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(8 * $0)) } }
    }
}

/// Poly1305 on numbers of five 26-bit digits.
///
/// - Source: RFC 8439, section 2.5.
enum OraclePoly1305 {
    static func tag(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        let r = digits(number(key[..<16]) & 0x0fff_fffc_0fff_fffc_0fff_fffc_0fff_ffff, top: 0)
        // No arrays in the loop, since chunks of 64 KiB have thousands of blocks.
        let (r0, r1, r2, r3, r4) = (r[0], r[1], r[2], r[3], r[4])
        // Anything above 2¹³⁰ is added at the bottom, times five.
        let (s1, s2, s3, s4) = (5 * r1, 5 * r2, 5 * r3, 5 * r4)
        let mask: UInt64 = 0x3ff_ffff
        var (h0, h1, h2, h3, h4): (UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0)
        for start in stride(from: 0, to: message.count, by: 16) {
            // A 1 bit after the block: bit 128 of a whole one.
            let isWhole = start + 16 <= message.count
            let end = isWhole ? start + 16 : message.count
            var value: UInt128 = isWhole ? 0 : 1
            for index in stride(from: end - 1, through: start, by: -1) { value = value << 8 | UInt128(message[index]) }
            h0 += UInt64(truncatingIfNeeded: value) & mask
            h1 += UInt64(truncatingIfNeeded: value >> 26) & mask
            h2 += UInt64(truncatingIfNeeded: value >> 52) & mask
            h3 += UInt64(truncatingIfNeeded: value >> 78) & mask
            h4 += UInt64(truncatingIfNeeded: value >> 104) & mask
            if isWhole { h4 += 1 << 24 }
            var d0: UInt64 = h0 * r0 + h1 * s4
            d0 += h2 * s3 + h3 * s2 + h4 * s1
            var d1: UInt64 = h0 * r1 + h1 * r0
            d1 += h2 * s4 + h3 * s3 + h4 * s2
            var d2: UInt64 = h0 * r2 + h1 * r1
            d2 += h2 * r0 + h3 * s4 + h4 * s3
            var d3: UInt64 = h0 * r3 + h1 * r2
            d3 += h2 * r1 + h3 * r0 + h4 * s4
            var d4: UInt64 = h0 * r4 + h1 * r3
            d4 += h2 * r2 + h3 * r1 + h4 * r0
            d1 += d0 >> 26
            d2 += d1 >> 26
            d3 += d2 >> 26
            d4 += d3 >> 26
            let low = (d0 & mask) + 5 * (d4 >> 26)
            (h0, h1) = (low & mask, (d1 & mask) + low >> 26)
            (h2, h3, h4) = (d2 & mask, d3 & mask, d4 & mask)
        }
        return bytes(value([h0, h1, h2, h3, h4]) &+ number(key[16...]))
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt128 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt128($1) }
    }

    private static func bytes(_ value: UInt128) -> [UInt8] {
        (0..<16).map { UInt8(truncatingIfNeeded: value >> UInt128(8 * $0)) }
    }

    private static func digits(_ value: UInt128, top: UInt64) -> [UInt64] {
        var digits = (0..<5).map { UInt64(truncatingIfNeeded: value >> UInt128(26 * $0)) & 0x3ff_ffff }
        digits[4] |= top << 24
        return digits
    }

    private static func carried(_ digits: [UInt64]) -> [UInt64] {
        var result = digits
        for index in 0..<5 {
            let carry = result[index] >> 26
            result[index] &= 0x3ff_ffff
            if index < 4 { result[index + 1] += carry } else { result[0] += 5 * carry }
        }
        return result
    }

    /// Returns the number modulo 2¹³⁰ - 5, and then modulo 2¹²⁸.
    private static func value(_ digits: [UInt64]) -> UInt128 {
        var digits = carried(carried(carried(digits)))
        let isAtLeastModulus = digits[0] >= 0x3ff_fffb && digits[1...].allSatisfy { $0 == 0x3ff_ffff }
        if isAtLeastModulus { digits = [digits[0] - 0x3ff_fffb, 0, 0, 0, 0] }
        return digits.enumerated().reduce(0) { $0 &+ UInt128($1.element) << UInt128(26 * $1.offset) }
    }
}
