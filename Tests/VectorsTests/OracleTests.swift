import BackendRegistry
import ByteSources
import Foundation
import RandomAccess
import TestSupport
import Testing

@testable import Vectors

func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.filter { !$0.isWhitespace }.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

extension Oracle {
    func decrypt(_ ciphertext: [UInt8], range: Range<UInt64>? = nil) throws -> [UInt8] {
        let source = MemorySource(ciphertext)
        let length = try plaintextByteCount(of: source)
        let range = range ?? 0..<length
        var output = [UInt8](repeating: 0, count: range.count)
        try output.withUnsafeMutableBytes {
            try decrypt(ciphertext: source, plaintextByteCount: length, range: range, into: $0)
        }
        return output
    }
}

@Suite("the oracle")
struct OracleTests {
    @Test(
        "has the blocks of FIPS 197, appendix C",
        arguments: [
            (16, "69c4e0d86a7b0430d8cdb78070b4c55a"), (24, "dda97ca4864cdfe06eaf70a0ec0d7191"),
            (32, "8ea2b7ca516745bfeafc49904b496089"),
        ])
    func appendixC(keyByteCount: Int, ciphertext: String) throws {
        let aes = OracleAES(key: try SecretKey((0..<keyByteCount).map { UInt8($0) }))
        let plaintext = OracleBlock(bytes("00112233445566778899aabbccddeeff"))
        #expect(aes.encrypt(plaintext).bytes == bytes(ciphertext))
        #expect(aes.decrypt(OracleBlock(bytes(ciphertext))) == plaintext)
    }

    @Test("reads SP 800-38A as printed, whole and in every range")
    func sp80038a() throws {
        let file = try VectorFile(path: vectorFilePath)
        for group in file.groups {
            let oracle = Oracle(strategy: group.strategy, key: group.key)
            var ciphertext = [UInt8](repeating: 0, count: 64)
            try ciphertext.withUnsafeMutableBytes { try group.ciphertext.fetch(at: 0, into: $0) }
            var plaintext = [UInt8](repeating: 0, count: 64)
            try plaintext.withUnsafeMutableBytes { try group.plaintext.copy(0..<64, into: $0) }
            #expect(try oracle.decrypt(ciphertext) == plaintext)
            #expect(oracle.encrypt(plaintext) == ciphertext)
            for start in 0..<64 {
                for end in start...64 {
                    let part = try oracle.decrypt(ciphertext, range: UInt64(start)..<UInt64(end))
                    #expect(part == Array(plaintext[start..<end]), "\(start)..<\(end)")
                }
            }
        }
    }

    @Test("adds with carries as 128-bit numbers do")
    func sums() {
        for start in [0, 0xffff_fffd, 0xffff_ffff_ffff_ffff, UInt128.max >> 32, .max - 1, .max] as [UInt128] {
            for count in [0, 1, 2, 3, 0xffff_ffff, 0x1_0000_0000, .max - 1, .max] as [UInt64] {
                let sum = OracleBlock(Block(bigEndianValue: start).bytes).adding(count)
                #expect(sum.bytes == Block(bigEndianValue: start &+ UInt128(count)).bytes)
            }
        }
    }

    @Test("agrees with OpenSSL on objects that our encryptor wrote", arguments: VectorSet.smallStrategies)
    func differential(strategy: Strategy) throws {
        for byteCount in [0, 16, 48, 96, 144] + (strategy.padding == Padding.none ? [] : [1, 47, 49, 150]) {
            let key = VectorSet.key(byteCount)
            let plaintext = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 3) }
            let encryptor = try ObjectEncryptor(
                strategy: strategy, backend: BackendRegistry.backend(named: "openssl"), key: key)
            var ciphertext: [UInt8] = []
            try plaintext.withUnsafeBytes { try encryptor.append($0) { ciphertext += $0 } }
            try encryptor.finish { ciphertext += $0 }
            let oracle = Oracle(strategy: strategy, key: key)
            #expect(oracle.encrypt(plaintext) == ciphertext)
            #expect(try oracle.decrypt(ciphertext) == plaintext)
        }
    }

    @Test(
        "agrees with the openssl command",
        .enabled(if: OpenSSLCommand.isInstalled, "the openssl command is not installed"),
        arguments: ["cbc", "ctr"], [0, 1, 2])
    func command(mode: String, keyNumber: Int) throws {
        let key = VectorSet.key(keyNumber)
        let iv = Block(bigEndianValue: .max - 1)
        let ciphertext = (0..<4800).map { UInt8(truncatingIfNeeded: $0 &* 11 &+ $0 / 256) }
        let found = try OpenSSLCommand.decrypt(
            "aes-\(key.byteCount * 8)-\(mode)", key: key.withUnsafeBytes { Array($0) }, iv: iv.bytes, ciphertext)
        let strategy = mode == "cbc" ? Strategy.cbcContinuous(iv: iv, padding: .none) : .ctr(iv: iv)
        #expect(try Oracle(strategy: strategy, key: key).decrypt(ciphertext) == found)
    }
}

/// The path of the repository's vector file.
let vectorFilePath = URL(filePath: #filePath).appending(path: "../../../data/vectors/sp800-38a.json").standardized
    .path(percentEncoded: false)

/// The `openssl` command: an implementation that has nothing to do with this project.
enum OpenSSLCommand {
    static let path = "/usr/bin/openssl"
    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: path) }

    /// Runs `openssl enc -d` on a few bytes (less than a pipe holds), without padding.
    static func decrypt(_ cipher: String, key: [UInt8], iv: [UInt8], _ input: [UInt8]) throws -> [UInt8] {
        func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = ["enc", "-d", "-nopad", "-\(cipher)", "-K", hex(key), "-iv", hex(iv)]
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
