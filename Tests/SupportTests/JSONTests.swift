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

    @Test("a text of more values, or more lists, objects, texts and members, than there is memory for is refused")
    func limits() throws {
        func refusal(_ text: String, maxValues: Int = .max, maxParts: Int = .max) -> String? {
            do {
                _ = try JSONParser.parse(Array(text.utf8), maxValues: maxValues, maxParts: maxParts)
                return nil
            } catch {
                return error.expected
            }
        }
        #expect(refusal("[1,2,3]", maxValues: 4) == nil)
        #expect(refusal("[1,2,3]", maxValues: 3) == "at most 3 values")
        for text in ["[[],[],[]]", "[{},{},{}]", "[\"\",\"\",\"\"]", "{\"a\":1,\"b\":2,\"c\":3}"] {
            #expect(refusal(text, maxParts: 4) == nil)
            #expect(refusal(text, maxParts: 3) == "at most 3 lists, objects, texts and members")
        }
        #expect(refusal("[" + String(repeating: "0,", count: 9000) + "0]") == nil)
        #expect(JSONParser.maxValues == 8_388_608 && JSONParser.maxParts == 1_048_576)
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

@Suite("encoded JSON")
struct EncodedJSONTests {
    private struct Record: Encodable {
        enum Kind: String, Encodable { case plain }
        struct Inner: Encodable {
            var missing: Int?
            var count = 2
        }

        var zero: Bool?
        var double = 1.0
        var fraction = -0.5
        var name: String? = "é/\""
        var missing: String?
        var kind = Kind.plain
        var list = [1, nil]
        var samples: [[UInt64]] = [[1, .max], []]
        var inner = [Inner()]
        var empty: [String: Bool] = [:]
        var absent: Inner?
    }

    private static let present =
        #""double":1,"empty":{},"fraction":-0.5,"inner":[{"count":2}],"kind":"plain","list":[1,null],"#
        + #""name":"é/\"","samples":[[1,18446744073709551615],[]]}"# + "\n"

    @Test("members are in order, absent ones are left out, and whole numbers are integers")
    func record() {
        #expect(String(decoding: JSONValue(encoding: Record()).line, as: UTF8.self) == "{" + Self.present)
    }

    @Test("absent members that a call names are null, on the first level; all of them are on every level")
    func nulls() {
        let some = JSONValue(encoding: Record(), nullable: ["absent", "zero"])
        #expect(some["absent"] == .null && some["zero"] == .null && some["missing"] == nil)
        #expect(JSONValue(encoding: [Record()], nullable: ["zero"]).array?.first?["zero"] == nil)
        let all = JSONValue(encoding: Record(), nullable: .all)
        #expect(all["absent"] == .null && all["missing"] == .null)
        #expect(all["inner"] == [["count": 2, "missing": .null]])
    }

    @Test("other members are added, or take the place of the record's")
    func others() {
        let value = JSONValue(encoding: Record.Inner(), adding: ["count": "two", "more": Record.Inner()])
        #expect(value == ["count": "two", "more": ["count": 2]])
    }

    @Test("an object of values keeps fractions, and has null for each absent value")
    func object() {
        let value = JSONValue(members: [
            "whole": 1.0, "half": Double?.some(0.5), "none": UInt64?.none, "text": "t", "value": JSONValue.number(2),
        ])
        let expected: JSONValue = [
            "whole": .number(1), "half": .number(0.5), "none": .null, "text": "t", "value": .number(2),
        ]
        #expect(value == expected)
    }

    @Test("a value is encoded as itself", arguments: [.null, true, 3, .number(3), "x", ["a": [.null]]] as [JSONValue])
    func values(value: JSONValue) throws {
        #expect(JSONValue(encoding: value) == value)
        #expect(JSONValue(encoding: [value]) == .array([value]))
    }

    @Test("numbers that are no integers of at least 0 stay numbers; a number that is not finite is an error")
    func numbers() throws {
        let texts = [-1, 1.5, 1e15, 9_007_199_254_740_992, 9_007_199_254_740_994, 1e300].map {
            JSONValue(encoding: $0).text
        }
        #expect(texts == ["-1.0", "1.5", "1000000000000000", "9007199254740992", "9.007199254740994e+15", "1e+300"])
        #expect(JSONValue(encoding: -7) == .number(-7))
        #expect(throws: EncodingError.self) { try JSONValue.encode([Double.infinity]) }
        #expect(JSONValue(encoding: [1.5, Double.nan]) == .array([.number(1.5), .null]))
    }
}

@Suite("scanning plain JSON")
struct JSONScannerTests {
    /// The values of an object with members of each kind; `nil` where the scanner leaves it to a decoder.
    private struct Members: Equatable {
        var text: String?
        var number: UInt64?
        var count: Int?
        var flag: Bool?
        var list: [UInt64] = []
    }

    private func scan(_ json: String) -> Members? {
        var json = json
        return json.withUTF8 { bytes in
            var scanner = JSONScanner(UnsafeRawBufferPointer(bytes))
            var members = Members()
            do throws(JSONScanner.Unsupported) {
                try scanner.object { (scanner, name) throws(JSONScanner.Unsupported) in
                    switch name {
                    case "text": try scanner.read(&members.text)
                    case "number": try scanner.read(&members.number)
                    case "count": try scanner.read(&members.count)
                    case "flag": try scanner.read(&members.flag)
                    case "list": try scanner.unsigned(into: &members.list)
                    default: throw JSONScanner.Unsupported()
                    }
                }
                try scanner.end()
            } catch {
                return nil
            }
            return members
        }
    }

    @Test("plain members are read, in any order and with any space between")
    func plain() {
        let all = Members(text: "a b", number: 9_999_999_999_999_999_999, count: 0, flag: true, list: [1, 20, 0])
        #expect(
            scan("{\"text\":\"a b\",\"number\":9999999999999999999,\"count\":0,\"flag\":true,\"list\":[1,20,0]}") == all
        )
        #expect(
            scan(
                " {\r\n\"list\" : [ 1 , 20,0 ] ,\t\"flag\":true,\"count\":0, \"number\":9999999999999999999,\"text\":\"a b\" } \n"
            )
                == all)
        #expect(scan("{}") == Members() && scan("{\"text\":null,\"flag\":false,\"list\":[]}") == Members(flag: false))
    }

    @Test(
        "whatever is not plain is left to a decoder",
        arguments: [
            "", "{", "}", "[]", "{\"text\":\"a\\n\"}", "{\"text\":\"é\"}", "{\"text\":\"a", "{\"text\":1}",
            "{\"text\"}",
            "{\"number\":-1}", "{\"number\":1.0}", "{\"number\":1e3}", "{\"number\":01}", "{\"number\":}",
            "{\"number\":18446744073709551616}", "{\"number\":100000000000000000000000}", "{\"number\":NaN}",
            "{\"count\":9223372036854775808}", "{\"flag\":1}", "{\"flag\":truefalse}", "{\"list\":[1,]}",
            "{\"list\":[1",
            "{\"list\":[-1]}", "{\"list\":1}", "{\"other\":1}", "{\"flag\":true,}", "{\"flag\":true}{}",
            "{\"flag\":true,\"flag\":true}", "{\"text\":\"\u{7F}\"}", "{\"text\":\"\t\"}",
        ])
    func unusual(json: String) {
        #expect(scan(json) == nil)
    }
}

