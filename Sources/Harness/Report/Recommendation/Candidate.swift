import Results
package import Statistics
import Support

/// A measured configuration for a recommendation: its figures, and the parts that identify it.
package struct Candidate: Hashable, Sendable {
    /// A text that is unique among the candidates.
    package var id: String
    /// The whole configuration except its window: candidates of one family differ only in the window.
    package var family: String
    /// The plaintext bytes decrypted in one step.
    package var windowByteCount: UInt64
    /// The throughput of each process, in plaintext bytes per second.
    package var sample: LogSample
    /// The figure that ranks candidates, one value per process; more is better.
    package var merit: LogSample
    /// Memory growth in bytes; `nil` if it was not measured.
    package var memoryByteCount: UInt64?
    /// The time to the first byte, in nanoseconds; `nil` if it was not measured.
    package var firstByteNanoseconds: UInt64?
    /// Ciphertext bytes fetched per plaintext byte delivered; `nil` if it is not known.
    package var amplification: Double?
    /// The median latency of a read, in nanoseconds; `nil` if it was not measured.
    package var latencyNanoseconds: UInt64?

    /// Uses the throughput as merit unless another merit is given.
    package init(
        id: String, family: String, windowByteCount: UInt64, sample: LogSample, merit: LogSample? = nil,
        memoryByteCount: UInt64? = nil, firstByteNanoseconds: UInt64? = nil, amplification: Double? = nil,
        latencyNanoseconds: UInt64? = nil
    ) {
        self.id = id
        self.family = family
        self.windowByteCount = windowByteCount
        self.sample = sample
        self.merit = merit ?? sample
        self.latencyNanoseconds = latencyNanoseconds
        self.memoryByteCount = memoryByteCount
        self.firstByteNanoseconds = firstByteNanoseconds
        self.amplification = amplification
        let speed = Speed(sample: sample)
        bytesPerSecond = speed.bytesPerSecond
        interval = speed.interval
    }

    /// The throughput, in plaintext bytes per second.
    package let bytesPerSecond: UInt64
    /// Its 95 % interval; `nil` with fewer than three processes.
    package let interval: ClosedRange<UInt64>?

    /// True if enough processes were timed for a comparison.
    var isJudged: Bool { merit.count >= LogSample.minCount }

    /// Returns whether the data leave open which of two candidates is faster: the 95 % interval of their ratio holds 1.
    ///
    /// A candidate without an interval ties with nothing but itself.
    package func ties(with other: Candidate) -> Bool {
        id == other.id || SpeedRatio(of: merit, over: other.merit).isTie
    }

    /// The merit for orders and fronts, as a whole number, so that rounding errors of logarithms do not matter.
    var comparedMerit: UInt64 { UInt64(nearest: merit.estimate) }

    /// The memory for orders and fronts. Values below the resolution count as equal, an unknown one as the largest.
    var comparedMemory: UInt64 { max(memoryByteCount ?? .max, CellSummary.memoryResolution) }

    /// The first byte for orders and fronts. An unknown one counts as the latest.
    var comparedFirstByte: UInt64 { firstByteNanoseconds ?? .max }

    /// The amplification for orders and fronts, in hundredths. An unknown one counts as the largest.
    ///
    /// Wide windows fetch a block less here and there. That is a millionth and must not decide anything.
    var comparedAmplification: Double { amplification.map { ($0 * 100).rounded() } ?? .infinity }

    /// Returns whether one of two candidates near the best is preferred: less memory, then an earlier first byte, then
    /// a smaller window.
    ///
    /// Amplification, merit and `id` decide between equal ones, so that the order is total and reproducible.
    static func isPreferred(_ one: Candidate, to other: Candidate) -> Bool {
        (
            one.comparedMemory, one.comparedFirstByte, one.windowByteCount, one.comparedAmplification,
            other.comparedMerit, one.id
        ) < (
            other.comparedMemory, other.comparedFirstByte, other.windowByteCount, other.comparedAmplification,
            one.comparedMerit, other.id
        )
    }

    /// Returns the candidate with the greatest merit; of equal ones, the preferred one.
    package static func fastest(of candidates: [Candidate]) -> Candidate? {
        candidates.min {
            $0.comparedMerit != $1.comparedMerit
                ? $0.comparedMerit > $1.comparedMerit : isPreferred($0, to: $1)
        }
    }

    /// Returns whether this candidate is no worse than another in every figure, and better in at least one.
    ///
    /// Merits are compared by their estimates; missing figures count as the worst. The relation is transitive.
    package func dominates(_ other: Candidate) -> Bool {
        let isNoWorse =
            comparedMerit >= other.comparedMerit && comparedMemory <= other.comparedMemory
            && comparedFirstByte <= other.comparedFirstByte && comparedAmplification <= other.comparedAmplification
        let isBetter =
            comparedMerit > other.comparedMerit || comparedMemory < other.comparedMemory
            || comparedFirstByte < other.comparedFirstByte || comparedAmplification < other.comparedAmplification
        return isNoWorse && isBetter
    }

    /// Returns the Pareto front: the candidates that no other candidate dominates, best merit first.
    ///
    /// Complexity: O(n log n + n × f) for n candidates and f on the front.
    package static func front(of candidates: [Candidate]) -> [Candidate] {
        // In this order, every candidate comes after those that dominate it.
        let sorted = candidates.sorted { one, other in
            (
                other.comparedMerit, one.comparedMemory, one.comparedFirstByte, one.comparedAmplification,
                one.windowByteCount, one.id
            ) < (
                one.comparedMerit, other.comparedMemory, other.comparedFirstByte, other.comparedAmplification,
                other.windowByteCount, other.id
            )
        }
        var front: [Candidate] = []
        for candidate in sorted where !front.contains(where: { $0.dominates(candidate) }) { front.append(candidate) }
        return front
    }
}

