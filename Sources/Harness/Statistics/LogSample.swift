import Glibc

/// A figure that several processes of one configuration gave, such as each one's median time.
///
/// Iterations of one process resemble each other more than those of different processes (address layout, page placement,
/// frequency), so that a process counts as one value, however often it was timed. What disturbs a process makes it slower
/// by a factor, so that the logarithms are taken: then a ratio is a difference, and an interval is never below 0.
///
/// The figure is the median of the processes: neighbours that slow a third of them down move it little. Its interval is
/// that of order statistics from six processes on, which holds whatever the distribution is. With fewer, where order
/// statistics cannot reach 95 %, it is Student's, which holds if the logarithms are normal.
/// docs/lab/interval-coverage-2026-11-23.md has the table of how often both do for recorded processes.
/// - Source: Student, "The Probable Error of a Mean", Biometrika 6 (1908); David and Nagaraja, "Order Statistics" (2003),
///   section 7.1.
public struct LogSample: Hashable, Sendable {
    /// The logarithms in ascending order.
    private let logs: [Double]
    /// The median of the logarithms.
    let centre: Double
    /// The mean of the logarithms.
    let mean: Double
    /// The variance of the logarithms, with n − 1 degrees of freedom; 0 for one process.
    let variance: Double

    /// The fewest processes that give an interval.
    public static let minCount = 3

    /// Creates a sample, or `nil` without values, or with one that is not above 0 and finite.
    ///
    /// - Parameter processes: One value a process.
    public init?(_ processes: [Double]) {
        guard !processes.isEmpty, processes.allSatisfy({ $0 > 0 && $0.isFinite }) else { return nil }
        self.init(logs: processes.map { log($0) }.sorted())
    }

    private init(logs: [Double]) {
        self.logs = logs
        centre = (logs[(logs.count - 1) / 2] + logs[logs.count / 2]) / 2
        mean = logs.reduce(0, +) / Double(logs.count)
        let mean = mean
        variance = logs.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(max(1, logs.count - 1))
    }

    /// How many processes there were.
    public var count: Int { logs.count }

    /// The median of the processes' values; of an even number of them, the geometric mean of the two in the middle.
    public var estimate: Double { exp(centre) }

    /// The 95 % interval of the estimate; `nil` with fewer than ``minCount`` processes.
    public var interval: LogInterval? { interval(tail: 0.025) }

    /// The interval of the estimate of another confidence; `nil` with fewer than ``minCount`` processes.
    ///
    /// - Parameter tail: How often at most the median lies below it, and as often above: 0.005 for 99 %.
    /// - Returns: The interval.
    package func interval(tail: Double) -> LogInterval? {
        guard count >= Self.minCount else { return nil }
        if let index = Self.index(ofLowerEndOf: count, tail: tail) {
            return LogInterval(low: exp(logs[index]), estimate: estimate, high: exp(logs[count - 1 - index]))
        }
        let reach =
            StudentDistribution.upperQuantile(tail, degreesOfFreedom: count - 1)
            * (variance / Double(count)).squareRoot()
        return LogInterval(low: mean - reach, estimate: centre, high: mean + reach).exponential
    }

    /// The index of the greatest value that the median lies below with the probability of a tail at most; `nil` where the
    /// least one is not so far: of fewer than six for 95 %.
    private static func index(ofLowerEndOf count: Int, tail limit: Double) -> Int? {
        // How many of them lie below the median is binomial.
        var (term, tail, index) = (exp(-Double(count) * log(2)), 0.0, -1)
        for below in 0..<count / 2 {
            tail += term
            guard tail <= limit else { break }
            index = below
            term *= Double(count - below) / Double(below + 1)
        }
        return index < 0 ? nil : index
    }

    /// The sample of another figure, such as a rate for a time: a number ÷ each value.
    ///
    /// - Parameter numerator: The number, above 0.
    /// - Returns: A sample of as many processes.
    public func reciprocal(times numerator: Double) -> LogSample {
        LogSample(logs: logs.reversed().map { log(numerator) - $0 })
    }

    /// The sample in another unit: each value times a number above 0.
    package func multiplied(by factor: Double) -> LogSample {
        LogSample(logs: logs.map { $0 + log(factor) })
    }

    /// The geometric mean of the values.
    package var geometricMean: Double { exp(mean) }

    /// The values in ascending order.
    package var values: [Double] { logs.map { exp($0) } }

    /// How many times another sample's estimate this one's is.
    ///
    /// - Parameter other: The other one.
    /// - Returns: The ratio, above 0.
    public func ratio(over other: LogSample) -> Double { exp(centre - other.centre) }

    /// The ratio with its 95 % interval; `nil` unless both have ``minCount`` processes.
    ///
    /// It covers what differs between the processes of each side. It does not cover what differs between two runs, such as
    /// the machine's temperature or its neighbours, because each has been there only once.
    ///
    /// - Parameter other: The other one, by which this one is divided.
    /// - Returns: The ratio and its interval.
    /// - Source: Welch, "The Generalization of 'Student's' Problem when Several Different Population Variances Are
    ///   Involved", Biometrika 34 (1947).
    public func ratioInterval(over other: LogSample) -> LogInterval? { ratioInterval(over: other, tail: 0.025) }

