/// Returns the median of durations or counts: the middle value, or the mean of the two middle values.
///
/// The order of `samples` does not matter. Complexity: O(n log n).
/// - Source: Hyndman and Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50 (1996); their
///   types 2 and 7 agree with it at one half.
/// - Returns: The median, or `nil` if there are no samples.
public func median(of samples: [UInt64]) -> Double? {
    medianOfSorted(samples.sorted())
}

/// Returns the median of values that are in ascending order, or `nil` if there are none.
func medianOfSorted(_ sorted: [UInt64]) -> Double? {
    guard let last = sorted.indices.last else { return nil }
    return middle(sorted[last / 2], sorted[(last + 1) / 2])
}

/// Returns the mean of two values; the first must not be the greater one. Their sum may exceed 64 bits.
@inline(__always)
func middle(_ lower: UInt64, _ upper: UInt64) -> Double {
    Double(lower) + Double(upper - lower) / 2
}

/// Returns the percentile by nearest rank: the smallest sample that at least `percent` % of the samples do not exceed.
///
/// The result is always one of the samples, so a reported latency is one that occurred. The order of `samples` does not
/// matter. Complexity: O(n log n).
/// - Source: Hyndman and Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50 (1996), type 1.
/// - Parameters:
///   - percent: The percentage in tenths, so that it is exact: 500 for the median, 999 for 99.9 %; from 0 to 1000.
///   - samples: The samples.
/// - Returns: The percentile, or `nil` if there are no samples.
public func percentile<Value: Comparable>(tenthsOfPercent percent: Int, of samples: [Value]) -> Value? {
    percentile(tenthsOfPercent: percent, ofSorted: samples.sorted())
}

/// Returns the percentile by nearest rank of samples in ascending order.
///
/// Complexity: O(1).
/// - Source: Hyndman and Fan 1996, type 1.
/// - Parameters:
///   - percent: The percentage in tenths, from 0 to 1000.
///   - sorted: The samples in ascending order.
/// - Returns: The percentile, or `nil` if there are no samples.
public func percentile<Value: Comparable>(tenthsOfPercent percent: Int, ofSorted sorted: [Value]) -> Value? {
    percentile(hundredthsOfPercent: percent * 10, ofSorted: sorted)
}

/// Returns the percentile by nearest rank of samples in ascending order. The percentage is in hundredths: 9999 for
/// 99.99 %.
package func percentile<Value: Comparable>(hundredthsOfPercent percent: Int, ofSorted sorted: [Value]) -> Value? {
    precondition((0...10_000).contains(percent), "a percentile lies between 0 and 100 %")
    guard !sorted.isEmpty else { return nil }
    // Integer arithmetic: 0.999 * 1000 in binary floating point may come out above 999 and pick the next rank.
    let product = sorted.count.multipliedFullWidth(by: percent)
    let (quotient, remainder) = 10_000.dividingFullWidth(product)
    let rank = quotient + (remainder > 0 ? 1 : 0)
    return sorted[max(rank, 1) - 1]
}

/// Returns the mean of the faster half of durations: of the smallest n ÷ 2, rounded up.
///
/// A disturbance makes a duration longer, never shorter, so the faster half varies less than the median. Like the
/// median, it shows a slowdown of all durations, and ignores one of fewer than half of them.
/// docs/lab/gate-blocks-2026-11-22.md compares it with other estimators of a block: it varied least, except for those
/// that use fewer durations.
/// - Complexity: O(n log n).
/// - Source: the asymmetrically trimmed mean; Huber and Ronchetti, "Robust Statistics", 2nd edition (2009), §3.3.
/// - Returns: The mean, or `nil` if there are no samples.
package func meanOfFasterHalf(of samples: [UInt64]) -> Double? {
    guard !samples.isEmpty else { return nil }
    let count = (samples.count + 1) / 2
    return samples.sorted()[..<count].reduce(0) { $0 + Double($1) } / Double(count)
}
