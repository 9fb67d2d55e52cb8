import Testing

@testable import Support

@Suite("digests")
struct DigestTests {
    private static func hex(_ bytes: [UInt8]) -> String { Hexadecimal.encode(bytes) }

    @Test("SHA-256 and SHA-512 have the digests of FIPS 180-4's examples")
    func examples() {
        let abc = Array("abc".utf8)
        #expect(
            Self.hex(SHAFunction.sha256.hash(abc))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            Self.hex(SHAFunction.sha256.hash([]))
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(Self.hex(SHAFunction.sha512.hash(abc)).hasPrefix("ddaf35a193617abacc417349ae204131"))
    }

    @Test("pieces of any length have the digest of the whole", arguments: [1, 55, 56, 63, 64, 65, 200])
    func pieces(of count: Int) {
        let bytes = (0..<300).map { UInt8(truncatingIfNeeded: $0) }
        let hasher = SHA256Hasher()
        for start in stride(from: 0, to: bytes.count, by: count) {
            Array(bytes[start..<min(start + count, bytes.count)]).withUnsafeBytes { hasher.update($0) }
        }
        #expect(hasher.finish() == SHAFunction.sha256.hash(bytes))
    }

    /// Source: RFC 5869, appendix A.1.
    @Test("HKDF has the keys of RFC 5869")
    func derivation() {
        let key = SHAFunction.sha256.mac(key: (0...12).map { $0 }, [UInt8](repeating: 0x0b, count: 22))
        #expect(Self.hex(key) == "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5")
        #expect(
            Self.hex(SHAFunction.sha256.expand(key, info: (0xf0...0xf9).map { $0 }, byteCount: 42))
                == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")
    }
}
