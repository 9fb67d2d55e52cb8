package import Results
import Statistics

/// A cell that two runs have in common and have figures for.
package struct CellPair: Sendable {
    package var a: CellSummary
    package var b: CellSummary
    /// Throughput of B ÷ throughput of A.
    package var ratio: SpeedRatio

    package enum Relation: String, Hashable, Sendable {
        /// The interval lies above 1.
        case faster
        /// The interval lies below 1.
        case slower
        /// The interval holds 1, or there is no interval.
        case undecided
        case notJudged
    }

    /// Pairs two summaries of a cell, or returns `nil` if one of them has no figures.
    init?(_ a: CellSummary, _ b: CellSummary) {
        guard let ratio = SpeedRatio(of: b, over: a) else { return nil }
        self.a = a
        self.b = b
        self.ratio = ratio
    }

    package var cell: Cell { a.cell }

    /// The relation by the interval, for two runs on one host.
    package var relation: Relation {
        guard ratio.hasInterval else { return .undecided }
        return ratio.low > 1 ? .faster : ratio.high < 1 ? .slower : .undecided
    }

    /// True if the two throughputs lie within 5 % of each other.
    package var isWithin5Percent: Bool { Self.isWithin5Percent(ratio.ratio) }

    package var isSamePlaintext: Bool { a.digest == b.digest }

    /// Returns whether the larger of two values is at most 1.05 times the smaller one, given their ratio.
    static func isWithin5Percent(_ ratio: Double) -> Bool { max(ratio, 1 / ratio) <= 1.05 }
}

/// The ratio of two cells' throughputs, with the interval that the samples support.
package struct SpeedRatio: Hashable, Sendable {
    /// Throughput of the first ÷ throughput of the second, with its 95 % interval. Without an interval, both ends are
    /// the ratio.
    package var low: Double, ratio: Double, high: Double
    /// The smaller of the two sides' process counts. Below three, there is no interval.
    package var processCount: Int

    /// Compares two cells, or returns `nil` if one has no figures.
    init?(of one: CellSummary, over other: CellSummary) {
        guard let speed = one.speed, let otherSpeed = other.speed else { return nil }
        self.init(of: speed.sample, over: otherSpeed.sample)
    }

    init(of one: LogSample, over other: LogSample) {
        ratio = one.ratio(over: other)
        let interval = one.ratioInterval(over: other)
        (low, high) = (interval?.low ?? ratio, interval?.high ?? ratio)
        processCount = min(one.count, other.count)
    }

    package var hasInterval: Bool { processCount >= LogSample.minCount }

    /// True if the data do not show which cell is faster: the interval holds 1.
    package var isTie: Bool { hasInterval && low <= 1 && high >= 1 }

    /// The ratio in words: `1.29× (1.26–1.32×)`.
    var text: String {
        let range = "\(SignificantDigits.text(low))–\(RatioText.times(high))"
        return RatioText.times(ratio) + (hasInterval ? " (\(range))" : " (\(Speed.noInterval(processCount)))")
    }

    /// The share by which the first cell is slower than the second: `13 % (12–15 %)`. It is used for ratios below 1.
    var lossText: String {
        let loss = Self.percent(1 - ratio)
        guard hasInterval else { return "\(loss) % (\(Speed.noInterval(processCount)))" }
        let (minimum, maximum) = (Self.percent(1 - high), Self.percent(1 - low))
        return minimum == maximum ? "\(loss) %" : "\(loss) % (\(minimum)–\(maximum) %)"
    }

    /// Returns a share of one as a whole number of percent, with one more digit if that would be 0 or 100.
    private static func percent(_ share: Double) -> String {
        let percent = max(share, 0) * 100
        return SignificantDigits.fixed(percent, places: percent < 0.95 || percent > 99 ? 1 : 0)
    }
}

/// The throughput of each cell of the main series ÷ that of the best, with its interval.
struct RatioGrid: Sendable {
    let best: CellSummary
    /// The backends, in the order of the report.
    let backends: [String]
    /// The windows that have ratios, in ascending order.
    let windows: [UInt64]
    let windowCount: Int

    private let ratios: [String: CellPair]

    /// With more windows than this, the picture cannot be read.
    private static let maxWindows = 20

    /// Computes the ratios. Returns `nil` if fewer than two cells can be compared.
    init?(_ summary: RunSummary) {
        let grid = summary.grid
        guard let best = summary.best, summary.mainCells.count > 1 else { return nil }
        self.best = best
        backends = Array(grid.backends.prefix(RunSummary.maxLines))
        windows = Array(grid.windows.prefix(Self.maxWindows))
        windowCount = grid.windows.count
        var ratios: [String: CellPair] = [:]
        for backend in backends {
            for window in windows {
                guard let cell = grid[backend, window], cell.cell.id != best.cell.id,
                    let pair = CellPair(best, cell)
                else { continue }
                ratios["\(backend) \(window)"] = pair
            }
        }
        self.ratios = ratios
    }

    /// The ratio of a cell to the best, or `nil` if the cell was not measured or is the best itself.
    subscript(backend: String, window: UInt64) -> CellPair? { ratios["\(backend) \(window)"] }

    /// Returns whether a cell is the best one.
    func isBest(_ backend: String, _ window: UInt64) -> Bool {
        best.cell.backend == backend && best.cell.windowByteCount == window
    }
}

extension CellPair {
    /// The interval in words, or the reason why there is none.
    var intervalText: String {
        ratio.hasInterval
            ? "\(RatioText.times(ratio.low))–\(RatioText.times(ratio.high))" : Speed.noInterval(ratio.processCount)
    }

    /// Returns the ratio and its interval as a lane of a picture.
    func lane(_ name: String, style: SeriesStyle) -> RowChart.Lane {
        RowChart.Lane(
            style: style, line: (ratio.low, ratio.high), ticks: ratio.hasInterval ? [ratio.low, ratio.high] : [],
            point: ratio.ratio, label: RatioText.times(ratio.ratio),
            words: "\(name): \(RatioText.times(ratio.ratio)), \(ratio.hasInterval ? "95 %: " : "")\(intervalText)")
    }
}
