import BackendRegistry
import ByteSources
import Foundation
import RandomAccess
import Testing

@testable import Vectors

@Suite("the oracle on descriptions")
struct OracleObjectTests {
    private static func strategy(_ name: String, _ values: [String: Value]) throws -> Strategy {
        let file = URL(filePath: #filePath).appending(path: "../../../data/formats/\(name).yml").standardized
        return Strategy(try #require(try Format.read(Array(try Data(contentsOf: file))).first), values)
    }

    @Test(
        "reads what our encryptor writes, and refuses a change",
        arguments: [
            ("dare", [:]), ("gocryptfs", ["mode": .text("gcm")]), ("xts-sectors", ["sectorByteCount": .integer(512)]),
            ("tink-aes-gcm-hkdf", ["segmentByteCount": .integer(256)]), ("cobblestone", [:]),
        ] as [(String, [String: Value])])
    func encrypted(name: String, values: [String: Value]) throws {
        let strategy = try Self.strategy(name, values)
        let key = try SecretKey((0..<UInt8(strategy.format.keyByteCounts?.first ?? 32)).map { $0 })
        for count in [0, 512, 4096, 65536, 131_584] {
            let plaintext = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 >> 3) }
            let encryptor = try ObjectEncryptor(
                strategy: strategy, backend: BackendRegistry.backend(named: "openssl"), key: key)
            var ciphertext: [UInt8] = []
            try plaintext.withUnsafeBytes { try encryptor.append($0) { ciphertext += $0 } }
            try encryptor.finish { ciphertext += $0 }
            let source = MemorySource(ciphertext)
            let object = try OracleObject(strategy, key: key, source: source, isChecked: true)
            #expect(try object.checkedPlaintextByteCount(of: source) == UInt64(count))
            for range in [0..<count, count / 3..<count / 2, count - min(count, 17)..<count] {
                var found = [UInt8](repeating: 0, count: range.count)
                try found.withUnsafeMutableBytes {
                    try object.decrypt(UInt64(range.lowerBound)..<UInt64(range.upperBound), of: source, into: $0)
                }
                #expect(found == Array(plaintext[range]), "\(name), \(count) bytes, \(range)")
            }
            guard count > 0, strategy.format.layout.count > 1 else { continue }
            ciphertext[ciphertext.count - 1] ^= 1
            let changed = MemorySource(ciphertext)
            let changedObject = try OracleObject(strategy, key: key, source: changed, isChecked: true)
            #expect(throws: DecryptionError.self) { try changedObject.check(changedObject.chunkCount - 1, of: changed) }
        }
    }

    @Test("evaluates expressions with overflow and types in mind")
    func expressions() throws {
        let place = try #require(Format.known.first).cipher.place
        func value(_ text: String) throws -> Value {
            let formula = try ExpressionParser.formula(text, at: place, in: ExpressionScope())
            return try OracleEvaluator(names: [:], format: "test").value(formula)
        }
        #expect(try value("1 << 100 >> 98") == .integer(4))
        #expect(try value("0 && 1 / 0 || 7 % 4 == 3") == .integer(1))
        #expect(try value("addLE(x'ffff00', 1)") == .bytes(ByteString([0, 0, 1])))
        #expect(try value("addBE(x'ffff', 3)") == .bytes(ByteString([0, 2])))
        #expect(try value("addBE(x'0000', 0 - 1)") == .bytes(ByteString([255, 255])))
        #expect(try value("u16le(258) ++ be(1, 3)") == .bytes(ByteString([2, 1, 0, 0, 1])))
        // RFC 6070 has only SHA-1; this is draft-josefsson-scrypt-kdf-01, section 11.
        #expect(
            try value("truncate(pbkdf2('sha256', 'passwd', 'salt', 1, 64), 8)")
                == .bytes(ByteString(bytes("55ac046e56e3089f"))))
        for text in ["1 << 127", "u8(256)", "u8(0 - 1)", "slice('abc', 2, 2)", "x'00' ^ x'0000'", "1 / 0"] {
            #expect(throws: DecryptionError.self, "\(text)") { try value(text) }
        }
    }
}
