package import Results
package import Statistics
import Support

/// A cell as reports show it: figures if they can be trusted, otherwise the reason why there are none.
///
/// A report lists the same cells in many orders, so that a cell is one object. Nothing changes it once it is made.
package final class CellSummary: @unchecked Sendable {
    package private(set) var cell: Cell
    package private(set) var outcome: Outcome
    /// Throughput; `nil` unless the outcome is `measured`.
    package private(set) var speed: Speed?
    /// The facts of the strategy, if they are known.
    package var facts: StrategyFacts? { strategies?[cell.strategy] }
    private let strategies: [String: StrategyFacts]?
    /// Timed iterations in nanoseconds, one list per round; empty unless the outcome is `measured`.
    package private(set) var rounds: [[UInt64]]
    /// Latencies of single reads, if they were measured. ``LatencyRecord/Latency/init(combining:)`` combines those of
    /// several processes.
    package private(set) var latency: LatencyRecord.Latency?
    /// The time from before the object is opened until the first read returns, if it was measured; combined the same
    /// way.
    package private(set) var firstByte: LatencyRecord.Latency?
    /// The median latency and the median first byte of each process, in nanoseconds.
    package private(set) var latencySample: LogSample?, firstByteSample: LogSample?
    /// The latencies of each process.
    package private(set) var processLatencies: [LatencyRecord.Latency] = []
    /// The number of processes whose latencies were longer than whole iterations of the same process can explain.
    package private(set) var contradictedLatencyCount = 0
    /// The playback of a film, for the replay of a player's trace.
    package private(set) var playback: LatencyRecord.Playback?
    /// The resources that all timed iterations used together, if the kernel reports them.
    package private(set) var usage: ProcessUsage?
    /// The maximum number of bytes of a cold file that stayed in memory; `nil` for other cells.
    package private(set) var residentByteCount: UInt64?
    /// The times of the passes that showed that a cache below this system held a cold cell's file, in nanoseconds;
    /// `nil` if there were no such passes.
    package private(set) var passesCachedBelow: [UInt64]?
    /// Peak memory, if it was measured: that of the process with the median growth, the lower median of an even number.
    package private(set) var memory: MemoryRecord.Memory?
    /// The growth of memory in each process, in bytes; growth below ``memoryResolution`` counts as
    /// ``memoryResolution``.
    package private(set) var memorySample: LogSample?
    /// Ciphertext bytes per plaintext byte delivered; `nil` if nothing was checked or delivered.
    package private(set) var amplification: Amplification?
    /// The machine's limit that bounds the throughput; `nil` if none is known.
    package private(set) var limit: BindingLimit?
    /// SHA-256 of the plaintext delivered, in hex; `nil` if nothing was checked.
    package private(set) var digest: String?
    /// The plaintext bytes that one iteration delivers; `nil` if nothing was checked.
    package private(set) var deliveredByteCount: UInt64?

    /// The plaintext bytes that the workload touches before it touches one of them again; `nil` if that is not known.
    package private(set) var workingSetByteCount: UInt64?
    /// True if a CPU cache holds the working set, so that the figures are those of the cache.
    package private(set) var isInCache = false

    /// The outcome of a cell: figures, or the reason why there are none.
    package enum Outcome: Hashable, Sendable {
        /// The plaintext was right and at least one iteration was timed.
        case measured
        /// The cell, or its backend in the vectors, failed.
        case failed(String)
        /// No check confirmed the plaintext.
        case unchecked
        /// The plaintext was right, and no iteration was timed.
        case untimed
    }

    package struct Amplification: Hashable, Sendable {
        /// Ciphertext bytes fetched per plaintext byte delivered.
        package var fetched: Double
        /// Ciphertext bytes decrypted per plaintext byte delivered; `nil` for a plug-in's own reader, which is not
        /// instrumented.
        package var decrypted: Double?
        /// The mean number of requests to the source per read; `nil` for results that do not record it.
        package var requestsPerRead: Double?
    }

    /// - Parameters:
    ///   - result: The cell's records.
    ///   - strategies: The facts of strategies, if they are known.
    ///   - limits: The machine's limits; a report passes those of the run.
    ///   - vectorFailure: The reason why the cell's backend failed its vectors, or `nil` if it did not.
    ///   - passes: The times of the passes that showed that a cache below this system held a cold file of the run; all
    ///     files of a run are on one storage.
    package init(
        _ result: CellResult, strategies: [String: StrategyFacts]? = nil, limits: MachineLimits? = nil,
        vectorFailure: String? = nil, cachedBelow passes: [UInt64]? = nil
    ) {
        cell = result.cell
        self.strategies = strategies
        rounds = []
        outcome = .untimed
        if cell.isCold == true { passesCachedBelow = passes }
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
        workingSetByteCount = check.workingSetByteCount
        isInCache = check.isInCache
        // An external program does not report the bytes that it fetches.
        if check.deliveredByteCount > 0, check.fetchedByteCount > 0 {
            let delivered = Double(check.deliveredByteCount)
            amplification = Amplification(
                fetched: Double(check.fetchedByteCount) / delivered,
                decrypted: check.decryptedByteCount == 0 ? nil : Double(check.decryptedByteCount) / delivered,
                requestsPerRead: check.readCount.flatMap { reads in
                    check.requestCount.map { Double($0) / Double(max(1, reads)) }
                }
            )
        }
        usage = result.usage
        residentByteCount = result.residentByteCount
        if check.isCachedBelow == true, passes == nil { passesCachedBelow = check.coldNanoseconds }
        rounds = result.rounds.filter { !$0.isEmpty }
        speed = Speed(rounds: rounds, deliveredByteCount: check.deliveredByteCount)
        outcome = speed == nil ? .untimed : .measured
        addLatencies(result.latencies)
        addMemory(result.memories.map(\.memory))
        limit = speed.flatMap {
            limits?.limit(
                of: cell, bytesPerSecond: $0.bytesPerSecond, deliveredByteCount: check.deliveredByteCount)
        }
    }

    private func addLatencies(_ records: [LatencyRecord]) {
        latency = LatencyRecord.Latency(combining: records.map(\.latency))
        firstByte = LatencyRecord.Latency(combining: records.compactMap(\.firstByte))
        processLatencies = records.map(\.latency)
        latencySample = LogSample(records.map { Double($0.latency.p50) })
        firstByteSample = LogSample(records.compactMap { $0.firstByte.map { Double($0.p50) } })
        latency?.setMedian(latencySample)
        firstByte?.setMedian(firstByteSample)
        playback = Self.middle(records.compactMap(\.playback), by: \.startNanoseconds)
        contradictedLatencyCount = records.count { $0.isContradicted == true }
    }

    private func addMemory(_ memories: [MemoryRecord.Memory]) {
        memory = Self.middle(memories, by: \.growthByteCount)
        memorySample = LogSample(memories.map { Double(max($0.growthByteCount, Self.memoryResolution)) })
    }

    /// Returns the median element by a figure; of an even number of elements, the lower median.
    private static func middle<Element>(_ elements: [Element], by figure: (Element) -> UInt64) -> Element? {
        guard !elements.isEmpty else { return nil }
        return elements.sorted { figure($0) < figure($1) }[(elements.count - 1) / 2]
    }

    /// The smallest memory growth that can be told from none, in bytes: the kernel keeps its counters per CPU.
    package static let memoryResolution: UInt64 = 256 << 10

    /// The mean resources that a timed iteration used.
    struct IterationUsage: Hashable, Sendable {
        var minorFaults: UInt64
        var majorFaults: UInt64
        var systemNanoseconds: UInt64
        /// The kernel's share of the CPU time; `nil` if no CPU time was counted.
        var systemShare: Double?
    }

    /// The mean resources that a timed iteration used; `nil` if they are not known.
    var iterationUsage: IterationUsage? {
        let count = UInt64(sampleCount)
        guard let usage, count > 0 else { return nil }
        func mean(_ sum: UInt64) -> UInt64 { (sum &+ count / 2) / count }
        let cpuNanoseconds = Double(usage.userNanoseconds) + Double(usage.systemNanoseconds)
        return IterationUsage(
            minorFaults: mean(usage.minorFaults), majorFaults: mean(usage.majorFaults),
            systemNanoseconds: mean(usage.systemNanoseconds),
            systemShare: cpuNanoseconds > 0 ? Double(usage.systemNanoseconds) / cpuNanoseconds : nil)
    }

    /// True if the process returns pages to the system and takes them again: at least one fault of a 4 KiB page for
    /// every four pages that it delivers. Cells of a mapped file do not count: those faults are the file's.
    var returnsMemory: Bool {
        guard let iterationUsage, let deliveredByteCount, deliveredByteCount > 0, cell.source != "mmap" else {
            return false
        }
        return iterationUsage.minorFaults >= max(1, deliveredByteCount / (4 * 4096))
    }

    /// The outcome in files, in tables, and the reason why there are no figures.
    private var outcomeWords: (status: String, text: String, reason: String?) {
        switch outcome {
        case .measured: ("measured", "measured", nil)
        case .failed(let reason): ("failed", "failed", reason)
        case .unchecked:
            (
                "unchecked", "not checked",
                "no check: nothing says that the plaintext is right, so no figure is shown"
            )
        // A cell that was not timed yet did not fail.
        case .untimed: ("untimed", "not timed yet", "checked, and not timed yet")
        }
    }

    /// The reason why there are no figures, or `nil` if there are.
    package var missingReason: String? { outcomeWords.reason }

    package var status: String { outcomeWords.status }

    /// The outcome as tables show it.
    var statusText: String { outcomeWords.text }

    /// Returns the number of cells without figures, by outcome: `1 failed, 2 not timed yet`.
    static func missingText(_ cells: [CellSummary]) -> String {
        ["failed", "not checked", "not timed yet"].compactMap { text in
            let count = cells.count { $0.statusText == text }
            return count > 0 ? "\(SignificantDigits.grouped(UInt64(count))) \(text)" : nil
        }.joined(separator: ", ")
    }

    /// True if something is wrong with the cell.
    var isBad: Bool {
        switch outcome {
        case .failed, .unchecked: true
        case .measured, .untimed: false
        }
    }

    /// Summarizes all cells of a run, in the order of the results. There may be millions of samples, so large runs use
    /// all CPUs.
    static func all(of results: RunResults) -> [CellSummary] {
        let failures = vectorFailures(results.conformance)
        let header = results.header
        // Only one cell reads a file for the first time.
        let passes = results.cells.lazy.filter { $0.failure == nil && failures[$0.cell.backend] == nil }
            .compactMap { $0.check?.isCachedBelow == true ? $0.check?.coldNanoseconds : nil }.first
        @Sendable func summary(_ result: CellResult) -> CellSummary {
            CellSummary(
                result, strategies: header.strategies, limits: header.limits,
                vectorFailure: failures[result.cell.backend], cachedBelow: passes)
        }
        return Parallel.map(results.cells, summary)
    }

    /// Returns the reasons why subjects failed their vectors, by subject.
    private static func vectorFailures(_ records: [ConformanceRecord]) -> [String: String] {
        var failures: [String: String] = [:]
        for record in records where record.failed > 0 {
            let executed = RatioText.count(record.passed + record.failed, "vector read")
            failures[record.subject] = "\(record.subject) failed \(record.failed) of \(executed)"
        }
        return failures
    }
}

