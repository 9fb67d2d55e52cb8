import RandomAccess
import Results
import Statistics

/// What a result file says is done already.
struct SweepState {
    private(set) var checked: Set<String> = []
    private(set) var memorized: Set<String> = []
    private(set) var latencied: Set<String> = []
    /// Cell and round.
    private(set) var timed: Set<String> = []
    private(set) var failed: Set<String> = []
    private(set) var isEnded = false

    init(_ records: [ResultRecord]) {
        for record in records { note(record) }
    }

    mutating func note(_ record: ResultRecord) {
        switch record {
        case .header, .conformance, .mutants: break
        case .check(let check): checked.insert(check.cell.id)
        case .memory(let memory): memorized.insert(memory.cellID)
        case .latency(let latency): latencied.insert(latency.cellID)
        case .time(let time): timed.insert("\(time.cellID) \(time.round)")
        case .failure(let failure): failed.insert(failure.cell.id)
        case .end: isEnded = true
        }
    }
}

extension LatencyRecord.Latency {
    /// The percentiles of single reads, in nanoseconds; all 0 where there are none.
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
