import RandomAccess
import Support
import Vectors

extension ProtocolCheck {
    /// Returns checks of invalid requests, each followed by a valid one.
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
            ProtocolCheck(name) { probe in
                try probe.expect(.invalidRequest, line: line, name)
                try probe.read(try probe.open("open after it"), "read after it")
            }
        } + reads() + [
            ProtocolCheck("another protocol") { probe in
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
        return members.map { .refusal(of: "read", $0, members: $1) }
    }

    /// Returns a check that a request about an open object is refused, and leaves the object usable.
    static func refusal(
        of op: String, _ name: String, members: String, _ error: ErrorName = .invalidRequest,
        flag: ExternalFlag = .subjectProtocol
    ) -> ProtocolCheck {
        ProtocolCheck("\(op) \(name)", flag) { probe in
            let id = try probe.open()
            try probe.expect(error, line: "{\"op\":\"\(op)\",\"id\":\(id),\(members)}", "\(op) \(name)")
            try probe.read(id, "read after it")
        }
    }

    /// Returns a check that an `open` with some members replaced is refused, and leaves its `id` free.
    private static func refusedOpening(
        of strategyName: String, _ name: String, _ changes: [String: JSONValue?], _ error: ErrorName = .invalidRequest,
        flag: ExternalFlag = .subjectProtocol,
        afterwards: @escaping (ProtocolProbe, UInt64) throws -> Void = { _, _ in }
    ) -> ProtocolCheck {
        ProtocolCheck("\(strategyName) open \(name)", flag) { probe in
            let id = probe.session.makeID()
            try probe.expect(error, .object(probe.openRequest(id, changes)), "open \(name)")
            try probe.open(id, "a good open under the same id")
            try afterwards(probe, id)
        }
    }

    /// Returns checks of the forms that any message may take, and of payloads on requests that do not use one.
    static func framing() -> [ProtocolCheck] {
        [
            ProtocolCheck("JSON written otherwise") { probe in
                let id = try probe.open()
                let line =
                    "{ \"count\" : 4 ,\t\"\\u006fp\" : \"\\u0072ead\", \"offset\": 0, \"id\" : \(id) , \"ü\": \"\\\\\" "
                    + "}\r\n"
                guard try probe.expectGood(Array(line.utf8), "read with spaces and escapes").payload.count == 4 else {
                    throw ProtocolProbe.Mismatch(description: "read with spaces and escapes: expected 4 bytes")
                }
            },
            ProtocolCheck("unknown members") { probe in
                let id = probe.session.makeID()
                let long = String(repeating: "x", count: 100_000)
                let request = probe.openRequest(id, ["future": ["a": [1, "b", .null]], "long": .string(long)])
                try probe.expectGood(.object(request), "open with unknown members")
                try probe.read(id)
            },
            ProtocolCheck("a payload on any request") { probe in
                let id = try probe.open()
                // If the subject does not consume the payload, it takes it for requests.
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
            ProtocolCheck("a payload of 300,000 bytes") { probe in
                let id = try probe.open()
                let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
                try probe.expect(
                    .invalidRequest, Array("{\"op\":\"decrypt\",\"payload\":300000}\n".utf8) + body,
                    "an unknown op with a long payload")
                try probe.read(id, "read after it")
            },
        ]
    }

    /// Returns checks of missing and impossible members of `open`.
    static func openings(for strategy: Strategy) -> [ProtocolCheck] {
        var changes: [(String, [String: JSONValue?])] = [
            ("without a key", ["key": nil]), ("without a source", ["source": nil]),
            ("without a strategy", ["strategy": nil]), ("without an id", ["id": nil]),
            ("with an id that is a text", ["id": "1"]), ("with a source that is a text", ["source": "x"]),
            ("with an empty source", ["source": [:]]), ("with an upper-case key", ["key": "ABCDEF"]),
            ("with half a byte of key", ["key": "012"]), ("with a key that is a number", ["key": 7]),
            ("with a byteCount that is a text", ["source": ["byteCount": "16"]]),
        ]
        for input in strategy.format.inputs where !input.isFixed { changes += wrongValues(of: input, strategy) }
        return changes.map { refusedOpening(of: strategy.name, $0, $1) } + negatives(for: strategy)
    }

    /// Returns the values that a parameter cannot have.
    private static func wrongValues(of input: Format.Input, _ strategy: Strategy) -> [(String, [String: JSONValue?])] {
        let name = input.name
        // A program may take what a description gives a default for from there.
        var values: [(String, JSONValue?)] =
            input.defaultValue == nil || VectorSet.isPlain(strategy.format) ? [("without \(name)", nil)] : []
        switch input.kind {
        case .bytes(let counts):
            let count = counts?.first ?? 1
            values += [
                ("with an upper-case \(name)", .string("AA" + String(repeating: "00", count: count - 1))),
                ("with \(name) that is no hex", "zz"),
            ]
        case .text(let words):
            if !words.isEmpty { values.append(("with an unknown \(name)", "none of them")) }
            values.append(("with \(name) that is true", true))
        case .integer(let range, let unit, let list):
            // Values that only the format's other rules refuse are not known here.
            values += [0, unit + 1, unit / 2].filter {
                !range.contains($0) || $0 % unit != 0 || !list.isEmpty && !list.contains($0)
            }.map {
                ("with \(name) of \($0)", .integer($0))
            }
            values.append(("with \(name) that is a text", "64"))
        }
        return values.map { ($0, [name: $1]) }
    }

    private static func negatives(for strategy: Strategy) -> [ProtocolCheck] {
        var changes = [
            ("source", "{\"byteCount\":-16}"), ("source", "{\"byteCount\":1.5}"), ("id", "-1"), ("id", "0.5"),
        ]
        for input in strategy.format.inputs where !input.isFixed {
            if case .integer = input.kind { changes += [(input.name, "-16"), (input.name, "16.5")] }
        }
        return changes.map { name, text in
            ProtocolCheck("\(strategy.name) open with \(name) \(text)") { probe in
                let id = probe.session.makeID()
                let line = probe.openLine(id, replacing: name, with: text)
                try probe.expect(.invalidRequest, line: line, "open with \(name) \(text)")
                try probe.open(id, "a good open after it")
            }
        }
    }

    /// Returns checks of objects and their ids.
    static func objects() -> [ProtocolCheck] {
        [
            ProtocolCheck("an id in use") { probe in
                let id = try probe.open()
                try probe.expect(.invalidRequest, .object(probe.openRequest(id)), "open under an id in use")
                try probe.read(id, "read of the first object")
                try probe.close(id)
                try probe.open(id, "open under an id that was closed")
                try probe.read(id)
            },
            ProtocolCheck("another object under a closed id", .severalObjects) { probe in
                let id = probe.session.makeID()
                // First another key, IV and content; then the first object again; then another length.
                for (number, byteCount) in [(100, 100), (101, 100), (100, 100), (102, 64), (101, 100)]
                    as [(Int, UInt64)]
                {
                    let other = try probe.other(number: number, plaintextByteCount: byteCount)
                    try other.open(id, "open of object \(number) under an id that was closed")
                    try other.read(id, "read of object \(number) under an id that was closed")
                    try other.close(id)
                }
            },
            ProtocolCheck("ids at both ends") { probe in
                for id in [0, (1 << 53) - 1] as [UInt64] {
                    try probe.open(id, "open under id \(id)")
                    try probe.read(id)
                    try probe.close(id)
                    try probe.expect(
                        .invalidRequest, ["op": "read", "id": .integer(id), "offset": 0, "count": 1],
                        "read of a closed id")
                }
            },
            ProtocolCheck("forty objects at once", .severalObjects) { probe in
                var ids: [UInt64] = []
                for _ in 0..<40 { ids.append(try probe.open()) }
                for id in ids.reversed() { try probe.read(id, "read of one of forty objects") }
                for id in ids { try probe.close(id) }
            },
            ProtocolCheck("a failed read leaves the object usable", .afterFailure) { probe in
                let id = try probe.open()
                for offset in [probe.fixture.plaintext.byteCount + 1, 1 << 52] {
                    try probe.expect(
                        .rangeOutOfBounds, ["op": "read", "id": .integer(id), "offset": .integer(offset), "count": 0],
                        "read of 0 bytes at \(offset)")
                    try probe.read(id, "read after it")
                }
            },
        ]
    }

    /// Returns checks of requests with two faults: the subject must report the first one in the protocol's order.
    ///
    /// - Source: PROTOCOL.md, "Transport": request, strategy, key, IV, source, length, padding or tag.
    static func errorOrder(for strategy: Strategy, hello: ExternalHello) -> [ProtocolCheck] {
        let shortKey = JSONValue.string(String(repeating: "00", count: 15))
        let shortIV = JSONValue.string(String(repeating: "11", count: 15))
        let oddLength: JSONValue = ["byteCount": 17]
        let isPlain = VectorSet.isPlain(strategy.format)
        var cases: [(String, ErrorName, [String: JSONValue?])] = [
            ("a key of 15 bytes", .invalidKey, ["key": shortKey]), ("no key bytes", .invalidKey, ["key": ""]),
            ("a key of 33 bytes", .invalidKey, ["key": .string(String(repeating: "00", count: 33))]),
            ("an IV of 15 bytes", .invalidIV, ["iv": shortIV]), ("no IV bytes", .invalidIV, ["iv": ""]),
            ("an IV of 17 bytes", .invalidIV, ["iv": .string(String(repeating: "00", count: 17))]),
            ("a short key and a short IV", .invalidKey, ["key": shortKey, "iv": shortIV]),
            ("an upper-case IV and a short key", .invalidRequest, ["key": shortKey, "iv": "AA"]),
            ("no source and a short key", .invalidRequest, ["key": shortKey, "source": nil]),
            ("an unknown strategy", .unsupported, ["strategy": "rot13"]),
            (
                "an unknown strategy and invalid parameters", .unsupported,
                ["strategy": "rot13", "key": 7, "iv": nil, "padding": 1]
            ),
            ("an unknown strategy and no source", .invalidRequest, ["strategy": "rot13", "source": nil]),
            ("an unknown strategy and no id", .invalidRequest, ["strategy": "rot13", "id": nil]),
        ]
        if isPlain, strategy.cipher == .aesCBC, hello.isServed {
            cases += [
                ("17 bytes of ciphertext", .truncatedCiphertext, ["source": oddLength]),
                ("17 bytes of ciphertext and a short IV", .invalidIV, ["source": oddLength, "iv": shortIV]),
                ("17 bytes of ciphertext and a short key", .invalidKey, ["source": oddLength, "key": shortKey]),
            ]
        }
        if isPlain, strategy.chunkByteCount != nil {
            cases.append(
                ("chunks of 17 bytes and a short key", .invalidRequest, ["chunkByteCount": 17, "key": shortKey]))
        }
        if hello.readsPaths {
            let nowhere: JSONValue = ["path": "/nonexistent/chunkwise/object"]
            cases += [
                ("a file that is not there", .io, ["source": nowhere]),
                ("a file that is not there and a short IV", .invalidIV, ["source": nowhere, "iv": shortIV]),
                ("a file that is not there and a short key", .invalidKey, ["source": nowhere, "key": shortKey]),
            ]
        } else {
            cases.append(("a path", .unsupported, ["source": ["path": "/etc/hostname"]]))
        }
        if !hello.isServed { cases.append(("a served source", .unsupported, ["source": ["byteCount": 32]])) }
        for byteCount in [16, 24, 32] where !hello.keyByteCounts.contains(UInt64(byteCount)) {
            guard strategy.isWrongLength(byteCount, of: "key") == false,
                !hello.supports(strategy, keyByteCount: byteCount)
            else { continue }
            let key = JSONValue.string(String(repeating: "42", count: byteCount))
            cases.append(("a key of \(byteCount) bytes, which hello does not list", .unsupported, ["key": key]))
        }
        for name in ExternalHello.knownStrategies where !hello.strategies.contains(name) {
            cases.append(("the strategy \(name), which hello does not list", .unsupported, ["strategy": .string(name)]))
        }
        // Leaves out what is no fault in this format.
        let faults = cases.filter { _, error, changes in
            switch error {
            case .invalidKey: changes["key"].map { strategy.isWrongLength(of: $0, "key") } ?? true
            case .invalidIV: changes["iv"].map { strategy.isWrongLength(of: $0, "iv") } ?? true
            case .invalidRequest: changes["iv"] == nil || strategy.isWrongLength(0, of: "iv") != nil
            default: true
            }
        }
        return faults.map { name, error, changes in
            refusedOpening(of: strategy.name, "with \(name)", changes, error, flag: .errorOrder) { probe, id in
                guard changes["id"] == nil else { return }
                // The id is checked before all that, as a part of the request.
                try probe.expect(
                    .invalidRequest, .object(probe.openRequest(id, changes)), "the same under an id in use")
            }
        }
    }

    /// Returns checks of keys and IVs of invalid lengths, under which nothing may open. If the subject fills one up or
    /// cuts it, it decrypts to other bytes. ``errorOrder(for:hello:)`` checks which error the subject reports.
    static func wrongLengths(for strategy: Strategy) -> [ProtocolCheck] {
        [("key", [0, 15, 17, 33]), ("iv", [0, 8, 12, 15, 17])].flatMap { member, byteCounts in
            byteCounts.filter { strategy.isWrongLength($0, of: member) == true }.map { byteCount in
                let what = "a \(member) of \(byteCount) bytes"
                return ProtocolCheck("\(strategy.name) opens nothing with \(what)", .wrongLengths) { probe in
                    let id = probe.session.makeID()
                    let value = JSONValue.string(String(repeating: "42", count: byteCount))
                    guard try probe.isAnswered(.object(probe.openRequest(id, [member: value])), "open with \(what)")
                    else {
                        return
                    }
                    try? probe.close(id)
                    throw ProtocolProbe.Mismatch(
                        description: "open with \(what) succeeds, and decrypts with another one: expected the error "
                            + (member == "key" ? ErrorName.invalidKey : .invalidIV).rawValue)
                }
            }
        }
    }

    /// Returns checks of objects that do not open because of the content or the faults of their source: the id stays
    /// free.
    static func faultyOpenings() -> [ProtocolCheck] {
        let faults: [(String, SourceFault, ErrorName, ExternalFlag)] = [
            ("fails", .failure, .io, .sourceFailure),
            ("ends early", .end(at: 1), .truncatedCiphertext, .sourceEndsEarly),
        ]
        return faults.map { name, fault, error, flag in
            ProtocolCheck("open from a source that \(name)", flag) { probe in
                guard let object = try? ExternalObject(probe.fixture, session: probe.session, hello: probe.hello) else {
                    return
                }
                let answer = object.open(fault)
                // A subject that fetches nothing to open an object meets no fault.
                guard object.hasFaulted else { return }
                if let text = answer.mismatch(expecting: .fails(error)) {
                    throw ProtocolProbe.Mismatch(description: text)
                }
                guard case .opened = object.openAgain() else {
                    throw ProtocolProbe.Mismatch(description: "open after it, under the same id: expected success")
                }
                object.close()
            }
        }
    }

    /// Returns checks of how the subject ends, each in a process of its own.
    static func endings() -> [ProtocolCheck] {
        [
            ProtocolCheck("bye", .ending) { probe in
                do {
                    try probe.session.start().process.end()
                } catch {
                    throw ProtocolProbe.Mismatch(description: "bye: \(error): expected an answer and then status 0")
                }
            },
            ProtocolCheck("end of input", .ending) { probe in
                do {
                    try probe.session.start().process.endInput()
                } catch {
                    throw ProtocolProbe.Mismatch(description: "end of input: \(error)")
                }
            },
        ]
    }

    /// Returns checks that only `open` for `hls-aes128` needs. Source: PROTOCOL.md, "Transport" and "open".
    static func playlists(_ hello: ExternalHello) -> [ProtocolCheck] {
        playlistOpenings(hello) + playlistErrorOrder(hello)
    }

    private static func playlistOpenings(_ hello: ExternalHello) -> [ProtocolCheck] {
        var changes: [(String, [String: JSONValue?])] = [
            ("without a playlist", ["playlist": nil]), ("without keys", ["keys": nil]),
            ("without a source", ["source": nil]), ("without an id", ["id": nil]),
            ("with a playlist that is a number", ["playlist": 7]), ("with keys that are a list", ["keys": []]),
            ("with a key that is a number", ["keys": ["k": 7]]), ("with an upper-case key", ["keys": ["k": "ABCDEF"]]),
            ("with half a byte of key", ["keys": ["k": "012"]]),
            ("with a source that is a text", ["source": "x"]), ("with an empty source", ["source": [:]]),
            ("with a playlist that is empty", ["playlist": ""]),
            ("with a playlist of another kind of text", ["playlist": "hello\n"]),
        ]
        if hello.isServed {
            changes += [
                ("with byteCounts that are a number", ["source": ["byteCounts": 7]]),
                ("with a byteCount that is a text", ["source": ["byteCounts": ["segment0.ts": "48"]]]),
            ]
        }
        return changes.map { name, changes in
            refusedOpening(of: PlaylistObject.strategyName, name, changes) { probe, id in try probe.read(id) }
        }
    }

    private static func playlistErrorOrder(_ hello: ExternalHello) -> [ProtocolCheck] {
        let garbled: JSONValue = "no playlist\n"
        var cases: [(String, ErrorName, [String: JSONValue?])] = [
            ("no keys in it", .invalidKey, ["keys": [:]]),
            ("no keys in it and no playlist", .invalidRequest, ["keys": [:], "playlist": garbled]),
            (
                "a master playlist and no keys in it", .unsupported,
                ["playlist": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n", "keys": [:]]
            ),
        ]
        if hello.isServed {
            cases += [
                ("no resources", .io, ["source": ["byteCounts": [:]]]),
                ("no resources and no keys in it", .invalidKey, ["source": ["byteCounts": [:]], "keys": [:]]),
            ]
        }
        if hello.readsPaths {
            let nowhere: JSONValue = ["path": "/nonexistent/chunkwise/folder"]
            cases += [
                ("a folder that is not there", .io, ["source": nowhere]),
                ("a folder that is not there and no keys in it", .invalidKey, ["source": nowhere, "keys": [:]]),
            ]
        }
        return cases.map { name, error, changes in
            refusedOpening(of: PlaylistObject.strategyName, "with \(name)", changes, error, flag: .errorOrder)
        }
    }
}

extension Strategy {
    /// Returns whether the key or an input of bytes cannot have a length; `nil` if the format has no such input.
    fileprivate func isWrongLength(_ byteCount: Int, of name: String) -> Bool? {
        if name == "key" { return format.keyByteCounts.map { !$0.contains(byteCount) } ?? false }
        guard case .bytes(let counts)? = format.inputs.first(where: { $0.name == name && !$0.isFixed })?.kind else {
            return nil
        }
        return counts.map { !$0.contains(byteCount) } ?? false
    }

    /// Returns whether a member of a request has a length that the key or the input cannot have.
    fileprivate func isWrongLength(of member: JSONValue?, _ name: String) -> Bool {
        isWrongLength((member?.string?.utf8.count ?? 0) / 2, of: name) == true
    }
}
