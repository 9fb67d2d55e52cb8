import Support
import Testing

@Suite("JSON syntax")
struct JSONSyntaxTests {
    @Test(
        "what is JSON has no complaint",
        arguments: [
            "{}", "[]", " [1, -0.5e+3, \"a\\\"\\u00e9\", true, false, null] \n", "{\"a\": {\"b\": [[]]}}", "0", "\"\"",
        ])
    func good(text: String) {
        #expect(JSONSyntax.mismatch(in: Array(text.utf8)) == nil)
        #expect(JSONValue.parse(Array(text.utf8)) != nil)
    }

    @Test(
        "what is not JSON is told with its line",
        arguments: [
            ("", 1), ("{\n \"a\": 1,\n}", 3), ("{\n\n \"a\" 1}", 3), ("[1,2\n", 2), ("{\"a\":01}", 1), ("[1]\n[2]", 2),
            ("[tru]", 1), ("\"\n\"", 1), ("[\n\"a", 2), ("{1:2}", 1), ("[1.]", 1), ("[+1]", 1), ("\"\\", 1),
        ])
    func bad(text: String, line: Int) {
        let found = JSONSyntax.mismatch(in: Array(text.utf8))
        #expect(found?.line == line, "\(text): \(found.map { "\($0)" } ?? "no complaint")")
    }

    @Test("nesting without end is a complaint, not a crash")
    func deep() {
        #expect(JSONSyntax.mismatch(in: [UInt8](repeating: UInt8(ascii: "["), count: 1 << 20)) != nil)
    }
}
