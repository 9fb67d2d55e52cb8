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
