package import Results
package import Statistics
import Support

/// A cell as reports show it: figures where they can be trusted, and otherwise the reason why there are none.
package struct CellSummary: Hashable, Sendable {
    package var cell: Cell
    package var outcome: Outcome
    /// Throughput; `nil` unless the outcome is `measured`.
    package var speed: Speed?
    /// Timed iterations in nanoseconds, one list a round; empty unless the outcome is `measured`.
    package var rounds: [[UInt64]]
    /// Latencies of single reads, where they were measured.
    package var latency: LatencyRecord.Latency?
    /// From before the object is opened until its first byte is there, where it was measured.
    package var firstByte: LatencyRecord.Latency?
    /// How a film would play, for the replay of a player's trace.
    package var playback: LatencyRecord.Playback?
    /// What the timed iterations used together, where the kernel tells.
    package var usage: ProcessUsage?
    /// The max number of bytes of a cold file that stayed in memory; `nil` for other cells.
    package var residentByteCount: UInt64?
    /// Peak memory, where it was measured.
    package var memory: MemoryRecord.Memory?
    /// Ciphertext bytes per plaintext byte delivered; `nil` where nothing was checked or delivered.
    package var amplification: Amplification?
    /// The machine's limit that the throughput runs into; `nil` where none is known.
    package var limit: BindingLimit?
    /// SHA-256 of the plaintext delivered, in hex; `nil` where nothing was checked.
    package var digest: String?
    /// The plaintext bytes that one iteration delivers; `nil` where nothing was checked.
    package var deliveredByteCount: UInt64?

    /// Whether a cell has figures, and why not.
    package enum Outcome: Hashable, Sendable {
        /// The plaintext was right and at least one iteration was timed.
        case measured
        /// The cell, or its backend in the vectors, failed.
        case failed(String)
        /// No check says that the plaintext was right.
        case unchecked
        /// The plaintext was right, and no iteration was timed.
        case untimed
    }

    package struct Amplification: Hashable, Sendable {
        package var fetched: Double
        package var decrypted: Double
    }

    /// Creates the summary of one cell.
    /// - Parameters:
    ///   - result: What is known of the cell.
    ///   - seed: The seed of the bootstrap; a report uses the run's.
    ///   - limits: What the machine can do; a report uses the run's.
    ///   - vectorFailure: Why the cell's backend failed its vectors, or `nil` if it did not.
    package init(
        _ result: CellResult, seed: UInt64, limits: MachineLimits? = nil, vectorFailure: String? = nil
    ) {
        cell = result.cell
        rounds = []
        if let reason = result.failure ?? vectorFailure {
            outcome = .failed(reason)
            return
        }
        guard let check = result.check else {
            outcome = .unchecked
            return
        }
        digest = check.digest
        deliveredByteCount = check.deliveredByteCount
        if check.deliveredByteCount > 0 {
            let delivered = Double(check.deliveredByteCount)
            amplification = Amplification(
                fetched: Double(check.fetchedByteCount) / delivered,
                decrypted: Double(check.decryptedByteCount) / delivered
            )
        }
        latency = result.latency
        firstByte = result.firstByte
        playback = result.playback
        usage = result.usage
        residentByteCount = result.residentByteCount
        memory = result.memory
        rounds = result.rounds.filter { !$0.isEmpty }
        speed = Speed(rounds: rounds, deliveredByteCount: check.deliveredByteCount, seed: seed)
        outcome = speed == nil ? .untimed : .measured
        limit = speed.flatMap {
            limits?.limit(
                of: result.cell, bytesPerSecond: $0.bytesPerSecond, deliveredByteCount: check.deliveredByteCount)
        }
    }

    /// Why there are no figures, or `nil` if there are.
    package var missingReason: String? {
        switch outcome {
        case .measured: nil
        case .failed(let reason): reason
        case .unchecked: "no check: nothing says that the plaintext is right, so no figure is shown"
        case .untimed: "checked, and not timed yet"
        }
    }

    package var status: String {
        switch outcome {
        case .measured: "measured"
        case .failed: "failed"
        case .unchecked: "unchecked"
        case .untimed: "untimed"
        }
    }

    /// The outcome as tables say it: what was not timed yet did not fail.
    var statusText: String {
        switch outcome {
        case .measured: "measured"
        case .failed: "failed"
        case .unchecked: "not checked"
        case .untimed: "not timed yet"
        }
    }

    /// How many cells have no figures, by what became of them: `1 failed, 2 not timed yet`.
    static func missingText(_ cells: [CellSummary]) -> String {
        ["failed", "not checked", "not timed yet"].compactMap { text in
            let count = cells.count { $0.statusText == text }
            return count > 0 ? "\(SignificantDigits.grouped(UInt64(count))) \(text)" : nil
        }.joined(separator: ", ")
    }

    /// Whether something is wrong with the cell.
    var isBad: Bool {
        switch outcome {
        case .failed, .unchecked: true
        case .measured, .untimed: false
        }
    }

    /// Sums up all cells of a run, on all CPUs where there are many: the bootstrap takes its time.
    ///
    /// The order is that of the results, and so is everything else: each cell has the same seed and no part in another's
    /// draws.
    static func all(of results: RunResults) -> [CellSummary] {
        let failures = vectorFailures(results.conformance)
        let header = results.header
        @Sendable func summary(_ result: CellResult) -> CellSummary {
            CellSummary(
                result, seed: header.seed, limits: header.limits, vectorFailure: failures[result.cell.backend])
        }
        return Parallel.map(results.cells, summary)
    }

    /// Returns why a subject failed its vectors, by subject.
    private static func vectorFailures(_ records: [ConformanceRecord]) -> [String: String] {
        var failures: [String: String] = [:]
        for record in records where record.failed > 0 {
            let executed = RatioText.count(record.passed + record.failed, "vector read")
            failures[record.subject] = "\(record.subject) failed \(record.failed) of \(executed)"
        }
        return failures
    }
}