/// The candidates that are shown to be near the best, with a bound for each.
///
/// The rule: only candidates timed in three processes or more count. A candidate is near the best if no other one is
/// more than ``margin`` faster, with 95 % confidence for all of them together (`BestComparison`). If there is no such
/// candidate, the one with the smallest bound takes its place. Noise can exclude a candidate, but never include one.
package struct NearBest: Sendable {
    /// The share by which another candidate may be faster.
    package static let margin = 0.05

    /// The candidates that are near the best, preferred first; empty only if there are no candidates.
    package let members: [Candidate]
    /// For each member, by its `id`, the maximum ratio of another candidate to it: 1.02 if no other is more than 2 %
    /// faster; `nil` if fewer than three processes were timed, since nothing is shown then.
    package let bounds: [String: Double]
    /// The number of candidates timed in fewer than three processes, for which nothing can be shown.
    package let unjudgedCount: Int

    package init(_ candidates: [Candidate]) {
        let judged = candidates.filter(\.isJudged)
        unjudgedCount = candidates.count - judged.count
        guard !judged.isEmpty else {
            members = Candidate.fastest(of: candidates).map { [$0] } ?? []
            bounds = [:]
            return
        }
        let all = BestComparison(judged.map(\.merit)).bounds
        let limit = max(1 + Self.margin, all.min() ?? 1)
        let near = zip(judged, all).filter { $1 <= limit }
        members = near.map(\.0).sorted { Candidate.isPreferred($0, to: $1) }
        bounds = Dictionary(near.map { ($0.id, $1) }) { first, _ in first }
    }

    /// Returns the claim that a bound supports for one of `count` candidates, itself included, of these thread counts.
    static func claim(_ bound: Double, among count: Int, _ threads: String) -> String {
        let confidence = "(95 % confidence, \(count) compared, each with \(threads))"
        // A bound far above the margin says how noisy a candidate was, not how fast.
        guard bound <= 1.25 else {
            return "It is not shown to be the fastest: another configuration may be up to "
                + "\(RatioText.percent(bound - 1)) faster \(confidence)"
        }
        return "No other configuration is \(bound < 1.0005 ? "" : "more than \(RatioText.percent(bound - 1)) ")faster "
            + confidence
    }

    /// True if the choice is shown to be within the margin.
    package var isShown: Bool { members.first.flatMap { bounds[$0.id] }.map { $0 <= 1 + Self.margin } ?? false }
}

/// The figure that ranks candidates.
enum Merit: Hashable, Sendable {
    /// Plaintext bytes per second.
    case throughput
    /// The median latency of a read. A user who seeks waits for one read; the throughput of many of them does not help.
    case latency

    /// The dividend that turns a latency in nanoseconds into a merit. It is so large that whole numbers tell latencies
    /// apart.
    private static let fastest = 1e15

    /// Returns the merit of a cell, more is better; `nil` if it was not measured.
    func sample(of summary: CellSummary) -> LogSample? {
        switch self {
        case .throughput: summary.speed?.sample
        case .latency: summary.latencySample?.reciprocal(times: Self.fastest)
        }
    }

    /// Says whether a cell can be ranked.
    func ranks(_ summary: CellSummary) -> Bool {
        sample(of: summary) != nil && !(self == .latency && summary.mayReadHeldChunks)
    }

    /// Returns the 95 % interval of the figure; `nil` with fewer than three processes.
    func intervalText(of candidate: Candidate) -> String? {
        switch self {
        case .throughput: candidate.interval.map { ByteCountText.rateRange($0.lowerBound, $0.upperBound) }
        case .latency:
            candidate.merit.reciprocal(times: Self.fastest).interval.map { $0.text(DurationText.text(nanoseconds:)) }
        }
    }

    /// Returns the figure in words: a rate, or the time of a read.
    func text(of candidate: Candidate) -> String {
        switch self {
        case .throughput: ByteCountText.rate(candidate.bytesPerSecond)
        case .latency: candidate.latencyNanoseconds.map { DurationText.text(nanoseconds: $0) } ?? "–"
        }
    }
}

extension CellSummary {
    /// The minimum number of chunks in an object whose random reads are ranked by their latency.
    static let minChunkCount: UInt64 = 32

    /// True if random reads may often find the chunk that the reader still holds, as they would not in a longer object.
    /// A chunk that is authenticated is opened whole, and held for the next read; so is any with the access
    /// `chunk-cache`.
    var mayReadHeldChunks: Bool {
        guard facts?.isTagged == true || cell.access == .chunkCache, let chunkByteCount = cell.chunkByteCount else {
            return false
        }
        return chunkByteCount > cell.objectByteCount / Self.minChunkCount
    }
}

extension Candidate {
    /// Takes the figures of a cell. Returns `nil` if the cell has no throughput, or is not ranked.
    init?(_ summary: CellSummary, rankedBy ranking: Merit = .throughput) {
        guard ranking.ranks(summary), let speed = summary.speed, let merit = ranking.sample(of: summary) else {
            return nil
        }
        var family = summary.cell
        family.windowByteCount = 0
        self.init(
            id: summary.cell.id, family: family.id, windowByteCount: summary.cell.windowByteCount,
            sample: speed.sample, merit: merit, memoryByteCount: summary.memory?.growthByteCount,
            firstByteNanoseconds: summary.firstByte?.p50, amplification: summary.amplification?.fetched,
            latencyNanoseconds: summary.latency?.p50)
    }
}
