import Results

/// How much faster one cell is than another, with what the data carry.
struct SpeedRatio: Hashable, Sendable {
    /// Throughput of the first ÷ throughput of the second, with its 95 % interval.
    var low: Double, ratio: Double, high: Double
    /// Whether there is an interval: both were timed in several processes.
    var hasInterval: Bool
    /// Whether the data do not tell which is faster.
    var isTie: Bool

    /// Compares two cells, or returns `nil` if one has no figures.
    init?(of one: CellSummary, over other: CellSummary, seed: UInt64) {
        guard let pair = CellPair(other, one, seed: seed), let speed = one.speed, let otherSpeed = other.speed
        else { return nil }
        (low, ratio, high) = (pair.ratio.low, pair.ratio.ratio, pair.ratio.high)
        hasInterval = pair.hasInterval
        isTie = hasInterval && (speed.ties(with: otherSpeed) || (low <= 1 && high >= 1))
    }

    /// The ratio in words: `1.29× (1.26–1.32×)`.
    var text: String {
        let range = "\(SignificantDigits.text(low))–\(RatioText.times(high))"
        return RatioText.times(ratio) + (hasInterval ? " (\(range))" : " (one process, no interval)")
    }

    /// How much slower the first one is, as a share of the second: `13 % (12–15 %)`; for ratios below 1.
    var lossText: String {
        let loss = Self.percent(1 - ratio)
        guard hasInterval else { return "\(loss) % (one process, no interval)" }
        let (minimum, maximum) = (Self.percent(1 - high), Self.percent(1 - low))
        return minimum == maximum ? "\(loss) %" : "\(loss) % (\(minimum)–\(maximum) %)"
    }

    /// A share of one as a whole number of percent, or with one digit more where that would be 0 or 100.
    private static func percent(_ share: Double) -> String {
        let percent = max(share, 0) * 100
        return SignificantDigits.fixed(percent, places: percent < 0.95 || percent > 99 ? 1 : 0)
    }
}
