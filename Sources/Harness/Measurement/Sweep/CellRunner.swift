import RandomAccess
package import Results
import Statistics
import SubjectProtocol
import Support

/// A runner that measures cells, each pass in a fresh process.
///
/// The caller decides the order of the passes. Digest, memory, latencies and time never share a process.
package struct CellRunner {
    private let program: [String]
    private let store: ObjectStore
    private let seed: UInt64
    private let traces: [String: PlayerTrace]
    private let bitsPerSecond: UInt64
    private let timeout: Duration
    private let cgroups: MemoryCgroups?
    private let isInterrupted: () -> Bool

    /// - Parameters:
    ///   - program: The command that starts a subject, without the reader's options.
    ///   - store: The store of objects.
    ///   - seed: The seed of random offsets.
    ///   - traces: The traces of players, by name.
    ///   - bitsPerSecond: The rate at which a player plays a trace.
    ///   - timeout: The timeout for one answer.
    ///   - cgroups: The cgroups for processes whose memory is measured; `nil` if there are none.
    ///   - isInterrupted: A function that returns whether to end the current process. It is called while waiting for
    ///     it.
    package init(
        program: [String], store: ObjectStore, seed: UInt64, traces: [String: PlayerTrace] = [:],
        bitsPerSecond: UInt64 = PlayerTrace.usualBitsPerSecond, timeout: Duration = .seconds(600),
        cgroups: MemoryCgroups? = nil, isInterrupted: @escaping () -> Bool = { false }
    ) {
        self.program = program
        self.store = store
        self.seed = seed
        self.traces = traces
        self.bitsPerSecond = bitsPerSecond
        self.timeout = timeout
        self.cgroups = cgroups
        self.isInterrupted = isInterrupted
    }

    /// Compares the digest of the cell's plaintext with the expected one, and counts requests and bytes.
    ///
    /// - Throws: `CellFailure`, also if the digest is wrong.
    package func check(_ cell: Cell) throws(CellFailure) -> CheckRecord {
        try with(cell) { (subject, object) throws in
            let first = try cell.workload(seed: seed, traces: traces)
            let workload = first.starting(atDraw: first.checkedDraw)
            let reads = try workload.reads(plaintextByteCount: object.plaintextByteCount)
            // Comes first, before anything else reads the file.
            let passes = try coldPasses(subject, object, workload)
            let expected = try store.expectedDigest(of: object, cell: cell, reads: reads)
            let answer = try subject.digest(workload)
            guard let digest = answer["digest"]?.string, let delivered = answer["deliveredByteCount"]?.integer else {
                throw SubjectError.framing("digest answered without digest or deliveredByteCount")
            }
            guard digest == expected, delivered == reads.totalByteCount else {
                throw CellFailure(
                    "wrong plaintext: \(delivered) bytes with SHA-256 \(digest), "
                        + "expected \(reads.totalByteCount) with \(expected)")
            }
            var record = CheckRecord(
                cell: cell, digest: digest, deliveredByteCount: delivered, readCount: UInt64(reads.count),
                requestCount: answer["requestCount"]?.integer,
                fetchedByteCount: answer["fetchedByteCount"]?.integer ?? 0,
                decryptedByteCount: answer["decryptedByteCount"]?.integer ?? 0)
            record.coldNanoseconds = passes
            record.workingSetByteCount = WorkingSet.byteCount(
                of: workload, cell: cell, isAuthenticated: object.strategy.isAuthenticated)
            record.lastCacheByteCount = ThisHost.caches.max()
            return record
        }
    }

    /// The durations of the first passes over a cold file in nanoseconds; `nil` for other cells.
    private func coldPasses(
        _ subject: CellSubject, _ object: MeasuredObject, _ workload: Workload
    ) throws -> [UInt64]? {
        guard subject.isCold else { return nil }
        // Pages in the code of every read, and reads a block of the file.
        let first = Workload.trace([Workload.Read(offset: 0, count: min(16, object.plaintextByteCount))])
        _ = try subject.measure(first, Self.oneIteration)
        return try subject.measure(workload, CellSubject.iterations(4, atLeast: 1 << 52)).integers("nanoseconds")
    }

    /// Measures the rise of the process's peak memory while it opens the object and runs the workload once. Returns
    /// `nil` if the kernel does not report it.
    ///
    /// Before that, the process opens, reads and closes a small object of the same kind, so that the code of opening
    /// and reading is paged in.
    /// - Throws: `CellFailure`.
    package func memory(_ cell: Cell, round: Int) throws(CellFailure) -> MemoryRecord? {
        let cgroup = cgroups.flatMap { try? MemoryCgroup(in: $0) }
        var smaller = cell
        smaller.objectByteCount = min(cell.objectByteCount, Self.smallByteCount)
        return try with(smaller, in: cgroup) { (subject, small) throws in
            let first = Workload.trace([Workload.Read(offset: 0, count: min(16, small.plaintextByteCount))])
            _ = try subject.measure(first, Self.oneIteration)
            try subject.close()
            let object = try object(for: cell)
            let workload = try cell.workload(seed: seed, traces: traces)
            let (answer, memory) = try MemoryWatch.run(subject.process.processID, cgroup: cgroup) {
                try subject.open(object, cell)
                return try subject.measure(workload, Self.oneIteration)
            }
            guard let memory else { return nil }
            return MemoryRecord(
                cellID: cell.id, round: round,
                memory: .init(
                    baselineByteCount: memory.resident.baselineByteCount, peakByteCount: memory.resident.peakByteCount,
                    boundByteCount: answer["boundByteCount"]?.integer,
                    anonymousGrowthByteCount: memory.anonymous.byteCount, fileGrowthByteCount: memory.file.byteCount,
                    processPeakByteCount: memory.processPeakByteCount, cgroup: memory.cgroup))
        }
    }

    /// Measures the latencies of single reads, and the time from opening the object to its first byte. Returns `nil` if
    /// there are no reads.
    ///
    /// - Throws: `CellFailure`.
    package func latencies(_ cell: Cell, round: Int) throws(CellFailure) -> LatencyRecord? {
        try with(cell) { (subject, object) throws -> LatencyRecord? in
            var workload = try cell.workload(seed: seed, traces: traces)
            let iteration = try subject.warmUp(
                workload, fewReads: Self.latencyWarmUpNanoseconds, iterations: Self.latencyWarmUpNanoseconds)
            workload = Self.lengthened(workload, iterationNanoseconds: iteration)
            let reads = try workload.reads(plaintextByteCount: object.plaintextByteCount)
            guard reads.count > 0 else { return nil }
            var iterations: [[UInt64]] = []
            func measure() throws {
                iterations = []
                var sum: UInt64 = 0
                repeat {
                    let latencies = try subject.measure(workload, ["collect": "latencies"]).integers("latencies")
                    guard latencies.count == reads.count else {
                        throw SubjectError.framing("\(latencies.count) latencies of \(reads.count) reads")
                    }
                    iterations.append(latencies)
                    sum = latencies.reduce(sum, &+)
                } while sum < Self.latencyNanoseconds && iterations.count * reads.count < Self.latencyCount
                    && iterations.count < Self.latencyIterations
            }
            try measure()
            var record = LatencyRecord(cellID: cell.id, round: round, latency: .init(of: []))
            if cell.threads == 1, cell.isLocal {
                let whole = try subject.measure(
                    workload, CellSubject.iterations(3, atLeast: Self.latencyWarmUpNanoseconds)
                ).integers("nanoseconds")
                var repetitions = 0
                while LatencyCheck.isContradicted(iterations, by: whole), repetitions < LatencyCheck.maxRepetitions {
                    try measure()
                    repetitions += 1
                }
                record.repetitionCount = repetitions
                record.isContradicted = LatencyCheck.isContradicted(iterations, by: whole)
            }
            record.latency = .init(of: Array(iterations.joined()))
            // Not in the protocol, so that other subjects may refuse it.
            let answer = try? subject.measure(workload, ["collect": "firstByte"])
            let firstByte = answer.flatMap { try? $0.integers("firstByte") } ?? []
            record.firstByte = firstByte.isEmpty ? nil : .init(of: firstByte)
            record.playback = playback(cell, iterations[0], objectByteCount: object.plaintextByteCount)
            return record
        }
    }

    /// The workload for the latencies. Short random iterations are joined into one, of the total number of reads or of
    /// the available time, so that caches do not cool between requests.
    private static func lengthened(_ workload: Workload, iterationNanoseconds: UInt64?) -> Workload {
        guard let iterationNanoseconds, case let readCount = workload.drawCount(iterationCount: 1), readCount > 0 else {
            return workload
        }
        let (product, overflow) = readCount.multipliedReportingOverflow(by: latencyNanoseconds)
        let inTime = overflow ? .max : product / max(1, iterationNanoseconds)
        return workload.drawing(max(readCount, min(UInt64(latencyCount), inTime)))
    }

    /// Measures the reads of a process in an open loop.
    ///
    /// - Throws: `CellFailure`.
    func openLoop(
        _ cell: Cell, _ arrivals: Arrivals, readCount: Int, seed arrivalSeed: UInt64
    ) throws(CellFailure) -> OpenLoopRecord.Process {
        try with(cell) { (subject, _) throws in
            let workload = try cell.workload(seed: seed, traces: traces)
            _ = try subject.warmUp(
                workload, fewReads: Self.latencyWarmUpNanoseconds, iterations: Self.latencyWarmUpNanoseconds)
            let answer = try subject.measure(
                workload,
                [
                    "collect": "openLoop", "arrivals": .string(arrivals.description),
                    "readCount": JSONValue(count: readCount), "arrivalSeed": .integer(arrivalSeed),
                ])
            let (latencies, services) = (try answer.integers("latencies"), try answer.integers("services"))
            guard latencies.count == readCount, services.count == readCount,
                let elapsed = answer["elapsedNanoseconds"]?.integer
            else { throw SubjectError.framing("\(latencies.count) latencies of \(readCount) reads") }
            let due = arrivals.dueNanoseconds(count: readCount, seed: arrivalSeed).last ?? 0
            return OpenLoopRecord.Process(
                latencies: latencies, services: services, dueNanoseconds: due, elapsedNanoseconds: elapsed)
        }
    }

    /// The limits of the latency measurement: a number of reads, a time and a number of iterations, whichever comes
    /// first. With this number of reads, the longest one bounds p99.9 with 95 % confidence.
    private static let (latencyCount, latencyNanoseconds, latencyIterations) = (2995, 200_000_000 as UInt64, 16)

    /// The playback of a film with these latencies; `nil` without a trace, and with parallel reads.
    private func playback(
        _ cell: Cell, _ latencies: [UInt64], objectByteCount: UInt64
    ) -> LatencyRecord.Playback? {
        guard case .trace(let name)? = CellWorkload(cell.workload), cell.threads == 1 else { return nil }
        return traces[name]?.playback(
            latencies: latencies, objectByteCount: objectByteCount, windowByteCount: cell.windowByteCount,
            bitsPerSecond: bitsPerSecond)
    }

    /// Measures the durations of iterations until they add up to `minimumNanoseconds`, but at least one.
    ///
    /// - Throws: `CellFailure`.
    package func time(
        _ cell: Cell, round: Int, minimumNanoseconds: UInt64
    ) throws(CellFailure) -> TimeRecord {
        try with(cell) { (subject, _) throws in
            let workload = try cell.workload(seed: seed, traces: traces)
            let settling = SettlingTime(forMinimum: minimumNanoseconds)
            let iteration = try subject.warmUp(workload, fewReads: settling.nanoseconds, iterations: 0)
            let isSettling = iteration.map { $0 < settling.nanoseconds } ?? false
            let least = minimumNanoseconds + (isSettling ? settling.nanoseconds + (iteration ?? 0) : 0)
            let before = OutsideUsage.now(of: subject.process.processID)
            let answer = try subject.measure(
                workload, CellSubject.iterations(UInt64(CellSubject.maxIterations), atLeast: least))
            let after = OutsideUsage.now(of: subject.process.processID)
            let all = try answer.integers("nanoseconds")
            guard !all.isEmpty, all.count <= CellSubject.maxIterations else {
                throw SubjectError.framing("\(all.count) iterations: expected 1 to \(CellSubject.maxIterations)")
            }
            // Each is below 2⁵³, but not their sum.
            let sum = all.reduce(0) { $0 + Double($1) }
            guard all.count == CellSubject.maxIterations || sum >= Double(least) else {
                throw SubjectError.framing("\(all.count) iterations of \(Int(sum)) ns together: expected \(least) ns")
            }
            guard all.contains(where: { $0 > 0 }) || cell.objectByteCount == 0 else {
                throw SubjectError.framing("\(all.count) iterations that took no time: expected nanoseconds")
            }
            let head = isSettling ? settling.iterationCount(of: all) : 0
            var record = TimeRecord(cellID: cell.id, round: round, nanoseconds: Array(all.dropFirst(head)))
            let usage = ProcessUsage(answer["usage"]) ?? after.flatMap { end in before.map { end - $0 } }
            record.usage = usage?.scaled(by: Double(all.count - head) / Double(all.count))
            record.warmUpIterationCount = head
            record.residentByteCount = answer["residentByteCount"]?.integer
            return record
        }
    }

    private static let latencyWarmUpNanoseconds: UInt64 = 50_000_000

    /// The length of the object that is read before memory is watched: whole blocks, and less than the resolution of
    /// the measurement.
    private static let smallByteCount: UInt64 = 4 << 10

    private static let oneIteration = CellSubject.iterations(1, atLeast: 0)

    /// The cell's object. A full disk is not the cell's fault: the failure has a cause, so that it is not recorded and
    /// the cell is tried again later.
    private func object(for cell: Cell) throws(CellFailure) -> MeasuredObject {
        do {
            return try store.object(for: cell)
        } catch {
            if case .io = error { throw CellFailure("\(error)", cause: error) }
            throw CellFailure("\(error)")
        }
    }

    /// Starts a subject, opens the cell's object in it, and ends it.
    private func with<Value>(
        _ cell: Cell, in cgroup: MemoryCgroup? = nil, _ body: (CellSubject, MeasuredObject) throws -> Value
    ) throws(CellFailure) -> Value {
        do {
            let object = try object(for: cell)
            let command = command(for: cell)
            let process = try SubjectProcess(
                command: cgroup?.command(command) ?? command, timeout: timeout, isInterrupted: isInterrupted)
            let hello = try process.request(["op": "hello", "protocol": 1]).members
            if MeasuredProgram.command(of: cell.backend) != nil { try requireMeasures(hello, cell) }
            let subject = CellSubject(
                process: process, isCold: cell.isCold == true, needsFewReads: !cell.isLocal)
            try subject.open(object, cell)
            let value = try body(subject, object)
            try process.end()
            return value
        } catch let failure as CellFailure {
            throw failure
        } catch SubjectError.interrupted {
            throw CellFailure("\(SubjectError.interrupted)", isInterruption: true)
        } catch {
            throw CellFailure("\(error)")
        }
    }
}

