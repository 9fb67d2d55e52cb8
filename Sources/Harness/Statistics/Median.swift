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

/// Returns the mean of two values of which the first is not the greater one; their sum may exceed 64 bits.
@inline(__always)
func middle(_ lower: UInt64, _ upper: UInt64) -> Double {
    Double(lower) + Double(upper - lower) / 2
}

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
    percentile(hundredthsOfPercent: percent * 10, ofSorted: sorted)
}

/// Returns the percentile by nearest rank, with the percentage in hundredths: 9999 for 99.99 %; otherwise as for tenths.
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
/// What disturbs a duration makes it longer, never shorter, so that the faster half varies less than the middle; and like
/// the median, it notices a slowdown of all durations, and none that befalls fewer than half of them. Complexity:
/// O(n log n).
/// - Source: the asymmetrically trimmed mean; Huber and Ronchetti, "Robust Statistics", 2nd edition (2009), §3.3. That
///   of the block estimators that were tried here this one varied least but for those that look at fewer durations is a
///   measurement, given in docs/lab/gate-blocks-2026-11-22.md.
/// - Returns: The mean, or `nil` if there are no samples.
package func meanOfFasterHalf(of samples: [UInt64]) -> Double? {
    guard !samples.isEmpty else { return nil }
    let count = (samples.count + 1) / 2
    return samples.sorted()[..<count].reduce(0) { $0 + Double($1) } / Double(count)
}
