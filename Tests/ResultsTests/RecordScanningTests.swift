import Foundation
import Testing

@testable import Results

/// Records of each kind that the scanner knows, with every optional member there and with none.
private func scannableRecords() -> [ResultRecord] {
    var cell = Cell(
        backend: "openssl", strategy: "cbc-chunked:iv-rule=fixed,chunk=16MB", chunkByteCount: 16_000_000,
        windowByteCount: 4096, workload: "random:4KiB", readCount: 7, objectByteCount: 65536,
        label: "16 MB as published")
    cell.isCold = true
    cell.remoteLatencyNanoseconds = 20
    cell.remoteBytesPerSecond = 100
    let plain = Cell(backend: "x", strategy: "ctr", windowByteCount: 1, objectByteCount: 1)
    var time = TimeRecord(cellID: cell.id, round: 3, nanoseconds: [5, 0, 1 << 61])
    time.residentByteCount = 9
    time.warmUpIterationCount = 2
    time.usage = ProcessUsage(
        userNanoseconds: 1, systemNanoseconds: 2, minorFaults: 3, majorFaults: 4, voluntarySwitches: 5,
        involuntarySwitches: nil, instructions: 7, cycles: 8)
    let latency = LatencyRecord.Latency(readCount: 1, p50: 1, p90: 2, p99: 3, p999: 4, max: (1 << 62) - 1)
    return [
        .check(.init(cell: cell, digest: "ab", deliveredByteCount: 1, fetchedByteCount: 2, decryptedByteCount: 3)),
        .check(.init(cell: plain, digest: "", deliveredByteCount: 0, fetchedByteCount: 0, decryptedByteCount: 0)),
        .time(time), .time(.init(cellID: plain.id, round: 0, nanoseconds: [])),
        .latency(.init(cellID: cell.id, latency: latency, firstByte: latency)),
        .latency(.init(cellID: cell.id, latency: latency)),
        .memory(
            .init(
                cellID: cell.id,
                memory: .init(
                    baselineByteCount: 1, peakByteCount: 2, boundByteCount: 3, anonymousGrowthByteCount: 4,
                    fileGrowthByteCount: 5))),
        .memory(.init(cellID: "é\n", memory: .init(baselineByteCount: 1, peakByteCount: 2, boundByteCount: nil))),
    ]
}

@Suite("result records, scanned and decoded")
struct RecordScanningTests {
    private let header = ResultRecord.header(
        RunHeader(
            programVersion: "0", command: [], startedAt: "",
            host: .init(
                name: "h", cpuModel: "c", cpuCount: 1, cpuFlags: [], memoryByteCount: 1, kernel: "k"),
            backends: [], plan: nil, seed: 1))

    /// Reads a file of one header and these lines.
    private func read(_ lines: [UInt8]) throws -> RunResults {
        var reader = ResultFileReader()
        try (header.line() + lines).withUnsafeBytes { try reader.take($0) }
        return try reader.finish()
    }

    @Test(
        "numbers are small if they have neither a sign, nor an exponent above 0, nor more than 18 digits",
        arguments: [
            ("[1,2.5,1e-7,0.25]", true), ("{\"a-1\":999999999999999999}", true), ("[true,false,null,-0]", false),
            ("[1000000000000000000]", false), ("[-1]", false), ("[1e18]", false), ("[1E+18]", false),
            ("[\"-1 1e9 1234567890123456789\"]", true), (#"["\"",-1]"#, false), (#"["\\",7]"#, true), ("", true),
            ("[1\u{0}]", false), ("[\"\u{0}\"]", false),
        ])
    func smallNumbers(line: String, isSmall: Bool) {
        #expect(Array(line.utf8).withUnsafeBytes { ResultRecord.hasSmallNumbers($0) } == isSmall, "\(line)")
    }

    @Test("what was scanned is what a decoder reads", arguments: scannableRecords())
    func agreement(record: ResultRecord) throws {
        let line = try record.line()
        let decoded = try ResultRecord.read(header.line() + line).records
        #expect(decoded == [header, record])
        #expect(try read(line) == RunResults(records: decoded))
    }

    @Test("a line with any byte changed is refused by both, or read as the same by both", arguments: scannableRecords())
    func mutations(record: ResultRecord) throws {
        let line = try record.line().dropLast()
        for index in line.indices {
            for byte in Array("x0-\",}".utf8) where byte != line[index] {
                var changed = Array(line)
                changed[index] = byte
                changed.append(0x0A)
                let decoded = try? ResultRecord.read(header.line() + changed).records
                let scanned = try? read(changed)
                let expected = try decoded.map { try RunResults(records: $0) }
                #expect(scanned == expected, "\(String(decoding: changed, as: UTF8.self))")
            }
        }
    }

    @Test("the pieces in which a file comes make no difference", arguments: [1, 2, 7, 64, 1000])
    func pieces(length: Int) throws {
        let bytes = try header.line() + scannableRecords().flatMap { try $0.line() } + ResultRecord.end.line()
        var reader = ResultFileReader()
        for start in stride(from: 0, to: bytes.count, by: length) {
            try bytes[start..<min(start + length, bytes.count)].withUnsafeBytes { try reader.take($0) }
        }
        #expect(try reader.finish() == RunResults(records: try ResultRecord.read(bytes).records))
    }

    @Test("a file that is cut anywhere gives what is whole, and says how much is not")
    func cuts() throws {
        let lines = try [header.line()] + scannableRecords().map { try $0.line() } + [ResultRecord.end.line()]
        let bytes = Array(lines.joined())
        var (ends, end) = ([Int](), 0)
        for line in lines {
            end += line.count
            ends.append(end)
        }
        for length in 0...bytes.count {
            var reader = ResultFileReader()
            try bytes[..<length].withUnsafeBytes { try reader.take($0) }
            // A record that lacks nothing but the end of its line is whole.
            let whole = ends.count { $0 - 1 <= length }
            guard whole > 0 else {
                #expect(throws: ResultsError.missingHeader) { try reader.finish() }
                continue
            }
            let results = try reader.finish()
            var expected = try RunResults(records: ResultRecord.read(Array(lines[..<whole].joined())).records)
            expected.omitted.cutByteCount = max(0, length - ends[whole - 1])
            #expect(results == expected, "cut at byte \(length)")
        }
    }
}

@Suite("records that contradict each other")
struct ContradictionTests {
    private static let cell = Cell(backend: "x", strategy: "ctr", windowByteCount: 1, objectByteCount: 1)

