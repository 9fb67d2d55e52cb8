import Support
import Testing

@Suite("JSON values")
struct JSONValueTests {
    @Test(
        "a line reads back as the value that it was written from",
        arguments: [
            .null, true, false, 0, 1, .integer(1 << 53), .integer(.max), .number(0.5), .number(-3.25), "",
            "a/\"b\"\\\n\u{1}\u{2028}é😀", [], [:], [1, "x", .null, [true]], ["b": 1, "a": ["c": []]],
        ] as [JSONValue]
    )
    func lines(value: JSONValue) throws {
        let line = value.line
        #expect(line.last == 0x0A)
        #expect(
            line.dropLast().allSatisfy { $0 != 0x0A }, "a line break inside \(String(decoding: line, as: UTF8.self))")
        #expect(JSONValue.parse(Array(line.dropLast())) == value)
    }

    @Test("the indented text reads back as well", arguments: ["\u{0}\u{1f}\u{7f}\"\\\t\r\n", "é😀/", "\u{2028}"])
    func text(string: String) {
        let value: JSONValue = ["member": .string(string), "list": [1, 2], "deep": [["a": .null]]]
        #expect(JSONValue.parse(Array(value.text.utf8)) == value)
    }

    @Test(
        "what is no JSON is no value",
        arguments: [
            "", " ", "{", "{\"a\":1", "{'a':1}", "nul", "{\"a\":1}x", "{\"a\" 1}", "\"a", "\u{0}", "NaN",
        ])
    func garbage(text: String) {
        #expect(JSONValue.parse(Array(text.utf8)) == nil)
    }

    @Test("bytes that are no UTF-8 are no value")
    func badEncoding() {
        #expect(JSONValue.parse([0x22, 0xff, 0xfe, 0x22]) == nil)
    }

    @Test("a very deep value is refused, not the end of the process")
    func deep() {
        #expect(JSONValue.parse([UInt8](repeating: 0x5B, count: 100_000)) == nil)
    }

    @Test("integers are exact up to 2^64 - 1; signs and fractions make numbers that are no integers")
    func integers() {
        func integer(_ text: String) -> UInt64? { JSONValue.parse(Array(text.utf8))?.integer }
        #expect(integer("9007199254740993") == 9_007_199_254_740_993)
        #expect(integer("18446744073709551615") == .max)
        #expect(integer("18446744073709551616") == nil)
        #expect(integer("-1") == nil)
        #expect(integer("1.5") == nil)
        #expect(integer("\"1\"") == nil)
        #expect(integer("true") == nil)
    }

    @Test("each accessor takes its own kind only")
    func access() {
        let value: JSONValue = ["s": "x", "i": 1, "b": true, "a": [1], "n": .null]
        #expect(value["s"]?.string == "x" && value["i"]?.integer == 1 && value["b"]?.bool == true)
        #expect(value["a"]?.array == [1] && value["n"] == .null && value["absent"] == nil)
        #expect(value["s"]?.integer == nil && value["i"]?.string == nil && value["i"]?.bool == nil)
        #expect(JSONValue.string("x")["s"] == nil && JSONValue(count: -1) == 0 && JSONValue(nil as String?) == .null)
    }
}
