import Glibc

/// A figure of several processes of one configuration, such as each one's median time.
///
/// Iterations of one process resemble each other more than those of different processes, because of address layout,
/// page placement and frequency. So a process counts as one value, however often it was timed. A disturbance makes a
/// process slower by a factor. So the sample uses logarithms: then a ratio is a difference, and an interval is never
/// below 0.
///
/// The figure is the median of the processes. Neighbours on the machine that slow down a third of them move it little.
/// From six processes on, the interval is that of order statistics, which holds for any distribution. With fewer, order
/// statistics cannot reach 95 %, and the interval is Student's, which holds if the logarithms are normal.
/// docs/lab/interval-coverage-2026-11-23.md has a table of how often both hold for recorded processes.
/// - Source: Student, "The Probable Error of a Mean", Biometrika 6 (1908); David and Nagaraja, "Order Statistics"
///   (2003), section 7.1.
public struct LogSample: Hashable, Sendable {
    /// The logarithms in ascending order.
    private let logs: [Double]
    /// The median of the logarithms.
    let centre: Double
    /// The mean of the logarithms.
    let mean: Double
    /// The variance of the logarithms, with n − 1 degrees of freedom; 0 for one process.
    let variance: Double

    /// The min number of processes for an interval.
    public static let minCount = 3

    /// A sample of positive, finite values; `nil` without values, or with any other value.
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

    /// The number of processes.
    public var count: Int { logs.count }

    /// The median of the processes' values; for an even number of processes, the geometric mean of the two in the
    /// middle.
    public var estimate: Double { exp(centre) }

    /// The 95 % interval of the estimate; `nil` with fewer than ``minCount`` processes.
    public var interval: LogInterval? { interval(tail: 0.025) }

    /// Returns the interval of the estimate with another confidence.
    ///
    /// - Parameter tail: The max probability that the median lies below the interval, and that it lies above: 0.005 for
    ///   99 %.
    /// - Returns: The interval, or `nil` with fewer than ``minCount`` processes.
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

    /// Returns the index of the greatest value that exceeds the median with a probability of at most `limit`. It is
    /// `nil` if there are too few values, such as fewer than six for 95 %.
    private static func index(ofLowerEndOf count: Int, tail limit: Double) -> Int? {
        // The number of values below the median is binomial.
        var (term, tail, index) = (exp(-Double(count) * log(2)), 0.0, -1)
        for below in 0..<count / 2 {
            tail += term
            guard tail <= limit else { break }
            index = below
            term *= Double(count - below) / Double(below + 1)
        }
        return index < 0 ? nil : index
    }

    /// Returns the sample of a reciprocal figure, such as a rate for a time: a number divided by each value.
    ///
    /// - Parameter numerator: The number, above 0.
    /// - Returns: A sample of the same number of processes.
    public func reciprocal(times numerator: Double) -> LogSample {
        LogSample(logs: logs.reversed().map { log(numerator) - $0 })
    }

    /// Returns the sample in another unit: each value times a number above 0.
    package func multiplied(by factor: Double) -> LogSample {
        LogSample(logs: logs.map { $0 + log(factor) })
    }

    /// The geometric mean of the values.
    package var geometricMean: Double { exp(mean) }

    /// The values in ascending order.
    package var values: [Double] { logs.map { exp($0) } }

    /// Returns the ratio of this sample's estimate to another one's.
    ///
    /// - Parameter other: The sample to divide by.
    /// - Returns: The ratio, above 0.
    public func ratio(over other: LogSample) -> Double { exp(centre - other.centre) }

    /// Returns the ratio to another sample with its 95 % interval; `nil` unless both have ``minCount`` processes.
    ///
    /// The interval covers the differences between the processes of each side. It does not cover differences between
    /// two runs, such as the machine's temperature or its neighbours, because each was present only once.
    ///
    /// - Parameter other: The sample to divide by.
    /// - Returns: The ratio and its interval.
    /// - Source: Welch, "The Generalization of 'Student's' Problem when Several Different Population Variances Are
    ///   Involved", Biometrika 34 (1947).
    public func ratioInterval(over other: LogSample) -> LogInterval? { ratioInterval(over: other, tail: 0.025) }

