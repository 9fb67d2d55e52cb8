import SubjectProtocol
import Support
import Testing

private let key = "000102030405060708090a0b0c0d0e0f"

/// An `open` request that is good, but for what is changed.
private func open(_ changes: [String: JSONValue?] = [:], id: UInt64 = 1) -> String {
    var members: [String: JSONValue] = [
        "op": "open", "id": .integer(id), "strategy": "cbc-chunked", "chunkByteCount": 32, "ivRule": "fixed",
        "padding": "none", "key": .string(key), "iv": .string(key), "source": ["byteCount": 64],
    ]
    for (name, value) in changes { members[name] = value }
    return String(decoding: JSONValue.object(members).line.dropLast(), as: UTF8.self)
}

@Suite("the subject's side of the protocol")
struct ServerTests {
    @Test("requests that are impossible are answered as such, and the next one works")
    func recovery() throws {
        let lines = [
            "", "{", "[]", "1", "null", "\"hello\"", "{}", "{\"op\":1}", "{\"op\":\"dance\"}", "{\"op\":\"hello\"}",
            "{\"op\":\"hello\",\"protocol\":\"1\"}", "{\"op\":\"hello\",\"protocol\":1,\"payload\":-1}",
            "{\"op\":\"read\",\"id\":1,\"offset\":0,\"count\":1}",
            "{\"op\":\"close\",\"id\":1}", "{\"op\":\"measure\",\"id\":1}", "{\"op\":\"close\"}",
        ]
        let outcomes = try ServerScript.outcomes(of: lines.flatMap { [$0, "{\"op\":\"hello\",\"protocol\":1}"] })
        #expect(outcomes == lines.flatMap { _ in ["invalidRequest", "ok"] })
    }

    @Test("another protocol is unsupported", arguments: [0, 2, 9_007_199_254_740_991])
    func protocolNumber(number: UInt64) throws {
        #expect(try ServerScript.outcomes(of: ["{\"op\":\"hello\",\"protocol\":\(number)}"]) == ["unsupported"])
    }

    @Test("unknown members are ignored; goodbye is the last word")
    func goodbye() throws {
        let lines = ["{\"op\":\"hello\",\"protocol\":1,\"x\":{\"y\":[]}}", "{\"op\":\"bye\"}", "{\"op\":\"bye\"}"]
        #expect(try ServerScript.outcomes(of: lines) == ["ok", "ok"])
    }