    /// The ratio with an interval of another confidence; see ``ratioInterval(over:)``.
    ///
    /// - Parameters:
    ///   - other: The other one, by which this one is divided.
    ///   - tail: How often at most the ratio lies below it, and as often above.
    /// - Returns: The ratio and its interval.
    package func ratioInterval(over other: LogSample, tail: Double) -> LogInterval? {
        guard count >= Self.minCount, other.count >= Self.minCount else { return nil }
        let (error, freedom) = difference(from: other)
        let reach = StudentDistribution.upperQuantile(tail, degreesOfFreedom: freedom) * error
        let middle = mean - other.mean
        return LogInterval(low: middle - reach, estimate: centre - other.centre, high: middle + reach).exponential
    }

    /// The standard error of the difference of two means, and its degrees of freedom, rounded down.
    func difference(from other: LogSample) -> (error: Double, degreesOfFreedom: Int) {
        // The variance of the mean, and its square per degree of freedom.
        func parts(_ sample: LogSample) -> (variance: Double, square: Double) {
            let variance = sample.variance / Double(sample.count)
            return (variance, variance * variance / Double(max(1, sample.count - 1)))
        }
        let (own, others, all) = (parts(self), parts(other), max(1, count + other.count - 2))
        let sum = own.variance + others.variance
        guard sum > 0 else { return (0, all) }
        return (sum.squareRoot(), min(all, max(1, Int(sum * sum / (own.square + others.square)))))
    }
}

/// An estimate of something that is above 0, with its 95 % interval.
public struct LogInterval: Hashable, Sendable {
    /// The lower end.
    public var low: Double
    /// The estimate.
    public var estimate: Double
    /// The upper end.
    public var high: Double

    /// Creates an interval.
    public init(low: Double, estimate: Double, high: Double) {
        self.low = low
        self.estimate = estimate
        self.high = high
    }

    /// Creates the interval of a figure by ``LogSample``, or `nil` for fewer than three processes.
    ///
    /// - Parameter processes: One value above 0 a process.
    public init?(processes: [Double]) {
        guard let interval = LogSample(processes)?.interval else { return nil }
        self = interval
    }

    /// The interval of what this is one of the logarithms of; it holds the estimate.
    fileprivate var exponential: LogInterval {
        LogInterval(low: exp(min(low, estimate)), estimate: exp(estimate), high: exp(max(high, estimate)))
    }

    /// Half the interval's width as a part of the estimate.
    public var relativeHalfWidth: Double { (high - low) / 2 / estimate }
}

/// How far each of several configurations may lie behind the best of them: multiple comparisons with the best.
///
/// The bounds hold together with the confidence that is asked for, however many are compared and whichever looks best. A
/// configuration whose processes differ much has a wide bound, so that noise gains nothing. Variances differ between
/// configurations by a factor of thousands, so that each pair has its own error, and the confidence is shared out among the
/// pairs (Bonferroni) instead of pooling. A pair's error grows with the noise of either one, whichever is noisier: each has
/// the quantile of its own number of processes. (Welch's degrees of freedom grow with the quieter one's noise: beside a
/// noisy configuration of three processes, another noisy one would have a smaller bound than a quiet one.)
///
/// - Source: Hsu, "Multiple Comparisons: Theory and Methods" (1996), chapter 4: with the true best as the control, one
///   one-sided comparison with each of the others bounds all distances from the best at once; Banerjee, "On Confidence
///   Interval for Two-Means Problem Based on Separate Estimates of Variances and Tabulated Values of t-Table", Sankhyā A
///   23 (1961).
package struct BestComparison: Sendable {
    /// For each sample an upper bound of the best one's value ÷ its own; 1 where it is shown to be the best.
    package let bounds: [Double]

    /// Compares samples, of which the greatest value is the best. Complexity: O(n²) for n samples.
    ///
    /// - Parameters:
    ///   - samples: The samples, each of ``LogSample/minCount`` processes at least.
    ///   - confidence: How often all bounds hold, at least; above 0.5, below 1.
    package init(_ samples: [LogSample], confidence: Double = 0.95) {
        let tail = (1 - confidence) / Double(max(1, samples.count - 1))
        var quantiles: [Int: Double] = [:]
        // Plain numbers: a run compares millions of pairs.
        let parts = samples.map { sample -> (mean: Double, centre: Double, squaredReach: Double) in
            let freedom = max(1, sample.count - 1)
            let quantile = quantiles[freedom] ?? StudentDistribution.upperQuantile(tail, degreesOfFreedom: freedom)
            quantiles[freedom] = quantile
            return (sample.mean, sample.centre, quantile * quantile * sample.variance / Double(sample.count))
        }
        bounds = parts.indices.map { index in
            let sample = parts[index]
            var farthest = 0.0
            for other in parts.indices where other != index {
                let lead = max(parts[other].mean - sample.mean, parts[other].centre - sample.centre)
                farthest = max(farthest, lead + (parts[other].squaredReach + sample.squaredReach).squareRoot())
            }
            return exp(farthest)
        }
    }
}