extension CellRunner {
    /// The command that starts the process for a cell.
    private func command(for cell: Cell) -> [String] {
        if let command = MeasuredProgram.command(of: cell.backend) { return ["/bin/sh", "-c", command] }
        return program + [
            "--backend", cell.backend, "--access", cell.access.rawValue,
            "--window", "\(cell.windowByteCount)", "--threads", "\(cell.threads)",
        ]
    }

    /// Refuses a program that does not answer `measure`, does not read files, or does not have the cell's strategy.
    private func requireMeasures(_ hello: JSONValue, _ cell: Cell) throws(CellFailure) {
        let sources = hello["sources"]?.array?.compactMap(\.string) ?? []
        guard hello["measures"]?.bool == true, sources.contains("path") else {
            throw CellFailure(
                "it answers no measure, or reads no files: expected \"measures\":true and \"path\" among the sources "
                    + "of its hello (PROTOCOL.md)")
        }
        let strategies = hello["strategies"]?.array?.compactMap(\.string) ?? []
        guard store.isOffered(cell, by: strategies) else {
            throw CellFailure("it does not offer \(cell.format): expected one of \(strategies.joined(separator: ", "))")
        }
    }
}

/// The reason for which a cell has no figures: what failed, the value, what was expected.
package struct CellFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason.
    package let description: String

    /// The error of this machine that prevented the measurement; `nil` if the cell itself is at fault.
    let cause: DecryptionError?

    /// True if the user stopped the process, which says nothing about the cell.
    let isInterruption: Bool

    /// The maximum number of characters of a reason. Subjects write some reasons, and a line of a result file has a
    /// limit.
    static let maxCount = 4000

    init(_ description: String, cause: DecryptionError? = nil, isInterruption: Bool = false) {
        // Counts scalars, because a character may have any number of them.
        self.description =
            description.unicodeScalars.count > Self.maxCount
            ? String(String.UnicodeScalarView(description.unicodeScalars.prefix(Self.maxCount))) + "…" : description
        self.cause = cause
        self.isInterruption = isInterruption
    }
}