    @Test(
        "a payload is consumed whatever the request",
        arguments: ["{\"op\":\"dance\",", "{\"op\":\"hello\",\"protocol\":1,", "{", "{\"op\":\"read\",\"id\":9,"])
    func payload(start: String) throws {
        for count in [0, 1, 70_000, 200_001] {
            // A line's end and a request inside a payload are neither.
            let junk = Array("\n{\"op\":\"bye\"}\n".utf8)
            let payload = (0..<count).map { junk[$0 % junk.count] }
            let input = Array((start + "\"payload\":\(count)}\n").utf8) + payload + Array("{\"op\":\"bye\"}\n".utf8)
            let answers = try ServerScript.answers(to: input).split(separator: 0x0A)
            #expect(
                answers.count == 2 && String(decoding: answers.last ?? [], as: UTF8.self) == "{\"ok\":true}", "\(count)"
            )
        }
    }

    @Test("a payload that does not come, or has no sender, is the end of input")
    func cutPayload() throws {
        for count: UInt64 in [5, .max] {
            let input = Array("{\"op\":\"hello\",\"protocol\":1,\"payload\":\(count)}\nabc".utf8)
            #expect(try ServerScript.answers(to: input).isEmpty)
        }
    }

    @Test("an identifier is in use until it is closed; a failed open leaves it free")
    func identifiers() throws {
        let close = "{\"op\":\"close\",\"id\":1}"
        let lines = [
            open(["padding": "x"]), open(), open(), open(["strategy": "x"]), open(id: 2), close, close, open(),
        ]
        #expect(
            try ServerScript.outcomes(of: lines)
                == ["invalidRequest", "ok", "invalidRequest", "invalidRequest", "ok", "ok", "invalidRequest", "ok"])
    }

    @Test("upper-case hexadecimal is an invalid request", arguments: ["key", "iv"])
    func upperCase(member: String) throws {
        #expect(try ServerScript.outcomes(of: [open([member: .string(key.uppercased())])]) == ["invalidRequest"])
    }

    @Test("integers above 2^53 - 1 are an invalid request; that one itself is none")
    func largeIntegers() throws {
        let maximum: UInt64 = 1 << 53 - 1
        func read(_ offset: UInt64) -> String { "{\"op\":\"read\",\"id\":1,\"offset\":\(offset),\"count\":0}" }
        let lines = [
            open(id: maximum + 1), open(["source": ["byteCount": .integer(maximum + 1)]]),
            open(["chunkByteCount": .integer((maximum + 1))]),
            open(["source": ["byteCount": .integer(maximum - 15)]], id: maximum),
            open(), read(maximum), read(maximum + 1), "{\"op\":\"read\",\"id\":1,\"offset\":-1,\"count\":0}",
            "{\"op\":\"read\",\"id\":1,\"offset\":0,\"count\":268435457}",
        ]
        #expect(
            try ServerScript.outcomes(of: lines)
                == [
                    "invalidRequest", "invalidRequest", "invalidRequest", "ok", "ok", "rangeOutOfBounds",
                    "invalidRequest", "invalidRequest", "invalidRequest",
                ])
    }

    /// One fault a check, in the order in which the protocol makes them.
    static let faults: [(outcome: String, change: [String: JSONValue?])] = [
        ("invalidRequest", ["source": nil]),
        ("unsupported", ["strategy": "rot13"]),
        ("invalidRequest", ["ivRule": "none"]),
        ("invalidKey", ["key": "00"]),
        ("invalidIV", ["iv": "00"]),
        ("io", ["source": ["path": "/missing"]]),
        ("truncatedCiphertext", ["source": ["byteCount": 65]]),
    ]

    @Test(
        "of several faults the first in the protocol's order is the answer", arguments: faults.indices, faults.indices)
    func order(first: Int, second: Int) throws {
        guard first < second else { return }
        // A source has one fault at most.
        let change = Self.faults[second].change.merging(Self.faults[first].change) { $1 }
        #expect(try ServerScript.outcomes(of: [open(change)]) == [Self.faults[first].outcome], "\(change)")
    }

    @Test(
        "a source that is none is an invalid request, before strategy and key are looked at",
        arguments: [
            1, [], [:], ["path": 1], ["path": ""], ["path": "a\u{0}b"], ["byteCount": "1"], ["byteCount": .number(-1)],
            ["bytecount": 1],
        ] as [JSONValue]
    )
    func badSources(source: JSONValue) throws {
        for change: [String: JSONValue?] in [[:], ["strategy": "rot13"], ["key": "00"], ["iv": "00"]] {
            #expect(
                try ServerScript.outcomes(of: [open(change.merging(["source": source]) { $1 })]) == ["invalidRequest"],
                "\(source.text) with \(change)")
        }
    }

    @Test(
        "members that are missing, of the wrong type or impossible are an invalid request, before the key's length",
        arguments: [
            ["strategy": nil], ["strategy": 1], ["key": nil], ["key": 1], ["key": "0"], ["key": "0g"], ["iv": nil],
            ["padding": nil], ["padding": "PKCS7"], ["ivRule": nil], ["chunkByteCount": nil], ["chunkByteCount": 0],
            ["chunkByteCount": 17], ["chunkByteCount": "32"], ["chunkByteCount": .number(-16)],
        ] as [[String: JSONValue?]]
    )
    func badMembers(change: [String: JSONValue?]) throws {
        let base: [String: JSONValue?] = change.keys.contains("key") ? ["iv": "00"] : ["key": "00"]
        #expect(try ServerScript.outcomes(of: [open(base.merging(change) { $1 })]) == ["invalidRequest"], "\(change)")
    }

    @Test(
        "a film's request has a key and, as a text, its samples or none",
        arguments: [
            ("", "ok"), (#","samples":"[]""#, "ok"), (#","samples":7"#, "invalidRequest"),
            (#","key":7"#, "invalidRequest"), (#","key":"""#, "invalidKey"), (#","key":"0G""#, "invalidRequest"),
            (#","key":"","samples":"hello""#, "invalidRequest"),
            (#","source":{"generated":{}}"#, "invalidRequest"), (#","source":{"path":""}"#, "invalidRequest"),
        ])
    func film(change: String, outcome: String) throws {
        let usual = ["key": #""00""#, "source": #"{"byteCount":7}"#].filter { !change.contains(#""\#($0.key)""#) }
        let members = usual.map { #","\#($0.key)":\#($0.value)"# }.joined()
        let line = #"{"op":"open","id":1,"strategy":"film"\#(members)\#(change)}"#
        #expect(try ServerScript.outcomes(of: [line]) == [outcome])
    }

    @Test("of an unknown strategy only identifier and source matter")
    func unknownStrategy() throws {
        let line = "{\"op\":\"open\",\"id\":1,\"strategy\":\"x\",\"source\":{\"path\":\"/missing\"}}"
        #expect(try ServerScript.outcomes(of: [line]) == ["unsupported"])
        #expect(try ServerScript.outcomes(of: [line.replacing("1,", with: "\"1\",")]) == ["invalidRequest"])
    }

    @Test("no message shows bytes of the key")
    func secrets() throws {
        let secret = "5ec2e7"
        for change: [String: JSONValue?] in [["key": .string(secret)], ["key": .string(secret + "zz")]] {
            let answer = try #require(try ServerScript.answers(to: [open(change)]).first)
            #expect(answer["message"]?.string?.contains(secret) == false)
        }
    }
}
