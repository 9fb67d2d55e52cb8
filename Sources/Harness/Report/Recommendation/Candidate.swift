import Results

/// A measured configuration as a recommendation sees it: its figures, and what tells it from others.
package struct Candidate: Hashable, Sendable {
    /// A text that is unique among the candidates.
    package var id: String
    /// Everything that makes up the configuration but its window: candidates of one family differ in the window only.
    package var family: String
    /// The plaintext bytes that are decrypted in one step.
    package var windowByteCount: UInt64
    /// The median throughput, in plaintext bytes per second.
    package var bytesPerSecond: UInt64
    /// The throughput's 95 % interval; `nil` where one process was timed, which says nothing of the spread between
    /// processes.
    package var interval: ClosedRange<UInt64>?
    /// How far memory rose, in bytes; `nil` where it was not measured.
    package var memoryByteCount: UInt64?
    /// The time to the first byte, in nanoseconds; `nil` where it was not measured.
    package var firstByteNanoseconds: UInt64?
    /// Ciphertext bytes fetched per plaintext byte delivered; `nil` where it is not known.
    package var amplification: Double?

    package init(
        id: String, family: String, windowByteCount: UInt64, bytesPerSecond: UInt64,
        interval: ClosedRange<UInt64>? = nil, memoryByteCount: UInt64? = nil, firstByteNanoseconds: UInt64? = nil,
        amplification: Double? = nil
    ) {
        self.id = id
        self.family = family
        self.windowByteCount = windowByteCount
        self.bytesPerSecond = bytesPerSecond
        self.interval = interval
        self.memoryByteCount = memoryByteCount
        self.firstByteNanoseconds = firstByteNanoseconds
        self.amplification = amplification
    }

    /// Memory growth below this is not told apart, in bytes: the kernel keeps its counters per CPU.
    package static let memoryResolutionByteCount: UInt64 = 256 << 10

    /// Says whether the data do not tell which of two is faster: their intervals have a point in common.
    ///
    /// A candidate without an interval ties with nothing but itself.
    package func ties(with other: Candidate) -> Bool {
        if id == other.id { return true }
        guard let interval, let otherInterval = other.interval else { return false }
        return interval.overlaps(otherInterval)
    }

    /// The memory that orders and fronts go by: what cannot be told apart is the same, what is unknown is the largest.
    var comparedMemory: UInt64 { max(memoryByteCount ?? .max, Self.memoryResolutionByteCount) }

    /// The first byte that orders and fronts go by: what is unknown is the latest.
    var comparedFirstByte: UInt64 { firstByteNanoseconds ?? .max }

    /// The amplification that orders and fronts go by, in hundredths: what is unknown is the largest.
    ///
    /// Wide windows fetch a block less here and there, which is a millionth and no reason for anything.
    var comparedAmplification: Double { amplification.map { ($0 * 100).rounded() } ?? .infinity }

    /// Says which of two candidates that tie is taken: less memory, then a sooner first byte, then a smaller window.
    ///
    /// What is still equal goes by amplification, throughput and `id`, so that the order is total and the same each time.
    static func isPreferred(_ one: Candidate, to other: Candidate) -> Bool {
        (
            one.comparedMemory, one.comparedFirstByte, one.windowByteCount, one.comparedAmplification,
            other.bytesPerSecond, one.id
        ) < (
            other.comparedMemory, other.comparedFirstByte, other.windowByteCount, other.comparedAmplification,
            one.bytesPerSecond, other.id
        )
    }

    /// The candidate with the greatest median; of equals the preferred one.
    package static func fastest(of candidates: [Candidate]) -> Candidate? {
        candidates.min {
            $0.bytesPerSecond != $1.bytesPerSecond
                ? $0.bytesPerSecond > $1.bytesPerSecond : isPreferred($0, to: $1)
        }
    }

    /// The preferred one of those that tie with the fastest.
    package static func choice(of candidates: [Candidate]) -> Candidate? {
        guard let fastest = fastest(of: candidates) else { return nil }
        return candidates.filter { $0.ties(with: fastest) }.min { isPreferred($0, to: $1) }
    }

    /// Says whether this candidate is no worse than another in everything, and better in something.
    ///
    /// Throughputs are compared by their medians; missing figures are the worst. The relation is transitive.
    package func dominates(_ other: Candidate) -> Bool {
        let isNoWorse =
            bytesPerSecond >= other.bytesPerSecond && comparedMemory <= other.comparedMemory
            && comparedFirstByte <= other.comparedFirstByte && comparedAmplification <= other.comparedAmplification
        let isBetter =
            bytesPerSecond > other.bytesPerSecond || comparedMemory < other.comparedMemory
            || comparedFirstByte < other.comparedFirstByte || comparedAmplification < other.comparedAmplification
        return isNoWorse && isBetter
    }

    /// The Pareto front: the candidates that no other one dominates, fastest first.
    ///
    /// Complexity: O(n log n + n × f) for n candidates and f on the front.
    package static func front(of candidates: [Candidate]) -> [Candidate] {
        // In this order whatever dominates a candidate comes before it.
        let sorted = candidates.sorted { one, other in
            (
                other.bytesPerSecond, one.comparedMemory, one.comparedFirstByte, one.comparedAmplification,
                one.windowByteCount, one.id
            ) < (
                one.bytesPerSecond, other.comparedMemory, other.comparedFirstByte, other.comparedAmplification,
                other.windowByteCount, other.id
            )
        }
        var front: [Candidate] = []
        for candidate in sorted where !front.contains(where: { $0.dominates(candidate) }) { front.append(candidate) }
        return front
    }
}

extension CellSummary {
    /// How long a program waits for the first bytes that it can use, in nanoseconds; `nil` where that was not measured.
    ///
    /// Both of these have to pass, so that it is the longer one: the median time to open the object and read one byte,
    /// and the median time of one read of the workload, which is a window where the object is read from start to end. A
    /// reader hands over a read at a time.
    package var timeToFirstByte: UInt64? {
        guard let opened = firstByte?.p50 else { return nil }
        let wait = max(opened, latency?.p50 ?? 0)
        // More than a hundred days are a broken clock.
        return wait < 1 << 53 ? wait : nil
    }
}

extension Candidate {
    /// Takes the figures of a cell, or returns `nil` if it has no throughput.
    init?(_ summary: CellSummary) {
        guard let speed = summary.speed else { return nil }
        var family = summary.cell
        family.windowByteCount = 0
        self.init(
            id: summary.cell.id, family: family.id, windowByteCount: summary.cell.windowByteCount,
            bytesPerSecond: speed.bytesPerSecond,
            interval: speed.hasInterval ? speed.bytesPerSecondLow...speed.bytesPerSecondHigh : nil,
            memoryByteCount: summary.memory?.growthByteCount, firstByteNanoseconds: summary.timeToFirstByte,
            amplification: summary.amplification?.fetched)
    }
}