@Suite("parsing JSON")
struct JSONParserTests {
    @Test(
        "numbers are integers where they are whole, from 0, and fit 64 bits",
        arguments: [
            ("0", 0), ("18446744073709551615", .integer(.max)), ("1e3", 1000), ("5.0", 5), ("-0", 0),
            ("18446744073709551616", .number(18446744073709551616)), ("-1", .number(-1)), ("1.5", .number(1.5)),
            ("1e-3", .number(0.001)),
        ] as [(String, JSONValue)])
    func numbers(text: String, value: JSONValue) {
        #expect(JSONValue.parse(Array(text.utf8)) == value)
    }

    @Test("text that would drive a terminal is written as escapes, and all other text as it is")
    func writtenEscapes() {
        let text = "é\u{9B}\u{202E}\u{7F}\u{2028}日\u{1F600}\0\n\"\\"
        let line = JSONValue.string(text).line
        #expect(
            String(decoding: line, as: UTF8.self)
                == "\"é\\u009b\\u202e\\u007f\\u2028日\u{1F600}\\u0000\\n\\\"\\\\\"\n")
        #expect(JSONValue.parse(Array(line.dropLast()))?.string == text)
    }

    @Test("escapes are characters, surrogates in pairs")
    func escapes() {
        let text = #""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\u0000""#
        #expect(JSONValue.parse(Array(text.utf8)) == .string("\"\\/\u{8}\u{C}\n\r\té😀\u{0}"))
    }

    @Test("of members with the same name the last one counts, and space around values does not")
    func members() {
        #expect(JSONValue.parse(Array(" {\"a\" : 1 ,\n\"a\":[ ]\t} \r\n".utf8)) == ["a": []])
    }

    @Test(
        "what is not JSON is told with its line",
        arguments: [
            ("", 1), ("{\n \"a\": 1,\n}", 3), ("{\n\n \"a\" 1}", 3), ("[1,2\n", 2), ("{\"a\":01}", 1), ("[1]\n[2]", 2),
            ("[tru]", 1), ("\"\n\"", 1), ("[\n\"a", 2), ("{1:2}", 1), ("[1.]", 1), ("[+1]", 1), ("\"\\", 1),
            ("\n\"\\x\"", 2), ("\"\\u12\"", 1), ("\"\\ud83d\"", 1), ("\"\\ude00\"", 1), ("\"\\ud83d\\u0041\"", 1),
            ("[1e999]", 1), ("[,]", 1), ("[1,,2]", 1), ("{\"a\":}", 1),
        ])
    func bad(text: String, line: Int) {
        #expect(throws: JSONParser.Mismatch.self) { try JSONParser.parse(Array(text.utf8)) }
        do throws(JSONParser.Mismatch) {
            _ = try JSONParser.parse(Array(text.utf8))
        } catch {
            #expect(error.line == line, "\(text): \(error)")
        }
    }

    @Test("64 levels are read, one more is refused")
    func depth() {
        func nested(_ count: Int) -> [UInt8] {
            [UInt8](repeating: UInt8(ascii: "["), count: count) + [UInt8](repeating: UInt8(ascii: "]"), count: count)
        }
        #expect(JSONValue.parse(nested(64)) != nil)
        #expect(JSONValue.parse(nested(65)) == nil)
    }

    @Test("a text without end is wrong wherever it stops")
    func everyPrefix() {
        let text = Array("{\"a\": [1, -0.5e+3, \"a\\\"\\u00e9é\", true, false, null], \"b\": {}}".utf8)
        #expect(JSONValue.parse(text) != nil)
        for count in text.indices { #expect(JSONValue.parse(Array(text[..<count])) == nil) }
    }
}

@Suite("the largest number in JSON")
struct LargestIntegerTests {
    @Test(
        "is found however deep it is; other values are none",
        arguments: [
            ("{}", nil), ("[1.5,\"9\",true,null]", nil), ("3", 3), ("[1,{\"a\":[2,{\"b\":7}],\"c\":5}]", 7),
            ("[18446744073709551615]", UInt64.max),
        ] as [(String, UInt64?)])
    func largest(text: String, expected: UInt64?) throws {
        #expect(try #require(JSONValue.parse(Array(text.utf8))).maxInteger == expected)
    }
}
