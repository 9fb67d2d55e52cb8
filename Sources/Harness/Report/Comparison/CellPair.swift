package import Results
package import Statistics

/// A cell that two runs have in common, with figures in both.
package struct CellPair: Sendable {
    /// The figures of the first run.
    package var a: CellSummary
    /// The figures of the second run.
    package var b: CellSummary
    /// Throughput of B ÷ throughput of A with its 95 % interval; the ends are the ratio itself where `hasInterval` is not.
    package var ratio: RatioInterval
    /// Whether both sides were timed in more than one process: one alone says nothing about the spread between them.
    package var hasInterval: Bool

    /// What the interval says of B.
    package enum Relation: String, Hashable, Sendable {
        /// The interval lies above 1.
        case faster
        /// The interval lies below 1.
        case slower
        /// The interval holds 1, or there is none.
        case undecided
        /// The runs come from different hosts.
        case notJudged
    }

    /// Pairs two summaries of a cell, or returns `nil` if one of them has no figures.
    init?(_ a: CellSummary, _ b: CellSummary, seed: UInt64) {
        guard let speedA = a.speed, let speedB = b.speed, let deliveredA = a.deliveredByteCount,
            let deliveredB = b.deliveredByteCount, deliveredA > 0,
            let times = RatioInterval(rounds: a.rounds, over: b.rounds, seed: seed)
        else { return nil }
        self.a = a
        self.b = b
        hasInterval = speedA.hasInterval && speedB.hasInterval
        let ratio = times.scaled(by: Double(deliveredB) / Double(deliveredA))
        self.ratio = hasInterval ? ratio : RatioInterval(low: ratio.ratio, ratio: ratio.ratio, high: ratio.ratio)
    }

    /// The configuration.
    package var cell: Cell { a.cell }

    /// What the interval says, on one host.
    package var relation: Relation {
        guard hasInterval else { return .undecided }
        return ratio.low > 1 ? .faster : ratio.high < 1 ? .slower : .undecided
    }

    /// Whether the two throughputs lie within 5 % of each other.
    package var isWithin5Percent: Bool { Self.isWithin5Percent(ratio.ratio) }

    /// Whether both delivered the same plaintext.
    package var isSamePlaintext: Bool { a.digest == b.digest }

    /// Whether the larger of two values is at most 1.05 times the smaller one, given their ratio.
    static func isWithin5Percent(_ ratio: Double) -> Bool { max(ratio, 1 / ratio) <= 1.05 }
}
