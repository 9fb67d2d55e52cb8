import Results
import Testing

/// One record of each kind.
private func records() -> [ResultRecord] {
    let cell = Cell(backend: "openssl", strategy: "ctr", windowByteCount: 4096, objectByteCount: 65536)
    let header = RunHeader(
        programVersion: "0", command: ["chunkwise", "a\nb"], startedAt: "2026-01-01T00:00:00Z",
        host: .init(name: "h", cpuModel: "c", cpuCount: 1, cpuFlags: ["aes"], memoryByteCount: 1, kernel: "Linux 6"),
        backends: [.init(name: "openssl", version: "3", cpuFeatures: [])], plan: "cells:\n- {}\n", seed: 1)
    return [
        .header(header),
        .conformance(
            .init(
                subject: "openssl", passed: 1, failed: 1, unsupported: 0, notRun: 0,
                failures: [.init(id: "v", flags: ["f"], reason: "r")])),
        .mutants(
            .init(
                backend: "openssl",
                outcomes: [.init(name: "iv-zero", flag: "FirstBlock", killedBy: ["FirstBlock", "LastBytes"])],
                controls: [.init(name: "textbook", passed: 2, failed: 0)])),
        .check(
            .init(
                cell: cell, digest: "00", deliveredByteCount: 65536, fetchedByteCount: 65536, decryptedByteCount: 65536)
        ),
        .memory(.init(cellID: cell.id, memory: .init(baselineByteCount: 1, peakByteCount: 2, boundByteCount: nil))),
        .latency(
            .init(cellID: cell.id, latency: .init(readCount: 1, p50: 1, p90: 1, p99: 1, p999: 1, max: (1 << 62) - 1))),
        .time(.init(cellID: cell.id, round: 0, nanoseconds: [1, 2])),
        .failure(.init(cell: cell, reason: "line\nbreak")),
        .end,
    ]
}

@Suite("result records")
struct ResultRecordTests {
    @Test("each kind of record is one line, and reads back as it was")
    func roundTrip() throws {
        let lines = try records().map { try $0.line() }
        for line in lines {
            #expect(line.filter { $0 == 0x0A }.count == 1 && line.last == 0x0A)
        }
        let (read, byteCount) = try ResultRecord.read(Array(lines.joined()))
        #expect(read == records() && byteCount == lines.joined().count)
    }

    @Test("a file that is cut anywhere holds the records whose lines are whole")
    func cuts() throws {
        let all = records()
        let lines = try all.map { try $0.line() }
        let bytes = Array(lines.joined())
        var ends: [Int] = []
        for line in lines { ends.append((ends.last ?? 0) + line.count) }
        for length in 0...bytes.count {
            let whole = ends.filter { $0 <= length }
            let (read, byteCount) = try ResultRecord.read(Array(bytes[..<length]))
            #expect(read == Array(all[..<whole.count]), "cut at byte \(length)")
            #expect(byteCount == whole.last ?? 0, "cut at byte \(length)")
        }
    }

    @Test("a line in the middle that is no record is named", arguments: ["", "{", "null", "{\"time\":{}}", "x"])
    func damage(line: String) throws {
        let all = records()
        let bytes = try all[0].line() + Array(line.utf8) + [0x0A] + all[8].line()
        #expect(throws: ResultsError.damagedLine(2)) { try ResultRecord.read(bytes) }
    }

    @Test("a cell with an access that no reader has is no record")
    func access() throws {
        let all = try records().map { String(decoding: try $0.line(), as: UTF8.self) }
        let index = try #require(all.firstIndex { $0.contains("\"access\":\"block\"") })
        let changed = all[index].replacing("\"access\":\"block\"", with: "\"access\":\"blocks\"")
        #expect(throws: ResultsError.damagedLine(2)) { try ResultRecord.read(Array((all[0] + changed + all[0]).utf8)) }
    }