    /// Returns the ratio to another sample with an interval of another confidence; see ``ratioInterval(over:)``.
    ///
    /// - Parameters:
    ///   - other: The sample to divide by.
    ///   - tail: The max probability that the ratio lies below the interval, and that it lies above.
    /// - Returns: The ratio and its interval.
    package func ratioInterval(over other: LogSample, tail: Double) -> LogInterval? {
        guard count >= Self.minCount, other.count >= Self.minCount else { return nil }
        let (error, freedom) = difference(from: other)
        let reach = StudentDistribution.upperQuantile(tail, degreesOfFreedom: freedom) * error
        let middle = mean - other.mean
        return LogInterval(low: middle - reach, estimate: centre - other.centre, high: middle + reach).exponential
    }

    /// Returns the standard error of the difference of two means, and its degrees of freedom, rounded down.
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

/// An estimate of a figure above 0, with its 95 % interval.
public struct LogInterval: Codable, Hashable, Sendable {
    /// The lower end.
    public var low: Double
    /// The estimate.
    public var estimate: Double
    /// The upper end.
    public var high: Double

    /// An interval around its estimate.
    public init(low: Double, estimate: Double, high: Double) {
        self.low = low
        self.estimate = estimate
        self.high = high
    }

    /// The interval of a figure by ``LogSample``, or `nil` for fewer than three processes.
    ///
    /// - Parameter processes: One value above 0 a process.
    public init?(processes: [Double]) {
        guard let interval = LogSample(processes)?.interval else { return nil }
        self = interval
    }

    /// The interval of the figure, if this is one of its logarithms; it contains the estimate.
    fileprivate var exponential: LogInterval {
        LogInterval(low: exp(min(low, estimate)), estimate: exp(estimate), high: exp(max(high, estimate)))
    }

    /// Half the interval's width as a fraction of the estimate.
    public var relativeHalfWidth: Double { (high - low) / 2 / estimate }
}

/// The distances of several configurations from the best of them: multiple comparisons with the best.
///
/// All bounds hold together with the given confidence, however many configurations there are and whichever looks best.
/// A configuration whose processes differ much has a wide bound, so it gains nothing by noise. Variances differ between
/// configurations by a factor of thousands. So each pair has its own error instead of a pooled one, and the pairs share
/// the confidence (Bonferroni). The error of a pair grows with the noise of either side, because each side has the
/// quantile of its own number of processes. (Welch's degrees of freedom grow with the noise of the quieter side. Beside
/// a noisy configuration of three processes, another noisy one would have a smaller bound than a quiet one.)
///
/// - Source: Hsu, "Multiple Comparisons: Theory and Methods" (1996), chapter 4: with the true best as the control, one
///   one-sided comparison with each of the others bounds all distances from the best at once; Banerjee, "On Confidence
///   Interval for Two-Means Problem Based on Separate Estimates of Variances and Tabulated Values of t-Table", Sankhyā
///   A 23 (1961).
package struct BestComparison: Sendable {
    /// For each sample, an upper bound of the best sample's value divided by its own; 1 if the sample is shown to be
    /// the best.
    package let bounds: [Double]

    /// Compares samples; the greatest value is the best.
    ///
    /// - Complexity: O(n²) for n samples.
    /// - Parameters:
    ///   - samples: The samples, each with at least ``LogSample/minCount`` processes.
    ///   - confidence: The min probability that all bounds hold; above 0.5, below 1.
    package init(_ samples: [LogSample], confidence: Double = 0.95) {
        let tail = (1 - confidence) / Double(max(1, samples.count - 1))
        var quantiles: [Int: Double] = [:]
        // Plain numbers, because a run compares millions of pairs.
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
