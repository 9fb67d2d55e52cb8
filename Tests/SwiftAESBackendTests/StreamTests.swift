import RandomAccess
import Testing

@testable import SwiftAESBackend

@Suite("the Swift stream ciphers and Poly1305 by themselves")
struct StreamTests {
    struct Code: Sendable, CustomTestStringConvertible {
        var title: String
        var r: String
        var s = ""
        var message: String
        var tag: String
        var testDescription: String { title }
    }

    /// Source: RFC 8439, appendix A.3, test vectors 7 and later, whose sums carry as those of random messages do not.
    private static let codes = [
        Code(title: "2^128 − 1", r: "02", message: ones(16), tag: "03"),
        Code(title: "the sum with s overflows", r: "02", s: ones(16), message: filled("02"), tag: "03"),
        Code(
            title: "a carry over a word of ones", r: "01", message: ones(16) + "f0" + ones(15) + filled("11"),
            tag: "05"),
        Code(
            title: "2^130 − 5", r: "01",
            message: ones(16) + "fb" + String(repeating: "fe", count: 15) + String(repeating: "01", count: 16),
            tag: "00"),
        Code(title: "2^130 − 6", r: "02", message: "fd" + ones(15), tag: "fa" + ones(15)),
        Code(
            title: "5·H + L reduction, with a carry", r: "0100000000000000" + "04",
            message: filled("e33594d7505e43b9") + "3394d7505e4379cd" + "0100000000000000" + filled("") + filled("01"),
            tag: "1400000000000000" + "55"),
        Code(
            title: "the same without the last block", r: "0100000000000000" + "04",
            message: filled("e33594d7505e43b9") + "3394d7505e4379cd" + "0100000000000000" + filled(""), tag: "13"),
    ]

    @Test("codes at the edges of their arithmetic", arguments: codes)
    func edges(_ answer: Code) {
        #expect(code(bytes(filled(answer.r) + filled(answer.s)), bytes(answer.message)) == bytes(filled(answer.tag)))
    }

    @Test("a code of a text that is no multiple of 16. Source: RFC 8439, section 2.5.2")
    func text() {
        let key = bytes("85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b")
        let tag = bytes("a8061dc1305136c6c22b8baf0c0127a9")
        #expect(code(key, Array("Cryptographic Forum Research Group".utf8)) == tag)
    }

    @Test("HChaCha20. Source: draft-irtf-cfrg-xchacha-03, section 2.2.1")
    func hChaCha() {
        let key = ChaCha20.derivedKey(
            ChaCha20.rounds(ChaCha20.start(key(0..<32), input: plane("000000090000004a0000000031415927"))))
        #expect(hexadecimal(key.low) == "82413b4227b27bfed30e42508a877d73")
        #expect(hexadecimal(key.high) == "a0f9e4d58a74a853c12ec41326d3ecdc")
    }

    @Test("HSalsa20. Source: Bernstein, \"Cryptography in NaCl\", section 8")
    func hSalsa() {
        let first = StreamKey(
            low: plane("1b27556473e985d462cd51197a9a46c7"), high: plane("6009549eac6474f206c4ee0844f68389"))
        let key = Salsa20.derivedKey(
            Salsa20.rounds(Salsa20.start(first, input: plane("69696ee955b62b73cd62bda875fc73d6"))))
        #expect(hexadecimal(key.low) == "dc908dda0b9344a953629b7338207788")
        #expect(hexadecimal(key.high) == "80f3ceb421bb61b91cbd4c3e66256ce4")
    }

    /// The blocks are those of libsodium's `crypto_stream_chacha20_ietf_xor_ic` and `crypto_stream_salsa20_xor_ic`.
    @Test("the last block of a counter of 32 bits, and the next one of a counter of 64")
    func counters() {
        #expect(
            block(ChaCha20.self, nonce: 0x40..<0x4C, 0xFFFF_FFFF)
                == "2ce3133fa25577a47c7ba71ab7f6a825ad0b03f345b25d84bfaf3bcf6c640be8"
                + "d5fd90aa88ec819d7ec87a535891210cb9a96076b71aef7e59dc13afa1b8a2e7")
        #expect(
            block(Salsa20.self, nonce: 0x40..<0x48, 0xFFFF_FFFF)
                == "701abb76d43526b18497c24d574a16cd501562db816b539098b7786f554f87c6"
                + "49aa1388417287e8be768eec3d56a4e2f66404a8050bf95eb333d720dc33c068")
        #expect(
            block(Salsa20.self, nonce: 0x40..<0x48, 0x1_0000_0000)
                == "a0bd90a182edbe7c7f3f51d8d54b0e6187342fc5075d2d281c2c6fd437fdd47c"
                + "b14e64b344d7ed08727ec8e022a6e9cddbacaecf755d61575e94dd9a09bc0b59")
    }

    private func code(_ key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        var code = key.withUnsafeBytes { Poly1305($0) }
        message.withUnsafeBytes { code.add($0, end: .mark) }
        return code.tag.bytes
    }

    private func block<Stream: StreamCipher>(
        _ stream: Stream.Type, nonce: Range<UInt8>, _ counter: UInt64
    ) -> String {
        let number = nonce.reversed().reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        let input = Stream.input(number, nonceByteCount: nonce.count, counter: counter)
        let start = Stream.start(key(0..<32), input: Plane(words: unsafeBitCast(input, to: SIMD4<UInt32>.self)))
        let rows = Stream.rows(Stream.rounds(start) &+ start)
        return [rows.a, rows.b, rows.c, rows.d].map(hexadecimal).joined()
    }

    private func key(_ values: Range<UInt8>) -> StreamKey {
        values.map(\.self).withUnsafeBytes {
            StreamKey(low: $0.loadUnaligned(as: Plane.self), high: $0.loadUnaligned(fromByteOffset: 16, as: Plane.self))
        }
    }

    private func plane(_ digits: String) -> Plane {
        bytes(digits).withUnsafeBytes { $0.loadUnaligned(as: Plane.self) }
    }

    private func hexadecimal(_ plane: Plane) -> String {
        (0..<16).map { String(UInt16(plane.bytes[$0]) | 0x100, radix: 16).dropFirst() }.joined()
    }
}

/// So many bytes of ones, as digits.
private func ones(_ count: Int) -> String { String(repeating: "ff", count: count) }

/// Digits with zeros behind, up to 16 bytes.
private func filled(_ digits: String) -> String { digits + String(repeating: "0", count: 32 - digits.count) }
