import RandomAccess
import Testing

@testable import SwiftAESBackend

@Suite("GHASH")
struct GHASHTests {
    /// Algorithm 1 of NIST SP 800-38D, section 6.3, bit by bit.
    private static func product(_ x: UInt128, _ y: UInt128) -> UInt128 {
        var (z, v): (UInt128, UInt128) = (0, y)
        for bit in 0..<128 {
            if x >> UInt128(127 - bit) & 1 == 1 { z ^= v }
            v = v & 1 == 0 ? v >> 1 : v >> 1 ^ UInt128(0xe1) << 120
        }
        return z
    }

    private static func block(_ value: UInt128) -> Block { Block(bigEndianValue: value) }

    @Test("products are those of the standard's algorithm")
    func products() {
        var random = SplitMix(state: 5)
        var values: [UInt128] = [0, 1, 2, 1 << 63, 1 << 64, 1 << 127, .max, .max >> 64, .max << 64, 0xe1 << 120]
        for _ in 0..<40 {
            values.append(random.bytes(16).reduce(0) { $0 << 8 | UInt128($1) })
        }
        for x in values {
            for y in values {
                let found = (Polynomial(Self.block(x)) * Polynomial(Self.block(y))).block
                #expect(found == Self.block(Self.product(x, y)), "\(x) · \(y)")
            }
        }
    }

    /// Source: McGrew and Viega, "The Galois/Counter Mode of Operation (GCM)", appendix B, test case 2.
    @Test("the hash is that of the published case")
    func knownAnswer() {
        var hash = GHASH(key: Polynomial(Self.block(0x66e9_4bd4_ef8a_2c3b_884c_fa59_ca34_2b2e)))
        let ciphertext = Self.block(0x0388_dace_60b6_a392_f328_c2b9_71b2_fe78)
        let found = ciphertext.withUnsafeBytes { hash.hash($0) }
        #expect(found == Self.block(0xf38c_bb1a_d692_23dc_c345_7ae5_b6b0_f885))
    }
}
