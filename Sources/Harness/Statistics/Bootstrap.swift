/// How far a statistic of a few values may lie off, from the same statistic of values drawn from them with replacement.
///
/// For figures that other programs ask for. With few values it is too narrow, so that nothing is decided by it here.
/// - Source: Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13: the percentile interval.
package struct Bootstrap: Hashable, Sendable {
    /// The 95 % interval.
    package let low: Double, high: Double
    /// The standard deviation of the statistic.
    package let standardError: Double

    /// Draws 2,000 times; the same values give the same figures. Complexity: that of 2,000 calls of the statistic.
    ///
    /// - Parameters:
    ///   - values: The values, of which there is at least one.
    ///   - statistic: The statistic of as many values.
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

/// Returns the mean of values of which there is at least one.
package func mean(of values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }

/// Returns the quantile of values of which there is at least one, between the two nearest by linear interpolation.
/// - Source: Hyndman and Fan 1996, type 7.
package func quantile(_ share: Double, of values: [Double]) -> Double {
    let sorted = values.sorted()
    let place = Double(sorted.count - 1) * share
    let index = min(Int(place), max(0, sorted.count - 2))
    let next = min(index + 1, sorted.count - 1)
    return sorted[index] + (sorted[next] - sorted[index]) * (place - Double(index))
}
