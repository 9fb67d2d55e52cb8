import Support
import Testing

@Suite("scanning plain JSON")
struct JSONScannerTests {
    /// What is read of an object with members of each kind; `nil` where the scanner leaves it to a decoder.
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
            do throws(JSONScanner.Unusual) {
                try scanner.object { (scanner, name) throws(JSONScanner.Unusual) in
                    switch name {
                    case "text": try scanner.read(&members.text)
                    case "number": try scanner.read(&members.number)
                    case "count": try scanner.read(&members.count)
                    case "flag": try scanner.read(&members.flag)
                    case "list": try scanner.unsigned(into: &members.list)
                    default: throw JSONScanner.Unusual()
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