/// Throughput of a cell: plaintext bytes delivered in an iteration ÷ the iteration's time.
package struct Speed: Hashable, Sendable {
    /// The median time of an iteration in nanoseconds, with its 95 % interval.
    package var nanoseconds: MedianInterval
    /// Plaintext bytes per second at the median time.
    package var bytesPerSecond: UInt64
    /// Plaintext bytes per second at the upper end of the time's interval.
    package var bytesPerSecondLow: UInt64
    /// Plaintext bytes per second at the lower end of the time's interval.
    package var bytesPerSecondHigh: UInt64
    /// How many processes were timed: one alone says nothing about the spread between processes.
    package var processCount: Int

    package var hasInterval: Bool { processCount > 1 }

    /// The interval in words, or why there is none.
    var rangeText: String {
        hasInterval ? ByteCountText.rateRange(bytesPerSecondLow, bytesPerSecondHigh) : "one process, no interval"
    }

    /// Creates a throughput, or returns `nil` if nothing was timed, delivered, or long enough for the clock.
    init?(rounds: [[UInt64]], deliveredByteCount: UInt64, seed: UInt64) {
        guard deliveredByteCount > 0, let interval = MedianInterval(rounds: rounds, seed: seed), interval.low >= 1
        else { return nil }
        func rate(_ nanoseconds: Double) -> UInt64 {
            UInt64((Double(deliveredByteCount) / nanoseconds * 1e9).rounded())
        }
        // Beyond this a rate does not fit 64 bits; such a time is a broken clock and not a speed.
        guard Double(deliveredByteCount) / interval.low < 1e10 else { return nil }
        nanoseconds = interval
        bytesPerSecond = rate(interval.median)
        bytesPerSecondLow = rate(interval.high)
        bytesPerSecondHigh = rate(interval.low)
        processCount = rounds.filter { !$0.isEmpty }.count
    }

    /// Says whether the data do not tell which of two is faster: their intervals of throughput have a point in common.
    ///
    /// Without an interval nothing can be called a tie; the medians differ as far as they differ.
    package func ties(with other: Speed) -> Bool {
        if self == other { return true }
        guard hasInterval, other.hasInterval else { return false }
        return bytesPerSecondLow <= other.bytesPerSecondHigh && other.bytesPerSecondLow <= bytesPerSecondHigh
    }
}

extension LatencyRecord.Latency {
    /// The 90th percentile, or `nil` where fewer than 10 reads make it the max by another name.
    var trustedP90: UInt64? { readCount >= 10 ? p90 : nil }

    /// The percentiles that the number of reads supports, in nanoseconds, and the max.
    var percentiles: [(name: String, nanoseconds: UInt64)] {
        [("median", p50), ("p90", trustedP90), ("p99", trustedP99), ("p99.9", trustedP999), ("max", max)]
            .compactMap { name, nanoseconds in nanoseconds.map { (name, $0) } }
    }

    /// The percentiles in words, and how many reads they rest on.
    var words: String {
        percentiles.map { "\($0.name) \(DurationText.text(nanoseconds: $0.nanoseconds))" }.joined(separator: ", ")
            + ", \(RatioText.count(readCount, "read"))"
    }
}

extension MachineLimits {
    /// The limit that a cell runs into.
    ///
    /// - Parameters:
    ///   - cell: The cell.
    ///   - bytesPerSecond: Its throughput.
    ///   - deliveredByteCount: What one iteration delivers: a read that is shorter than the window is all that is read
    ///     in one step.
    /// - Returns: The limit, or `nil` if none is known.
    func limit(of cell: Cell, bytesPerSecond: UInt64, deliveredByteCount: UInt64) -> BindingLimit? {
        guard cell.isLocal, let source = LimitedSource(rawValue: cell.source) else { return nil }
        let readByteCount = cell.readCount.map { deliveredByteCount / UInt64(max(1, $0)) } ?? .max
        return bindingLimit(
            bytesPerSecond: Double(bytesPerSecond), keyByteCount: cell.keyByteCount,
            windowByteCount: min(cell.windowByteCount, readByteCount), source: source, threads: cell.threads)
    }
}

extension BindingLimit.Kind {
    /// What is limited, in words.
    var text: String {
        switch self {
        case .aesUnit: "AES instructions"
        case .pageCacheRead: "page-cache reads"
        case .memoryCopy: "memory copies"
        }
    }
}
