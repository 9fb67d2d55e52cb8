/// The error of a statistic of a few values, estimated by drawing from these values with replacement.
///
/// It serves figures that other programs ask for. With few values its interval is too narrow, so this program decides
/// nothing by it.
/// - Source: Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13: the percentile interval.
package struct Bootstrap: Hashable, Sendable {
    /// The 95 % interval.
    package let low: Double, high: Double
    /// The standard deviation of the statistic.
    package let standardError: Double

    /// Draws 2,000 times; the same values give the same figures.
    ///
    /// - Complexity: That of 2,000 calls of the statistic.
    /// - Parameters:
    ///   - values: The values, at least one.
    ///   - statistic: The statistic of a list of the same length.
    package init(_ values: [Double], of statistic: ([Double]) -> Double) {
        precondition(!values.isEmpty, "a bootstrap draws from at least one value")
        var generator = SplitMix64(seed: 1)
        let drawn = (0..<2000).map { _ in
            statistic(values.map { _ in values[Int(generator.next() % UInt64(values.count))] })
        }.sorted()
        (low, high) = (drawn[49], drawn[1949])
        standardError = standardDeviation(of: drawn) ?? 0
    }
}

/// Returns the standard deviation of a sample, with n − 1 degrees of freedom, or `nil` for fewer than two values.
package func standardDeviation(of values: [Double]) -> Double? {
    guard values.count > 1 else { return nil }
    let mean = mean(of: values)
    return (values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(values.count - 1)).squareRoot()
}

/// Returns the mean of one value or more.
package func mean(of values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }

/// Returns the quantile of one value or more, by linear interpolation between the two nearest ones.
///
/// - Source: Hyndman and Fan 1996, type 7.
package func quantile(_ share: Double, of values: [Double]) -> Double {
    let sorted = values.sorted()
    let place = Double(sorted.count - 1) * share
    let index = min(Int(place), max(0, sorted.count - 2))
    let next = min(index + 1, sorted.count - 1)
    return sorted[index] + (sorted[next] - sorted[index]) * (place - Double(index))
}
