import Results
import Support
import TestSupport
import Testing

@Suite("files of results on keys")
struct KeyRecordTests {
    private static func bytes(_ json: JSONValue) -> [UInt8] { Array(json.text.utf8) }

    /// The JSON with one member changed or, for `nil`, without it.
    private static func changed(_ json: JSONValue, _ name: String, _ value: JSONValue?) -> [UInt8] {
        guard case .object(var members) = json else { return [] }
        members[name] = value
        return bytes(.object(members))
    }

    /// The JSON with a member of its first cell changed.
    private static func changedCell(_ json: JSONValue, _ name: String, _ value: JSONValue) -> [UInt8] {
        guard case .object(var cell)? = json["cells"]?.array?.first else { return [] }
        cell[name] = value
        return changed(json, "cells", .array([.object(cell)]))
    }

    @Test("what is written is read again")
    func roundTrip() throws {
        #expect(try KeyWaitsRecord(file: Self.bytes(KeySamples.waits.json)) == KeySamples.waits)
        #expect(try KeyLoadRecord(file: Self.bytes(KeySamples.load.json)) == KeySamples.load)
        #expect(try KeyLoadRecord(file: Self.bytes(KeySamples.loopback.json)) == KeySamples.loopback)
    }

    @Test("another schema is refused by its name, with the one that was expected")
    func schemas() {
        for schema in ["chunkwise-key-waits-2", "chunkwise-key-load-1", ""] {
            #expect(throws: KeyResultsError.unknownSchema(schema, expected: "chunkwise-key-waits-1")) {
                try KeyWaitsRecord(file: Self.changed(KeySamples.waits.json, "schema", .string(schema)))
            }
        }
        #expect(throws: KeyResultsError.unknownSchema("chunkwise-key-waits-1", expected: "chunkwise-key-load-1")) {
            try KeyLoadRecord(file: Self.bytes(KeySamples.waits.json))
        }
    }

    @Test("a file that is cut, or is something else, is refused")
    func cuts() {
        let bytes = Self.bytes(KeySamples.waits.json)
        for length in stride(from: 0, to: bytes.count - 1, by: 97) {
            #expect(throws: KeyResultsError.self) { try KeyWaitsRecord(file: Array(bytes[..<length])) }
        }
        for text in ["", "[]", "null", "{}", "{\"schema\": 1}", "{\"schema\": \"chunkwise-key-waits-1\"}", "\u{0}"] {
            #expect(throws: KeyResultsError.self, "\(text)") { try KeyWaitsRecord(file: Array(text.utf8)) }
        }
    }

    @Test("no member may be missing or be of another kind, and the fault names it")
    func members() throws {
        let json = KeySamples.waits.json
        for name in ["command", "host", "seed", "rounds", "keys", "segmentByteCount", "backend", "cells"] {
            let error = #expect(throws: KeyResultsError.self, "\(name)") {
                try KeyWaitsRecord(file: Self.changed(json, name, nil))
            }
            #expect(error?.description.contains("no .\(name): expected") == true, "\(String(describing: error))")
            #expect(throws: KeyResultsError.self, "\(name)") {
                try KeyWaitsRecord(file: Self.changed(json, name, .bool(true)))
            }
        }
    }

    @Test("figures that cannot have been measured are refused")
    func figures() {
        let waits = KeySamples.waits.json
        for (name, value) in [
            ("samplesNanoseconds", []), ("medianNanoseconds", .number(-1)), ("medianNanoseconds", .number(1e300)),
            ("requests", .number(-1)), ("requests", .number(0.5)), ("way", "x"),
            ("ratioToLocal", ["low": 2, "estimate": 1, "high": 3]),
            ("ratioToLocal", ["low": 1, "estimate": .number(1e300), "high": .number(1e301)]),
        ] as [(String, JSONValue)] {
            #expect(throws: KeyResultsError.self, "\(name) \(value)") {
                try KeyWaitsRecord(file: Self.changedCell(waits, name, value))
            }
        }
        for (name, value) in [("run", .null), ("agrees", .null), ("simulated", .null)] as [(String, JSONValue)] {
            #expect(throws: KeyResultsError.self, "\(name)") {
                try KeyLoadRecord(file: Self.changedCell(KeySamples.loopback.json, name, value))
            }
        }
        var long = KeySamples.load
        long.cells[0].simulated.requestsPerSecond = Array(repeating: 1, count: 301)
        #expect(throws: KeyResultsError.self) { try KeyLoadRecord(file: Self.bytes(long.json)) }
        var stepless = KeySamples.load
        stepless.cells[0].simulated.secondsPerPoint = 0
        #expect(throws: KeyResultsError.self) { try KeyLoadRecord(file: Self.bytes(stepless.json)) }
    }

    @Test("a long time has few points, each as high as its busiest second")
    func timeline() {
        func figures(_ perSecond: [UInt64]) -> KeyLoadRecord.Figures {
            .init(
                peakPerSecond: 9, requestCount: 9, retryCount: 0, answeredCount: 9, lateCount: 0, gaveUpCount: 0,
                p50Nanoseconds: 0, p99Nanoseconds: 0, p999Nanoseconds: 0, perSecond: perSecond)
        }
        let short = figures(Array(1...300))
        #expect(short.secondsPerPoint == 1 && short.requestsPerSecond == Array(1...300))
        let long = figures(Array(1...301))
        #expect(long.secondsPerPoint == 2 && long.requestsPerSecond.count == 151)
        #expect(long.requestsPerSecond.prefix(2) == [2, 4] && long.requestsPerSecond.last == 301)
        let longest = figures(Array(repeating: 1, count: 86_500))
        #expect(longest.requestsPerSecond.count <= KeyLoadRecord.Figures.maxPoints)
        #expect(figures([]).requestsPerSecond.isEmpty)
    }

    @Test("a peak is put over clients by window, where there is a window")
    func ideal() {
        var load = KeySamples.load
        #expect(load.idealPerSecond.map { abs($0 - 10_000_000 / 60) < 1e-6 } == true)
        #expect(load.peakToIdeal(load.cells[2].simulated).map { abs($0 - 1.007838) < 1e-6 } == true)
        load.windowSeconds = 0
        #expect(load.peakToIdeal(load.cells[2].simulated) == nil)
    }
}
