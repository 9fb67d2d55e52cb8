/// Returns the mean of the faster half of durations: of the smallest n ÷ 2, rounded up.
///
/// What disturbs a duration makes it longer, never shorter, so that the faster half varies less than the middle; and like
/// the median, it notices a slowdown of all durations, and none that befalls fewer than half of them. Complexity:
/// O(n log n).
/// - Source: the asymmetrically trimmed mean; Huber and Ronchetti, "Robust Statistics", 2nd edition (2009), §3.3. That
///   of the block estimators that were tried here this one varied least but for those that look at fewer durations is a
///   measurement, given in METHODOLOGY.md.
/// - Returns: The mean, or `nil` if there are no samples.
package func meanOfFasterHalf(of samples: [UInt64]) -> Double? {
    guard !samples.isEmpty else { return nil }
    let count = (samples.count + 1) / 2
    return samples.sorted()[..<count].reduce(0) { $0 + Double($1) } / Double(count)
}