    @Test("a file of another schema is named as such, whatever else has changed in it")
    func schema() {
        let other = "{\"header\":{\"schema\":\"chunkwise-results-99\",\"new\":[]}}\n{\"new\":1}\n"
        #expect(throws: ResultsError.unknownSchema("chunkwise-results-99")) { try ResultRecord.read(Array(other.utf8)) }
    }
}

@Suite("numbers that no run gives")
struct BoundsTests {
    /// Records whose every member is there that is a number.
    private static func lines() throws -> [String] {
        var (head, others) = (records()[0], Array(records().dropFirst()))
        if case .header(var header) = head {
            let rate = Rate(byteCount: 1, nanoseconds: [1])
            let buffers = BufferRate(bufferByteCount: 1, rate: rate)
            let limits = ThreadLimits(
                threads: 1, aesDecrypt: [KeyRate(keyByteCount: 16, rate: rate)], cacheCopy: buffers,
                memoryCopy: buffers, memoryRead: [buffers], pageCacheRead: [buffers])
            // Digits in it are no number.
            header.startedAt = ""
            header.limits = MachineLimits(aesUnit: "none", oneThread: limits, allThreads: limits)
            header.host.cacheByteCounts = [1]
            header.host.cpusetCount = 1
            header.shard = .init(manifest: "m", number: 0, count: 1, attempt: "a", restartCount: 1)
            header.merge = .init(manifest: "m", shardCount: 1, shards: [0])
            head = .header(header)
        }
        var time = TimeRecord(cellID: "c", round: 0, nanoseconds: [1])
        time.residentByteCount = 1
        time.warmUpIterationCount = 1
        time.usage = ProcessUsage(
            userNanoseconds: 1, systemNanoseconds: 1, minorFaults: 1, majorFaults: 1, voluntarySwitches: 1,
            involuntarySwitches: 1, instructions: 1, cycles: 1)
        let figures = LatencyRecord.Latency(readCount: 1, p50: 1, p90: 1, p99: 1, p999: 1, max: 1)
        let playback = LatencyRecord.Playback(
            bitsPerSecond: 1, firstByteNanoseconds: 1, startNanoseconds: 1, stallCount: 1, stallNanoseconds: 1)
        var latency = LatencyRecord(cellID: "c", round: 0, latency: figures, firstByte: figures, playback: playback)
        latency.repetitionCount = 1
        let memory = MemoryRecord.Memory(
            baselineByteCount: 1, peakByteCount: 1, boundByteCount: 1, anonymousGrowthByteCount: 1,
            fileGrowthByteCount: 1, processPeakByteCount: 1,
            cgroup: .init(peakByteCount: 1, anonymousByteCount: 1, pageCacheByteCount: 1, kernelByteCount: 1))
        if case .check(var check) = others.remove(at: 2) {
            check.readCount = 1
            check.requestCount = 1
            check.coldNanoseconds = [1]
            check.workingSetByteCount = 1
            check.lastCacheByteCount = 1
            others.append(.check(check))
        }
        return try ([head] + others + [.time(time), .latency(latency), .memory(.init(cellID: "c", memory: memory))])
            .map { String(decoding: try $0.line().dropLast(), as: UTF8.self) }
    }

