import RandomAccess
package import Results
import Statistics
import Subject
import Support

/// One process of a sweep.
package struct SweepStep: Hashable, Sendable {
    /// The kind of measurement in one process. Rounds count from 0.
    package enum Pass: Hashable, Sendable {
        case check
        case memory(round: Int)
        case latencies(round: Int)
        case time(round: Int)
    }

    /// The kind of measurement.
    package var pass: Pass
    /// The measured cell.
    package var cell: Cell
    /// The number of timed rounds that the plan always has. Later rounds run only if a precision is not reached.
    package var plannedRounds: Int

    /// The maximum number of processes for a cell's memory, and for its latencies.
    package static let maxUntimedRounds = 3

    /// Returns all steps of a plan, in order.
    ///
    /// - Parameter plan: The plan. Its seed determines the order of the cells in each pass.
    /// - Returns: The steps.
    package static func all(of plan: Plan) -> [SweepStep] {
        func step(_ pass: Pass, _ planned: PlannedCell) -> SweepStep {
            SweepStep(pass: pass, cell: planned.cell, plannedRounds: planned.rounds)
        }
        var steps = plan.cells.map { step(.check, $0) }
        let maxRounds = plan.cells.map(\.rounds).max() ?? 0
        for round in 0..<min(maxRounds, maxUntimedRounds) {
            for (index, pass) in [Pass.memory(round: round), .latencies(round: round)].enumerated() {
                steps += order(ofRound: -1 - index - 2 * round, in: plan).filter { round < $0.rounds }
                    .map { step(pass, $0) }
            }
        }
        let lastRound = max(maxRounds, plan.precision?.maxRounds ?? 0)
        for round in 0..<lastRound {
            steps += order(ofRound: round, in: plan).filter { round < max($0.rounds, plan.precision?.maxRounds ?? 0) }
                .map { step(.time(round: round), $0) }
        }
        return steps
    }

    /// The cells in the order of one round, drawn from the plan's seed. Rounds below 0 are the untimed passes.
    static func order(ofRound round: Int, in plan: Plan) -> [PlannedCell] {
        var generator = SplitMix64(seed: plan.seed &+ UInt64(bitPattern: Int64(round)) &* 0x1_0000_0001)
        return plan.cells.shuffled(using: &generator)
    }
}

/// An event of a sweep, with the step's index in ``SweepStep/all(of:)``.
package enum SweepEvent: Hashable, Sendable {
    /// The step's process is about to start.
    case starts(Int)
    /// The step has ended, after a number of seconds.
    case ended(Int, seconds: Double)
    /// The step need not run, because an earlier run did it or its cell failed.
    case notNeeded(Int)
}

/// The finished steps of a sweep, according to its result file.
struct SweepState {
    private struct Process: Hashable {
        var pass: SweepStep.Pass
        var cellID: String
    }

    private var done: Set<Process> = []
    /// The median time of each process, in nanoseconds, by cell.
    private var medians: [String: [Double]] = [:]
    private(set) var failed: Set<String> = []
    private(set) var isEnded = false
    /// The time of the rounds that this run added for precision.
    var addedNanoseconds: UInt64 = 0

    init(_ records: [ResultRecord]) {
        for record in records { note(record) }
    }

    mutating func note(_ record: ResultRecord) {
        switch record {
        case .header, .conformance, .mutants, .seal: break
        case .check(let check): done.insert(Process(pass: .check, cellID: check.cell.id))
        case .memory(let memory):
            done.insert(Process(pass: .memory(round: memory.round ?? 0), cellID: memory.cellID))
        case .latency(let latency):
            done.insert(Process(pass: .latencies(round: latency.round ?? 0), cellID: latency.cellID))
        case .time(let time):
            guard done.insert(Process(pass: .time(round: time.round), cellID: time.cellID)).inserted else { break }
            if let median = median(of: time.nanoseconds) { medians[time.cellID, default: []].append(median) }
        case .failure(let failure): failed.insert(failure.cell.id)
        case .end: isEnded = true
        }
    }

    func isDone(_ pass: SweepStep.Pass, _ cellID: String) -> Bool {
        done.contains(Process(pass: pass, cellID: cellID))
    }

    /// Returns whether half the width of a cell's interval is at most the given share of its figure.
    func isPrecise(_ cellID: String, _ halfWidth: Double) -> Bool {
        LogInterval(processes: medians[cellID] ?? []).map { $0.relativeHalfWidth <= halfWidth } ?? false
    }
}

extension LatencyRecord.Latency {
    /// The percentiles of latencies of single reads, in nanoseconds. All are 0 if there are no latencies.
    package init(of latencies: [UInt64]) {
        let sorted = latencies.sorted()
        func rank(_ tenthsOfPercent: Int) -> UInt64 {
            percentile(tenthsOfPercent: tenthsOfPercent, ofSorted: sorted) ?? 0
        }
        self.init(
            readCount: sorted.count, p50: rank(500), p90: rank(900), p99: rank(990), p999: rank(999),
            max: sorted.last ?? 0)
    }
}

extension Cell {
    /// The cell in a few words, for the progress display: `libgcrypt 256KiB sequential`. Default values are left out.
    /// Two cells of a plan may have the same name.
    package var shortName: String {
        var parts = [backend]
        if strategy != Format.usualName { parts.append(strategy) }
        if rangeByteCount == nil { parts.append("\(ByteSize(windowByteCount))") }
        parts.append(workload)
        if access != .block { parts.append(access.rawValue) }
        if threads != 1 { parts.append("\(threads) threads") }
        if keyWord != "aes128" { parts.append(keyWord) }
        if source != ObjectKind.file.rawValue { parts.append(source) }
        if isCold == true { parts.append("cold") }
        if remoteLatencyNanoseconds != nil { parts.append("remote") }
        return parts.joined(separator: " ")
    }
}
