/// A comparison of latencies of single reads with whole iterations of the same process.
enum LatencyCheck {
    /// The maximum number of repeated measurements of latencies that do not fit.
    static let maxRepetitions = 2

    /// The maximum ratio of the sum of an iteration's reads to the longest whole iteration.
    private static let factor = 1.25
    /// The time that timing may add to a read, in nanoseconds: two calls of the clock.
    private static let overheadNanoseconds = 200.0

    /// Returns whether an iteration had a stall that whole iterations do not have.
    ///
    /// - Parameters:
    ///   - iterations: The latencies of each iteration's sequential reads, in nanoseconds.
    ///   - whole: The durations of whole iterations, in nanoseconds.
    /// - Returns: `false` also if there is nothing to compare with.
    static func isContradicted(_ iterations: [[UInt64]], by whole: [UInt64]) -> Bool {
        guard let longest = whole.max() else { return false }
        return iterations.contains { latencies in
            let sum = latencies.reduce(0.0) { $0 + Double($1) }
            return sum > factor * Double(longest) + overheadNanoseconds * Double(latencies.count)
        }
    }
}
