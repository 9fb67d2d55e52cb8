import Foundation
import Measurement
import Results
import SubjectProtocol
import Support
import Testing

@Suite("player traces")
struct PlayerTraceTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../data/traces")

    @Test("the project's traces are read, are named like their files, and can be replayed")
    func project() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(names.count == 16)
        for name in names {
            let bytes = try Data(contentsOf: Self.folder.appending(path: name))
            let trace = try PlayerTrace(JSONValue.parse(Array(bytes)), file: name)
            #expect(trace.name + ".json" == name && !trace.source.isEmpty)
            let reads = try #require(trace.reads(objectByteCount: trace.minByteCount, windowByteCount: 4096))
            #expect(reads.allSatisfy { $0.count > 0 && $0.offset + $0.count <= trace.minByteCount })
            #expect(trace.reads(objectByteCount: trace.minByteCount - 1, windowByteCount: 4096) == nil)
        }
    }

    @Test("a recorded request has its time, which is a number or is not there")
    func times() throws {
        func trace(_ time: String) throws -> PlayerTrace {
            let head = #"{"schema":1,"name":"a","title":"","source":"","leastByteCount":9,"requests":["#
            let text = head + #"{"offset":1,"count":2"# + time + "}]}"
            return try PlayerTrace(JSONValue.parse(Array(text.utf8)), file: "t.json")
        }
        #expect(try trace(#","nanoseconds":7,"object":"b""#).requests == [.init(offset: 1, count: 2, nanoseconds: 7)])
        #expect(try trace("").requests == [.init(offset: 1, count: 2)])
        #expect(throws: TraceError.self) { try trace(#","nanoseconds":-1"#) }
    }

    @Test("a request is cut into windows, and one to the end ends where the object does")
    func windows() {
        let trace = PlayerTrace(
            name: "x", source: "", minByteCount: 100,
            requests: [.init(offset: 10, count: 25), .init(offset: 90, count: nil), .init(offset: 0, count: 1)])
        let reads = trace.reads(objectByteCount: 105, windowByteCount: 10)?.map { [$0.offset, $0.count] }
        #expect(reads == [[10, 10], [20, 10], [30, 5], [90, 10], [100, 5], [0, 1]])
        #expect(trace.reads(objectByteCount: 1 << 40, windowByteCount: 1) == nil)
    }

    @Test(
        "a trace that the schema does not allow is refused",
        arguments: [
            "", "[]", "{}", #"{"schema":2}"#,
            #"{"schema":1,"name":"a","title":"","source":"","leastByteCount":0,"requests":[{"offset":0,"count":1}]}"#,
            #"{"schema":1,"name":"a","title":"","source":"","leastByteCount":9,"requests":[]}"#,
            #"{"schema":1,"name":"a","title":"","source":"","leastByteCount":9,"requests":[{"offset":9,"count":1}]}"#,
            #"{"schema":1,"name":"a","title":"","source":"","leastByteCount":9,"requests":[{"offset":0,"count":0}]}"#,
            #"{"schema":1,"name":"a","title":"","source":"","leastByteCount":9,"requests":[{"offset":5,"count":5}]}"#,
            #"{"schema":1,"name":"a","title":"","source":"","leastByteCount":9,"requests":[{"offset":5}]}"#,
            #"{"schema":1,"name":"a","title":"","source":"","leastByteCount":9,"x":1,"requests":[{"offset":0,"count":1}]}"#,
        ])
    func refused(text: String) {
        #expect(throws: TraceError.self) { try PlayerTrace(JSONValue.parse(Array(text.utf8)), file: "t.json") }
    }
}

@Suite("playback of traces")
struct PlaybackTests {
    /// Two requests of two windows of 1000 bytes, which are 1 ms of film each, and one of one window elsewhere.
    private static func trace(_ times: [UInt64?]) -> PlayerTrace {
        PlayerTrace(
            name: "t", source: "", minByteCount: 10_000,
            requests: [
                .init(offset: 0, count: 2000, nanoseconds: times[0]),
                .init(offset: 2000, count: 2000, nanoseconds: times[1]),
                .init(offset: 9000, count: nil, nanoseconds: times[2]),
            ])
    }

    private static func playback(_ times: [UInt64?], microseconds: [UInt64]) throws -> LatencyRecord.Playback {
        try #require(
            trace(times).playback(
                latencies: microseconds.map { $0 * 1000 }, objectByteCount: 10_000, windowByteCount: 1000,
                bitsPerSecond: 8_000_000))
    }

    @Test("a film that is read faster than it plays starts with its first range and never stands still")
    func fast() throws {
        let found = try Self.playback([nil, nil, nil], microseconds: [300, 200, 100, 100, 100])
        #expect(
            found
                == LatencyRecord.Playback(
                    bitsPerSecond: 8_000_000, firstByteNanoseconds: 300_000, startNanoseconds: 500_000, stallCount: 0,
                    stallNanoseconds: 0))
    }

    @Test("a read that comes after all is played is a stall, of the time in between")
    func slow() throws {
        // 2 ms of film are there when it starts; the third window comes 2.5 ms later, the fourth 1.2 ms after that.
        let found = try Self.playback([nil, nil, nil], microseconds: [100, 100, 2500, 1200, 900])
        #expect(found.stallCount == 2 && found.stallNanoseconds == 700_000)
    }

    @Test("that a player asked late is no stall, and its own waiting begins when it asks")
    func pauses() throws {
        // Times count from the first request; all is played long before the second one.
        let found = try Self.playback(
            [5_000_000, 25_000_000, 26_500_000], microseconds: [100, 100, 400, 100, 100])
        #expect(found.stallCount == 1 && found.stallNanoseconds == 400_000)
        // A request whose time has passed is made when the range before it is there.
        let late = try Self.playback([0, 1, 2], microseconds: [100, 100, 400, 100, 100])
        #expect(late.stallCount == 0)
    }

    @Test("absurd latencies and times give figures that are none, and no trap", arguments: [UInt64.max, 1 << 62])
    func extremes(latency: UInt64) throws {
        let found = try #require(
            Self.trace([.max, 0, .max]).playback(
                latencies: Array(repeating: latency, count: 5), objectByteCount: 10_000, windowByteCount: 1000,
                bitsPerSecond: 1))
        #expect(found.stallNanoseconds <= 1 << 61)
        #expect(
            Self.trace([0, 0, 0]).playback(
                latencies: [1], objectByteCount: 10_000, windowByteCount: 1000, bitsPerSecond: 1) == nil)
    }

    @Test(
        "bit rates are whole numbers with a unit",
        arguments: [
            ("8Mbit/s", 8_000_000), ("800kbit/s", 800_000), ("1Gbit/s", 1_000_000_000), ("7bit/s", 7), ("0bit/s", nil),
            ("8", nil), ("8MB/s", nil), ("-1bit/s", nil), ("1.5Mbit/s", nil), ("9999999bit/s", nil), ("", nil),
        ] as [(String, UInt64?)])
    func rates(text: String, expected: UInt64?) {
        #expect(TimeText.bitsPerSecond(text) == expected)
    }

    @Test("a plan says at which bit rate its traces play")
    func plan() throws {
        let reader = PlanReader(file: "p.yml", knownBackends: ["openssl"])
        let cells = "cells:\n- backend: openssl\n"
        #expect(try reader.read("bit-rate: 20Mbit/s\n" + cells).bitsPerSecond == 20_000_000)
        #expect(try reader.read(cells).bitsPerSecond == PlayerTrace.usualBitsPerSecond)
        #expect(throws: PlanError.self) { try reader.read("bit-rate: fast\n" + cells) }
    }
}