    private static func header(_ change: (inout RunHeader) -> Void = { _ in }) -> ResultRecord {
        var header = RunHeader(
            programVersion: "0", command: [], startedAt: "t",
            host: .init(
                name: "h", cpuModel: "c", cpuCount: 1, cpuFlags: [], memoryByteCount: 1, kernel: "k"),
            backends: [], plan: nil, seed: 1)
        change(&header)
        return .header(header)
    }

    private static func check(_ digest: String = "aa") -> ResultRecord {
        .check(.init(cell: cell, digest: digest, deliveredByteCount: 1, fetchedByteCount: 1, decryptedByteCount: 1))
    }

    static let headers: [(@Sendable (inout RunHeader) -> Void, String)] = [
        ({ $0.host.name = "g" }, "host \"g\" after \"h\""), ({ $0.host.cpuModel = "d" }, "CPU"),
        ({ $0.host.cpuCount = 2 }, "description of host"), ({ $0.seed = 2 }, "seed"), ({ $0.startedAt = "u" }, "start"),
        ({ $0.plan = "p" }, "plan"), ({ $0.backends = [.init(name: "b", version: "1", cpuFeatures: [])] }, "backends"),
    ]

    @Test("a second header that says otherwise is an error that names the line", arguments: headers.indices)
    func secondHeader(index: Int) throws {
        let (change, word) = Self.headers[index]
        let error = #expect(throws: ResultsError.self) {
            try RunResults(records: [Self.header(), Self.check(), Self.header(change)])
        }
        #expect(error?.description.contains("line 3") == true && error?.description.contains(word) == true)
    }

    @Test("the same header again changes nothing")
    func sameHeader() throws {
        let results = try RunResults(records: [Self.header(), Self.check(), Self.header(), .end])
        #expect(results.cells.count == 1 && results.isComplete)
    }

    @Test("a round, a check, memory and latency count once, and records of unknown cells not at all")
    func repetitions() throws {
        let id = Self.cell.id
        let latency = LatencyRecord.Latency(readCount: 1, p50: 1, p90: 1, p99: 1, p999: 1, max: 1)
        let memory = MemoryRecord.Memory(baselineByteCount: 1, peakByteCount: 2, boundByteCount: nil)
        let results = try RunResults(
            records: [
                Self.header(), Self.check(), Self.check(), .time(.init(cellID: id, round: 0, nanoseconds: [1])),
                .time(.init(cellID: id, round: 0, nanoseconds: [2])),
                .time(.init(cellID: id, round: 1, nanoseconds: [3])),
                .latency(.init(cellID: id, latency: latency)), .latency(.init(cellID: id, latency: latency)),
                .memory(.init(cellID: id, memory: memory)), .memory(.init(cellID: id, memory: memory)),
                .time(.init(cellID: "?", round: 0, nanoseconds: [1])), .latency(.init(cellID: "", latency: latency)),
                .memory(.init(cellID: "?", memory: memory)),
            ])
        #expect(results.cells.map(\.rounds) == [[[1], [3]]] && results.cells.first?.failure == nil)
        #expect(results.omitted.repeatedRecordCount == 4 && results.omitted.orphanRecordCount == 3)
    }

    @Test("a cell with two digests has failed")
    func twoDigests() throws {
        let results = try RunResults(records: [Self.header(), Self.check("aa"), Self.check("bb")])
        #expect(results.cells.first?.failure?.contains("two digests") == true)
    }
}
