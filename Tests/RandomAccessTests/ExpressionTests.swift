import BackendRegistry
import ByteSources
import Foundation
import TestSupport
import Testing

@testable import RandomAccess

@Suite("expressions of descriptions")
struct ExpressionTests {
    private static func scope(_ names: [String: Value]) -> ExpressionScope {
        var scope = ExpressionScope()
        for (name, value) in names { scope.kinds[name] = value.kind }
        scope.functions["frame"] = .init(
            parameters: ["x"], text: "u16be(len(x)) ++ x", place: DescriptionPlace(line: 9, column: 9))
        scope.functions["twice"] = .init(
            parameters: ["x"], text: "frame(x) ++ frame(x)", place: DescriptionPlace(line: 9, column: 9))
        return scope
    }

    private static let names: [String: Value] = [
        "i": .integer(5), "last": .integer(1), "salt": .bytes(ByteString([1, 2, 3])), "mode": .text("gcm"),
    ]

    private static func value(_ text: String) throws -> Value {
        try ExpressionParser.formula(text, at: DescriptionPlace(line: 1, column: 1), in: scope(names))
            .value(names, in: "test")
    }

    @Test(
        "values",
        arguments: [
            ("1 + 2 * 3", 7), ("(1 + 2) * 3", 9), ("10 / 3", 3), ("10 % 3", 1), ("i << 1 | last", 11),
            ("1 << 2 + 1", 8), ("i >> 1 << 1", 4), ("!i", 0), ("!0", 1), ("i == 5 && last", 1), ("i < 5 || i >= 6", 0),
            ("last ? 7 : 1 / 0", 7), ("mode == 'gcm' ? 16 : 24", 16), ("len(salt ++ 'ab')", 5), ("0x1F & 7", 7),
            ("beInt(salt)", 0x010203), ("leInt(salt)", 0x030201), ("6 ^ 3", 5), ("salt == x'010203'", 1),
            ("2 - 3 + 4", 3),
        ])
    func integers(_ text: String, _ expected: Int) throws {
        #expect(try Self.value(text) == .integer(Int128(expected)))
    }

    @Test(
        "bytes",
        arguments: [
            ("u8(1) ++ u16be(2) ++ u32le(3)", "01000203000000"), ("be(i, 3)", "000005"), ("le(258, 3)", "020100"),
            ("slice(salt, 1, 2)", "0203"), ("truncate(salt, 2)", "0102"), ("zeros(2)", "0000"),
            ("repeat('ab', 2)", "61626162"), ("reverse(salt)", "030201"), ("addBE(x'00ffff', 1)", "010000"),
            ("addLE(x'ffff00', 1)", "000001"), ("addBE(x'ffff', 1)", "0000"), ("addLE(x'0100', 0 - 1)", "0000"),
            ("salt ^ x'010101'", "000302"), ("frame('abc')", "0003616263"), ("twice('')", "00000000"),
            ("hash('sha256', '')", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            // Source: RFC 4231, section 4.3.
            (
                "hmac('sha384', 'Jefe', 'what do ya want for nothing?')",
                "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649"
            ),
            // Source: RFC 7914, section 11.
            (
                "slice(pbkdf2('sha256', 'passwd', 'salt', 1, 64), 0, 16)", "55ac046e56e3089fec1691c22544b605"
            ),
            (
                "hkdf('sha256', repeat(u8(11), 22), x'000102030405060708090a0b0c', x'f0f1f2f3f4f5f6f7f8f9', 5)",
                "3cb25f25fa"
            ),
        ])
    func bytes(_ text: String, _ expected: String) throws {
        #expect(try Self.value(text) == .bytes(#require(ByteString(hexadecimal: expected))))
    }

    @Test(
        "faults have their place",
        arguments: [
            ("1 + sald", 5, "salt"), ("1 + salt", 5, "an integer"), ("u8('a')", 4, "an integer"), ("u9(1)", 1, "u8"),
            ("slice(salt, 1)", 1, "expected 3"), ("(1", 3, "\")\""), ("1 ? 2 : 'a'", 9, "an integer"),
            ("'ab", 1, "second '"),
            ("x'0'", 1, "even number"), ("1 $ 2", 3, "operator"), ("1 2", 3, "operator"), ("", 1, "a name"),
            ("99999999999999999999999", 1, "2^64"), ("frame(1)", 19, "bytes"), ("1 ++ 'a'", 1, "bytes"),
        ])
    func faults(_ text: String, _ column: Int, _ expected: String) {
        let error = #expect(throws: DescriptionError.self) {
            try ExpressionParser.formula(text, at: DescriptionPlace(line: 1, column: 1), in: Self.scope(Self.names))
        }
        #expect(error?.place.column == column, "\(String(describing: error))")
        #expect(error?.message.contains(expected) == true, "\(String(describing: error))")
    }

