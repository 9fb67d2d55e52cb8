import Foundation
import Testing

@testable import RandomAccess

/// Hexadecimal digits as bytes.
private func bytes(_ text: String) -> [UInt8] {
    let digits = text.compactMap { $0.hexDigitValue }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

private func output(_ count: Int, _ body: (UnsafeMutableRawBufferPointer) -> Void) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: count)
    buffer.withUnsafeMutableBytes(body)
    return buffer
}

@Suite("key derivation")
struct KeyDerivationTests {
    /// Source: NIST, "Examples with Intermediate Values": SHA256.pdf, SHA512.pdf (one block, two blocks).
    @Test(
        "digests are those of FIPS 180-4's examples",
        arguments: [
            (
                "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                    + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
            ),
            (
                "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
                    + "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
            ),
            (
                "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrst"
                    + "nopqrstu",
                "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1",
                "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018"
                    + "501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909"
            ),
        ])
    func digests(message: String, short: String, long: String) {
        let digest256 = output(32) { buffer in
            let hash = HashFunction.sha256.makeHash()
            Array(message.utf8).withUnsafeBytes { hash.update($0) }
            hash.finish(into: buffer)
        }
        #expect(digest256 == bytes(short))
        let digest512 = output(64) { buffer in
            let hash = HashFunction.sha512.makeHash()
            Array(message.utf8).withUnsafeBytes { hash.update($0) }
            hash.finish(into: buffer)
        }
        #expect(digest512 == bytes(long))
    }

    @Test("lengths around a block's end are padded right: the digest of so many bytes 'a', hashed again")
    func lengths() {
        // Source: Python's hashlib, which is OpenSSL's.
        func chained(_ function: HashFunction) -> [UInt8] {
            let all = function.makeHash()
            for count in 0..<300 {
                let digest = output(function.digestByteCount) { buffer in
                    let hash = function.makeHash()
                    [UInt8](repeating: 0x61, count: count).withUnsafeBytes { hash.update($0) }
                    hash.finish(into: buffer)
                }
                digest.withUnsafeBytes { all.update($0) }
            }
            return output(function.digestByteCount) { all.finish(into: $0) }
        }
        #expect(chained(.sha1) == bytes("59fd9a7a8ec7eb10d31fe6c625152f122c4e1606"))
        #expect(chained(.sha256) == bytes("80e953e3b006c4bab43fd5d792f8bd29c122f6cf1497318365fe66bf2d61398d"))
        #expect(
            chained(.sha512)
                == bytes(
                    "31c336adab577370612bbdd2a77b25de07ec8389de752295ba890ce160fc8065"
                        + "4d34f23f93a5819b359f2a8ef15f3f274cbfa5becc521e5728397d60265ffb21"))
    }

    /// Source: RFC 4231, sections 4.2 and 4.7 (a key longer than a block).
    @Test(
        "codes are those of RFC 4231",
        arguments: [
            (
                [UInt8](repeating: 0x0b, count: 20), "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
                "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde"
                    + "daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854"
            ),
            (
                [UInt8](repeating: 0xaa, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
                "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352"
                    + "6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598"
            ),
        ])
    func codes(key: [UInt8], message: String, short: String, long: String) {
        func code(_ function: HashFunction) -> [UInt8] {
            output(function.digestByteCount) { buffer in
                let code = key.withUnsafeBytes { HMAC(function, key: $0) }
                Array(message.utf8).withUnsafeBytes { code.update($0) }
                code.finish(into: buffer)
            }
        }
        #expect(code(.sha256) == bytes(short))
        #expect(code(.sha512) == bytes(long))
    }

    /// Source: RFC 5869, appendices A.1 and A.2.
    @Test("keys are those of RFC 5869")
    func keys() {
        let first = derive(
            key: [UInt8](repeating: 0x0b, count: 22), salt: Array(0x00...0x0c), info: Array(0xf0...0xf9), count: 42)
        #expect(
            first
                == bytes("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"))
        let second = derive(
            key: Array(0x00...0x4f), salt: Array(0x60...0xaf), info: Array(0xb0...0xff), count: 82)
        #expect(
            second
                == bytes(
                    "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09"
                        + "da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"))
    }

    private func derive(key: [UInt8], salt: [UInt8], info: [UInt8], count: Int) -> [UInt8] {
        let extracted = output(32) { buffer in
            salt.withUnsafeBytes { salt in
                key.withUnsafeBytes { HKDF.extract(.sha256, salt: salt, key: $0, into: buffer) }
            }
        }
        return output(count) { buffer in
            info.withUnsafeBytes { info in
                extracted.withUnsafeBytes { HKDF.expand(.sha256, $0, info: info, into: buffer) }
            }
        }
    }

    @Test("equal is equal, and one bit anywhere is not")
    func comparison() {
        let left = Array(UInt8(0)...31)
        for place in 0..<32 {
            for bit in 0..<8 {
                var right = left
                #expect(left.withUnsafeBytes { left in right.withUnsafeBytes { isEqualInConstantTime(left, $0) } })
                right[place] ^= 1 << bit
                #expect(!left.withUnsafeBytes { left in right.withUnsafeBytes { isEqualInConstantTime(left, $0) } })
            }
        }
    }
}

/// The `openssl` command, as a writer and reader that has nothing to do with this project.
enum OpenSSLCommand {
    static let path = "/usr/bin/openssl"
    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: path) }

    /// Runs `openssl enc` on a few bytes (less than a pipe holds).
    static func enc(_ cipher: String, key: [UInt8], iv: [UInt8], padding: Bool, _ input: [UInt8]) throws -> [UInt8] {
        func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = ["enc", "-e", "-\(cipher)", "-K", hex(key), "-iv", hex(iv)] + (padding ? [] : ["-nopad"])
        let (standardInput, standardOutput) = (Pipe(), Pipe())
        process.standardInput = standardInput
        process.standardOutput = standardOutput
        try process.run()
        try standardInput.fileHandleForWriting.write(contentsOf: Data(input))
        try standardInput.fileHandleForWriting.close()
        let output = try standardOutput.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return process.terminationStatus == 0 ? Array(output) : []
    }
}
