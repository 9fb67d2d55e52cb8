internal import Support
internal import Vectors

extension ProtocolCheck {
    /// Requests that cannot be, each followed by one that can.
    static func requests() -> [ProtocolCheck] {
        let lines: [(String, String)] = [
            ("no JSON", "hello?"), ("an empty line", ""), ("a list", "[1,2]"), ("a number", "7"),
            ("half an object", "{\"op\":\"hello\""), ("no op", "{\"id\":1}"), ("an op that is a number", "{\"op\":1}"),
            ("an unknown op", "{\"op\":\"decrypt\",\"id\":1}"), ("hello without a protocol", "{\"op\":\"hello\"}"),
            ("read without an id", "{\"op\":\"read\",\"offset\":0,\"count\":1}"),
            ("read of an unknown id", "{\"op\":\"read\",\"id\":987654,\"offset\":0,\"count\":1}"),
            ("read of an id that is a text", "{\"op\":\"read\",\"id\":\"1\",\"offset\":0,\"count\":1}"),
            ("close of an unknown id", "{\"op\":\"close\",\"id\":987654}"),
            ("close without an id", "{\"op\":\"close\"}"),
        ]
        return lines.map { name, line in
            ProtocolCheck(name: name, flag: .subjectProtocol) { probe throws(ProtocolProbe.Complaint) in
                try probe.expect(.invalidRequest, line: line, name)
                try probe.read(try probe.open("open after it"), "read after it")
            }
        } + reads() + [
            ProtocolCheck(name: "another protocol", flag: .subjectProtocol) { probe throws(ProtocolProbe.Complaint) in
                try probe.expect(.unsupported, line: "{\"op\":\"hello\",\"protocol\":2}", "protocol 2")
                try probe.expectGood(["op": "hello", "protocol": 1], "hello after it")
            }
        ]
    }

    private static func reads() -> [ProtocolCheck] {
        let members: [(String, String)] = [
            ("without an offset", "\"count\":1"), ("without a count", "\"offset\":0"),
            ("with a negative offset", "\"offset\":-1,\"count\":1"),
            ("with a negative count", "\"offset\":0,\"count\":-1"),
            ("with half an offset", "\"offset\":0.5,\"count\":1"),
            ("with an offset that is a text", "\"offset\":\"0\",\"count\":1"),
            ("with a count that is null", "\"offset\":0,\"count\":null"),
            ("with a count that is true", "\"offset\":0,\"count\":true"),
        ]
        return members.map { name, members in
            ProtocolCheck(name: "read \(name)", flag: .subjectProtocol) { probe throws(ProtocolProbe.Complaint) in
                let id = try probe.open()
                try probe.expect(
                    .invalidRequest, line: "{\"op\":\"read\",\"id\":\(id),\(members)}", "read \(name)")
                try probe.read(id, "read after it")
            }
        }
    }

    /// What any message may look like, and payloads on requests that have no use for one.
    static func framing() -> [ProtocolCheck] {
        [
            ProtocolCheck(name: "JSON written otherwise", flag: .subjectProtocol) {
                probe throws(ProtocolProbe.Complaint) in
                let id = try probe.open()
                let line =
                    "{ \"count\" : 4 ,\t\"\\u006fp\" : \"\\u0072ead\", \"offset\": 0, \"id\" : \(id) , \"ü\": \"\\\\\" }\r\n"
                guard try probe.expectGood(Array(line.utf8), "read with spaces and escapes").payload.count == 4 else {
                    throw ProtocolProbe.Complaint(text: "read with spaces and escapes: expected 4 bytes")
                }
            },
            ProtocolCheck(name: "unknown members", flag: .subjectProtocol) { probe throws(ProtocolProbe.Complaint) in
                let id = probe.session.makeID()
                let long = String(repeating: "x", count: 100_000)
                let request = probe.openRequest(id, ["future": ["a": [1, "b", .null]], "long": .string(long)])
                try probe.expectGood(.object(request), "open with unknown members")
                try probe.read(id)
            },
            ProtocolCheck(name: "a payload on any request", flag: .subjectProtocol) {
                probe throws(ProtocolProbe.Complaint) in
                let id = try probe.open()
                // A payload that is not consumed is taken for requests.
                let body = Array("\n{\"op\":\"bye\"}\n\n".utf8)
                func bytes(_ line: String) -> [UInt8] {
                    Array("{\(line),\"payload\":\(body.count)}\n".utf8) + body
                }
                try probe.expectGood(bytes("\"op\":\"hello\",\"protocol\":1"), "hello with a payload")
                try probe.expectGood(
                    bytes("\"op\":\"read\",\"id\":\(id),\"offset\":0,\"count\":1"), "read with a payload")
                try probe.expect(.invalidRequest, bytes("\"op\":\"decrypt\""), "an unknown op with a payload")
                try probe.expect(
                    .invalidRequest, bytes("\"op\":\"read\",\"id\":987654"), "read of an unknown id with a payload")
                try probe.read(id, "read after payloads")
                try probe.expectGood(bytes("\"op\":\"close\",\"id\":\(id)"), "close with a payload")
                try probe.expect(.invalidRequest, ["op": "close", "id": .integer(id)], "close of a closed id")
            },
            ProtocolCheck(name: "a payload of 300,000 bytes", flag: .subjectProtocol) {
                probe throws(ProtocolProbe.Complaint) in
                let id = try probe.open()
                let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
                try probe.expect(
                    .invalidRequest, Array("{\"op\":\"decrypt\",\"payload\":300000}\n".utf8) + body,
                    "an unknown op with a long payload")
                try probe.read(id, "read after it")
            },
        ]
    }
}