extension CellSummary: Hashable {
    package static func == (one: CellSummary, other: CellSummary) -> Bool { one === other }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Throughput of a cell: plaintext bytes delivered in an iteration ÷ the time of the iteration.
///
/// The time of a process is the median of its iterations; that of the cell is the median of its processes.
package struct Speed: Hashable, Sendable {
    /// Plaintext bytes per second, one value per process.
    package let sample: LogSample
    /// Plaintext bytes per second.
    package let bytesPerSecond: UInt64
    /// The 95 % interval of ``bytesPerSecond``; `nil` with fewer than three processes.
    package let interval: ClosedRange<UInt64>?
    /// Half the interval's width as a share of the throughput; `nil` without an interval.
    package let relativeHalfWidth: Double?

    /// The interval in words, or the reason why there is none.
    var rangeText: String {
        interval.map { ByteCountText.rateRange($0.lowerBound, $0.upperBound) } ?? Self.noInterval(sample.count)
    }

    /// Returns the reason why figures of this number of processes have no interval.
    static func noInterval(_ processCount: Int) -> String {
        "\(RatioText.count(processCount, "process", "processes")), no interval"
    }

    /// Returns `nil` if nothing was timed or delivered, or if an iteration was too short for the clock.
    init?(rounds: [[UInt64]], deliveredByteCount: UInt64) {
        let medians = rounds.compactMap { median(of: $0) }
        // Above this, a rate does not fit 64 bits. Such a time comes from a broken clock.
        guard deliveredByteCount > 0, let fastest = medians.min(), fastest >= 1,
            Double(deliveredByteCount) / fastest < 1e9, let times = LogSample(medians)
        else { return nil }
        self.init(sample: times.reciprocal(times: Double(deliveredByteCount) * 1e9))
    }

    init(sample: LogSample) {
        self.sample = sample
        bytesPerSecond = UInt64(nearest: sample.estimate)
        interval = sample.interval.map { UInt64(nearest: $0.low)...UInt64(nearest: $0.high) }
        relativeHalfWidth = sample.interval?.relativeHalfWidth
    }
}

extension LatencyRecord.Latency {
    /// Replaces the median by the median of the processes' medians, so that it lies in its interval.
    fileprivate mutating func setMedian(_ sample: LogSample?) {
        if let estimate = sample?.estimate { p50 = UInt64(nearest: estimate) }
    }

