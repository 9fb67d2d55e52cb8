internal import RandomAccess
internal import Support
internal import Vectors

extension ProtocolCheck {
    /// What `open` for `hls-aes128` has of its own. Source: PROTOCOL.md, "Transport" and "open".
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
            ProtocolCheck(name: "\(PlaylistObject.strategyName) open \(name)", flag: .subjectProtocol) {
                probe throws(ProtocolProbe.Complaint) in
                let id = probe.session.makeID()
                try probe.expect(.invalidRequest, .object(probe.openRequest(id, changes)), "open \(name)")
                try probe.open(id, "a good open under the same id")
                try probe.read(id)
            }
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
            ProtocolCheck(name: "\(PlaylistObject.strategyName) open with \(name)", flag: .errorOrder) {
                probe throws(ProtocolProbe.Complaint) in
                let id = probe.session.makeID()
                try probe.expect(error, .object(probe.openRequest(id, changes)), "open with \(name)")
                try probe.open(id, "a good open under the same id")
            }
        }
    }
}
