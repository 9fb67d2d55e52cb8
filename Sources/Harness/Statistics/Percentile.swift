/// Returns the percentile by nearest rank: the smallest sample that at least `percent` % of the samples do not exceed.
///
/// The result is always one of the samples, so that a stated latency is one that occurred. The order of `samples` does
/// not matter. Complexity: O(n log n).
/// - Source: Hyndman and Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50 (1996), type 1.
/// - Parameters:
///   - percent: The percentage in tenths, so that it is exact: 500 for the median, 999 for 99.9 %; from 0 to 1000.
///   - samples: The samples.
/// - Returns: The percentile, or `nil` if there are no samples.
public func percentile<Value: Comparable>(tenthsOfPercent percent: Int, of samples: [Value]) -> Value? {
    percentile(tenthsOfPercent: percent, ofSorted: samples.sorted())
}

/// Returns the percentile by nearest rank of samples that are in ascending order; otherwise as for unsorted ones.
///
/// Complexity: O(1).
/// - Source: Hyndman and Fan 1996, type 1.
/// - Parameters:
///   - percent: The percentage in tenths, from 0 to 1000.
///   - sorted: The samples in ascending order.
/// - Returns: The percentile, or `nil` if there are no samples.
public func percentile<Value: Comparable>(tenthsOfPercent percent: Int, ofSorted sorted: [Value]) -> Value? {
    precondition((0...1000).contains(percent), "a percentile lies between 0 and 1000 tenths of a percent")
    guard !sorted.isEmpty else { return nil }
    // Integer arithmetic: 0.999 * 1000 in binary floating point may come out above 999 and pick the next rank.
    let product = sorted.count.multipliedFullWidth(by: percent)
    let (quotient, remainder) = 1000.dividingFullWidth(product)
    let rank = quotient + (remainder > 0 ? 1 : 0)
    return sorted[max(rank, 1) - 1]
}