    @Test("are refused wherever they stand in a file, but for the seed", arguments: ["4611686018427387904", "-1"])
    func refused(number: String) throws {
        var count = 0
        for line in try Self.lines() {
            #expect(throws: Never.self) { try ResultRecord(line: Array(line.utf8)) }
            // Numbers stand behind a colon, a bracket or a comma; texts here have no digit there.
            for digits in line.matches(of: /[:\[,]([0-9]+)/).map(\.output.1) {
                var changed = line
                changed.replaceSubrange(digits.startIndex..<digits.endIndex, with: number)
                guard !line[..<digits.startIndex].hasSuffix(#""seed":"#) else { continue }
                count += 1
                let bytes = Array(changed.utf8)
                #expect(throws: (any Error).self, "\(changed)") { try ResultRecord(line: bytes) }
                // What reads a file by pieces has a way of its own for rounds.
                let header = try records()[0].line()
                var reader = ResultFileReader()
                if changed.hasPrefix(#"{"header""#) { continue }
                #expect(throws: ResultsError.damagedLine(2), "\(changed)") {
                    try (header + bytes + [0x0A]).withUnsafeBytes { try reader.take($0) }
                }
            }
        }
        #expect(count > 100)
    }

    @Test("any seed is one")
    func seeds() throws {
        guard case .header(var header) = records()[0] else { return #expect(Bool(false)) }
        header.seed = .max
        let line = try ResultRecord.header(header).line()
        #expect(try ResultRecord(line: line.dropLast()) == .header(header))
    }

    @Test("AES has three lengths of keys: others are refused", arguments: [0, 15, 17, 1 << 61])
    func keyLengths(count: Int) throws {
        let line = try #require(Self.lines().first)
        let changed = line.replacing(#""keyByteCount":16"#, with: #""keyByteCount":\#(count)"#)
        #expect(changed != line)
        #expect(throws: (any Error).self) { try ResultRecord(line: Array(changed.utf8)) }
    }
}

@Suite("run results")
struct RunResultsTests {
    @Test("records are gathered by cell; only a file with an end is complete")
    func gathering() throws {
        let all = records()
        let results = try RunResults(records: all)
        let cell = try #require(results.cells.first)
        #expect(results.cells.count == 1 && results.isComplete && results.conformance.count == 1)
        #expect(results.mutants?.backend == "openssl" && results.mutants?.survivors.isEmpty == true)
        #expect(
            cell.check != nil && cell.memories.count == 1 && cell.latencies.first?.latency.max == (1 << 62) - 1
                && cell.rounds == [[1, 2]])
        #expect(cell.failure == "line\nbreak" && cell.deliveredByteCount == 65536)
        #expect(try !RunResults(records: Array(all.dropLast())).isComplete)
    }

    @Test("figures of a cell that no check names give nothing")
    func unchecked() throws {
        var all = records()
        all.remove(at: 7)
        all.remove(at: 3)
        #expect(try RunResults(records: all).cells.isEmpty)
    }

    @Test("no header, no results")
    func header() {
        #expect(throws: ResultsError.missingHeader) { try RunResults(records: []) }
        #expect(throws: ResultsError.missingHeader) { try RunResults(records: [.end]) }
    }

    @Test(
        "messages say what was expected",
        arguments: [.missingHeader, .unknownSchema("x"), .damagedLine(3)] as [ResultsError])
    func messages(error: ResultsError) {
        #expect(error.description.contains("expected") || error.description.contains("this program reads"))
    }
}

@Suite("cells")
struct CellTests {
    private static let base = Cell(
        backend: "openssl", strategy: "cbc-chunked:iv-rule=fixed,chunk=1KiB", chunkByteCount: 1024,
        windowByteCount: 4096, workload: "random:4KiB", readCount: 8, objectByteCount: 65536)

    /// One change a member that tells cells apart.
    private static let changes: [(String, @Sendable (inout Cell) -> Void)] = [
        ("backend", { $0.backend = "libgcrypt" }), ("strategy", { $0.strategy = "ctr" }),
        ("parameters", { $0.strategy = "cbc-chunked:chunk=1KiB" }), ("windowByteCount", { $0.windowByteCount = 1 }),
        ("workload", { $0.workload = "sequential" }), ("readCount", { $0.readCount = 9 }),
        ("access", { $0.access = .chunkCache }), ("threads", { $0.threads = 2 }),
        ("keyByteCount", { $0.keyByteCount = 32 }), ("objectByteCount", { $0.objectByteCount = 1 }),
        ("source", { $0.source = "generated" }),
    ]

    @Test("every member but the label changes the identifier", arguments: changes.indices)
    func identifiers(index: Int) {
        let (name, change) = Self.changes[index]
        var cell = Self.base
        change(&cell)
        #expect(cell.id != Self.base.id, "\(name) makes no difference in \(cell.id)")
    }

    @Test("the label changes nothing")
    func label() {
        var cell = Self.base
        cell.label = "as published"
        #expect(cell.id == Self.base.id)
    }
}