    @Test(
        "what has no value is an error",
        arguments: [
            "1 / 0", "1 % 0", "u8(256)", "u8(0 - 1)", "1 << 127", "1 << 64 << 64", "(1 << 100) * (1 << 100)",
            "slice(salt, 2, 2)",
            "slice(salt, 0 - 1, 1)", "'a' ^ 'ab'", "zeros(1 << 40)", "repeat('a', 1 << 30)", "hash('md4', '')",
            "be(1, 0 - 1)", "be(1, 1 << 20)", "beInt(zeros(17) ++ repeat(u8(255), 16))",
            "hkdfExpand('sha256', '', '', 9999)",
        ])
    func noValue(_ text: String) {
        let error = #expect(throws: DecryptionError.self) { try Self.value(text) }
        #expect(error?.protocolName == "invalidRequest")
    }

    @Test("functions that call one another are bounded")
    func bounded() {
        var scope = ExpressionScope()
        let place = DescriptionPlace(line: 2, column: 3)
        scope.functions["f"] = .init(parameters: ["x"], text: "f(x) ++ f(x)", place: place)
        scope.functions["g"] = .init(
            parameters: ["x"], text: Array(repeating: "x", count: 900).joined(separator: "++"), place: place)
        for text in ["f('')", "g(g(g('')))", String(repeating: "(", count: 300), String(repeating: "!", count: 300)] {
            #expect(throws: DescriptionError.self) {
                try ExpressionParser.formula(text, at: DescriptionPlace(line: 1, column: 1), in: scope)
            }
        }
    }

    @Test("templates and evaluation make the same bytes of a chunk")
    func templates() throws {
        let texts = [
            "u64be(i)", "be(i, 11) ++ u8(last)", "x'0102' ++ u32le(i * 8)", "addLE(x'ffffff', i)", "salt ++ u32be(i)",
            "x'0000000000000001' ^ u64be(i << 1 | last)", "addBE(x'00ffffffffffffff', i) ^ zeros(8)",
            "slice(part, 1, 3) ^ be(i & 255, 3)", "part ++ u16be(n)", "truncate(part, 2) ++ u64le(at + stored)",
        ]
        var scope = Self.scope(Self.names)
        for name in ["n", "stored", "at"] { scope.kinds[name] = .integer }
        scope.kinds["part"] = .bytes
        let stored: [UInt8] = [9, 8, 7, 6, 5]
        for text in texts {
            let formula = try ExpressionParser.formula(text, at: DescriptionPlace(line: 1, column: 1), in: scope)
                .folded(["salt": .bytes(ByteString([1, 2, 3]))], in: "test")
            let trial = ChunkNumbers(index: 0, plaintextByteCount: 3, storedByteCount: 5, offset: 0)
            let compiled = try ChunkFormula(
                formula, parts: PartRanges(inner: ["part": 1..<5], last: ["part": 1..<5]), trial: trial, in: "test")
            #expect(compiled.isTotal == !text.contains("at + stored"), "\(text)")
            for (index, isLast) in [(UInt64(0), false), (1, true), (255, false), (256, true), (70000, false)] {
                let numbers = ChunkNumbers(index: index, plaintextByteCount: 3, storedByteCount: 5, offset: index * 3)
                var names = numbers.names
                names["last"] = .integer(isLast ? 1 : 0)
                names["part"] = .bytes(ByteString(stored[1...]))
                let expected = try formula.bytes(names, in: "test").array
                var output = [UInt8](repeating: 0, count: compiled.maxByteCount)
                let count = try output.withUnsafeMutableBytes { output in
                    try stored.withUnsafeBytes {
                        try compiled.write(numbers, isLast: isLast, stored: $0, into: output)
                    }
                }
                #expect(Array(output[..<count]) == expected, "\(text), \(index)")
            }
        }
    }
}
