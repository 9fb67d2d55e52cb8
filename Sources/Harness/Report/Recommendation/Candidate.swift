import Results
package import Statistics
import Support

/// A measured configuration as a recommendation sees it: its figures, and what tells it from others.
package struct Candidate: Hashable, Sendable {
    /// A text that is unique among the candidates.
    package var id: String
    /// Everything that makes up the configuration but its window: candidates of one family differ in the window only.
    package var family: String
    /// The plaintext bytes that are decrypted in one step.
    package var windowByteCount: UInt64
    /// The throughput of each process, in plaintext bytes per second.
    package var sample: LogSample
    /// The figure that candidates are ranked by, a value a process; more is better.
    package var merit: LogSample
    /// How far memory rose, in bytes; `nil` where it was not measured.
    package var memoryByteCount: UInt64?
    /// The time to the first byte, in nanoseconds; `nil` where it was not measured.
    package var firstByteNanoseconds: UInt64?
    /// Ciphertext bytes fetched per plaintext byte delivered; `nil` where it is not known.
    package var amplification: Double?
    /// The median latency of a read, in nanoseconds; `nil` where it was not measured.
    package var latencyNanoseconds: UInt64?

    /// Creates a candidate, ranked by its throughput unless another merit is given.
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

    /// Whether so many processes were timed that something can be shown of it.
    var isJudged: Bool { merit.count >= LogSample.minCount }

    /// Says whether the data do not tell which of two is faster: the 95 % interval of their ratio holds 1.
    ///
    /// A candidate without an interval ties with nothing but itself.
    package func ties(with other: Candidate) -> Bool {
        id == other.id || SpeedRatio(of: merit, over: other.merit).isTie
    }

    /// The merit that orders and fronts go by, whole: what differs by the rounding of logarithms is the same.
    var comparedMerit: UInt64 { UInt64(nearest: merit.estimate) }

    /// The memory that orders and fronts go by: what cannot be told apart is the same, what is unknown is the largest.
    var comparedMemory: UInt64 { max(memoryByteCount ?? .max, CellSummary.memoryResolution) }

    /// The first byte that orders and fronts go by: what is unknown is the latest.
    var comparedFirstByte: UInt64 { firstByteNanoseconds ?? .max }

    /// The amplification that orders and fronts go by, in hundredths: what is unknown is the largest.
    ///
    /// Wide windows fetch a block less here and there, which is a millionth and no reason for anything.
    var comparedAmplification: Double { amplification.map { ($0 * 100).rounded() } ?? .infinity }

    /// Says which of two candidates that are near the best is taken: less memory, then a sooner first byte, then a smaller window.
    ///
    /// What is still equal goes by amplification, merit and `id`, so that the order is total and the same each time.
    static func isPreferred(_ one: Candidate, to other: Candidate) -> Bool {
        (
            one.comparedMemory, one.comparedFirstByte, one.windowByteCount, one.comparedAmplification,
            other.comparedMerit, one.id
        ) < (
            other.comparedMemory, other.comparedFirstByte, other.windowByteCount, other.comparedAmplification,
            one.comparedMerit, other.id
        )
    }

    /// The candidate with the greatest merit; of equals the preferred one.
    package static func fastest(of candidates: [Candidate]) -> Candidate? {
        candidates.min {
            $0.comparedMerit != $1.comparedMerit
                ? $0.comparedMerit > $1.comparedMerit : isPreferred($0, to: $1)
        }
    }

    /// Says whether this candidate is no worse than another in everything, and better in something.
    ///
    /// Merits are compared by their estimates; missing figures are the worst. The relation is transitive.
    package func dominates(_ other: Candidate) -> Bool {
        let isNoWorse =
            comparedMerit >= other.comparedMerit && comparedMemory <= other.comparedMemory
            && comparedFirstByte <= other.comparedFirstByte && comparedAmplification <= other.comparedAmplification
        let isBetter =
            comparedMerit > other.comparedMerit || comparedMemory < other.comparedMemory
            || comparedFirstByte < other.comparedFirstByte || comparedAmplification < other.comparedAmplification
        return isNoWorse && isBetter
    }

    /// The Pareto front: the candidates that no other one dominates, best merit first.
    ///
    /// Complexity: O(n log n + n × f) for n candidates and f on the front.
    package static func front(of candidates: [Candidate]) -> [Candidate] {
        // In this order whatever dominates a candidate comes before it.
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

/// Which of several candidates are shown to be nearly the best, and how nearly.
///
/// The rule: of all candidates that were timed in three processes or more, those count as near the best of which it is
/// shown, with 95 % confidence for all of them together (`BestComparison`), that none is more than ``margin`` faster. Where
/// none is shown to be so near, it is the one of which it is shown to be the nearest. Noise gains nothing: it takes a
/// candidate out and never in.
package struct NearBest: Sendable {
    /// How much faster another one may be, as a part of one.
    package static let margin = 0.05

    /// The candidates that are near the best, preferred first; empty only if there are no candidates.
    package let members: [Candidate]
    /// For each member how much faster than it another one may be at most, by its `id`: 1.02 for 2 %; `nil` where nothing
    /// is shown, since fewer than three processes were timed.
    package let bounds: [String: Double]
    /// How many candidates nothing can be shown of, since they were timed in fewer than three processes.
    package let unjudgedCount: Int

    /// Compares candidates.
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

    /// What a bound says of a candidate among some, itself included.
    static func claim(_ bound: Double, among count: Int) -> String {
        let others = count == 2 ? "the other one is not" : "none of the other \(count - 1) is"
        return "\(others) \(bound < 1.0005 ? "" : "more than \(RatioText.percent(bound - 1)) ")faster"
    }

    /// Whether the choice is shown to be within the margin.
    package var isShown: Bool { members.first.flatMap { bounds[$0.id] }.map { $0 <= 1 + Self.margin } ?? false }
}

/// The figure that candidates are ranked by.
enum Merit: Hashable, Sendable {
    /// The plaintext bytes that a second delivers.
    case throughput
    /// The median latency of a read: who seeks waits for one read, whatever many of them deliver together.
    case latency

    /// The number that a latency in nanoseconds divides to be a merit, so large that whole numbers tell latencies apart.
    private static let fastest = 1e15

    /// The merit of a cell, more is better; `nil` where it was not measured.
    func sample(of summary: CellSummary) -> LogSample? {
        switch self {
        case .throughput: summary.speed?.sample
        case .latency: summary.latencySample?.reciprocal(times: Self.fastest)
        }
    }

    /// The 95 % interval of the figure; `nil` with fewer than three processes.
    func intervalText(of candidate: Candidate) -> String? {
        switch self {
        case .throughput: candidate.interval.map { ByteCountText.rateRange($0.lowerBound, $0.upperBound) }
        case .latency:
            candidate.merit.reciprocal(times: Self.fastest).interval.map { $0.text(DurationText.text(nanoseconds:)) }
        }
    }

    /// The figure in words: a rate, or the time of a read.
    func text(of candidate: Candidate) -> String {
        switch self {
        case .throughput: ByteCountText.rate(candidate.bytesPerSecond)
        case .latency: candidate.latencyNanoseconds.map { DurationText.text(nanoseconds: $0) } ?? "–"
        }
    }
}

extension Candidate {
    /// Takes the figures of a cell, or returns `nil` if it has no throughput, or no figure of what candidates are ranked by.
    init?(_ summary: CellSummary, rankedBy ranking: Merit = .throughput) {
        guard let speed = summary.speed, let merit = ranking.sample(of: summary) else { return nil }
        var family = summary.cell
        family.windowByteCount = 0
        self.init(
            id: summary.cell.id, family: family.id, windowByteCount: summary.cell.windowByteCount,
            sample: speed.sample, merit: merit, memoryByteCount: summary.memory?.growthByteCount,
            firstByteNanoseconds: summary.firstByte?.p50, amplification: summary.amplification?.fetched,
            latencyNanoseconds: summary.latency?.p50)
    }
}