    /// The percentiles that the number of reads supports, and the maximum, in nanoseconds.
    var percentiles: [(name: String, nanoseconds: UInt64)] {
        [("median", p50), ("p90", trustedP90), ("p99", trustedP99), ("p99.9", trustedP999), ("max", max)]
            .compactMap { name, nanoseconds in nanoseconds.map { (name, $0) } }
    }

    /// The percentiles in words, with the number of reads that they are based on.
    var words: String {
        percentiles.map { "\($0.name) \(DurationText.text(nanoseconds: $0.nanoseconds))" }.joined(separator: ", ")
            + ", \(RatioText.count(readCount, "read")) a process"
    }
}

extension MachineLimits {
    /// Returns the limit that a cell runs into.
    ///
    /// - Parameters:
    ///   - cell: The cell.
    ///   - bytesPerSecond: Its throughput.
    ///   - deliveredByteCount: The bytes that one iteration delivers. A read shorter than the window is decrypted in
    ///     one step.
    /// - Returns: The limit, or `nil` if none is known.
    func limit(of cell: Cell, bytesPerSecond: UInt64, deliveredByteCount: UInt64) -> BindingLimit? {
        guard cell.isLocal, let source = LimitedSource(rawValue: cell.source) else { return nil }
        let readByteCount = cell.readCount.map { deliveredByteCount / UInt64(max(1, $0)) } ?? .max
        return bindingLimit(
            bytesPerSecond: Double(bytesPerSecond), keyByteCount: cell.aesKeyByteCount,
            windowByteCount: min(cell.windowByteCount, readByteCount), source: source, threads: cell.threads)
    }
}

extension BindingLimit.Kind {
    /// The limited part of the machine, in words.
    var text: String {
        switch self {
        case .aesUnit: "AES instructions"
        case .pageCacheRead: "page-cache reads"
        case .memoryCopy: "memory copies"
        }
    }
}
