internal import RandomAccess
internal import Support
internal import Vectors

extension ProtocolCheck {
    /// Members of `open` that are missing or impossible.
    static func openings(for strategy: Strategy) -> [ProtocolCheck] {
        var changes: [(String, [String: JSONValue?])] = [
            ("without a key", ["key": nil]), ("without an iv", ["iv": nil]), ("without a source", ["source": nil]),
            ("without a strategy", ["strategy": nil]), ("without an id", ["id": nil]),
            ("with an id that is a text", ["id": "1"]), ("with a source that is a text", ["source": "x"]),
            ("with an empty source", ["source": [:]]), ("with an upper-case key", ["key": "ABCDEF"]),
            ("with an upper-case iv", ["iv": .string("AA" + String(repeating: "00", count: 15))]),
            ("with half a byte of key", ["key": "012"]), ("with an iv that is no hex", ["iv": "zz"]),
            ("with a key that is a number", ["key": 7]),
            ("with a byteCount that is a text", ["source": ["byteCount": "16"]]),
        ]
        if strategy.padding != nil {
            changes += [
                ("without padding", ["padding": nil]), ("with an unknown padding", ["padding": "zeros"]),
                ("with a padding that is true", ["padding": true]),
            ]
        }
        if strategy.chunkByteCount != nil {
            changes += [0, 17, 8].map { ("with chunks of \($0) bytes", ["chunkByteCount": .integer($0)]) }
            changes += [
                ("without chunkByteCount", ["chunkByteCount": nil]), ("without ivRule", ["ivRule": nil]),
                ("with an unknown ivRule", ["ivRule": "random"]),
                ("with a chunkByteCount that is a text", ["chunkByteCount": "64"]),
            ]
        }
        return changes.map { name, changes in
            ProtocolCheck(name: "\(strategy.name) open \(name)", flag: .subjectProtocol) {
                probe throws(ProtocolProbe.Complaint) in
                let id = probe.session.makeID()
                try probe.expect(.invalidRequest, .object(probe.openRequest(id, changes)), "open \(name)")
                try probe.open(id, "a good open under the same id")
            }
        } + negatives(for: strategy)
    }

    private static func negatives(for strategy: Strategy) -> [ProtocolCheck] {
        var changes = [
            ("source", "{\"byteCount\":-16}"), ("source", "{\"byteCount\":1.5}"), ("id", "-1"), ("id", "0.5"),
        ]
        if strategy.chunkByteCount != nil { changes += [("chunkByteCount", "-16"), ("chunkByteCount", "16.5")] }
        return changes.map { name, text in
            ProtocolCheck(name: "\(strategy.name) open with \(name) \(text)", flag: .subjectProtocol) {
                probe throws(ProtocolProbe.Complaint) in
                let id = probe.session.makeID()
                let line = probe.openLine(id, replacing: name, with: text)
                try probe.expect(.invalidRequest, line: line, "open with \(name) \(text)")
                try probe.open(id, "a good open after it")
            }
        }
    }

    /// Objects and their names.
    static func objects() -> [ProtocolCheck] {
        [
            ProtocolCheck(name: "an id in use", flag: .subjectProtocol) { probe throws(ProtocolProbe.Complaint) in
                let id = try probe.open()
                try probe.expect(.invalidRequest, .object(probe.openRequest(id)), "open under an id in use")
                try probe.read(id, "read of the first object")
                try probe.close(id)
                try probe.open(id, "open under an id that was closed")
                try probe.read(id)
            },
            ProtocolCheck(name: "another object under a closed id", flag: .severalObjects) {
                probe throws(ProtocolProbe.Complaint) in
                let id = probe.session.makeID()
                // Another key, IV and content; then the first again; then another length.
                for (number, byteCount) in [(100, 100), (101, 100), (100, 100), (102, 64), (101, 100)]
                    as [(Int, UInt64)]
                {
                    guard let other = try probe.other(number: number, plaintextByteCount: byteCount) else { return }
                    try other.open(id, "open of object \(number) under an id that was closed")
                    try other.read(id, "read of object \(number) under an id that was closed")
                    try other.close(id)
                }
            },
            ProtocolCheck(name: "ids at both ends", flag: .subjectProtocol) { probe throws(ProtocolProbe.Complaint) in
                for id in [0, (1 << 53) - 1] as [UInt64] {
                    try probe.open(id, "open under id \(id)")
                    try probe.read(id)
                    try probe.close(id)
                    try probe.expect(
                        .invalidRequest, ["op": "read", "id": .integer(id), "offset": 0, "count": 1],
                        "read of a closed id")
                }
            },
            ProtocolCheck(name: "forty objects at once", flag: .severalObjects) {
                probe throws(ProtocolProbe.Complaint) in
                var ids: [UInt64] = []
                for _ in 0..<40 { ids.append(try probe.open()) }
                for id in ids.reversed() { try probe.read(id, "read of one of forty objects") }
                for id in ids { try probe.close(id) }
            },
            ProtocolCheck(name: "a failed read leaves the object usable", flag: .afterFailure) {
                probe throws(ProtocolProbe.Complaint) in
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
}
