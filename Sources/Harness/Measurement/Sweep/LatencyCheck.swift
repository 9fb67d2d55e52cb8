/// A test of latencies of single reads against whole iterations of the same process.
enum LatencyCheck {
    /// The number of times that latencies which do not fit are measured again.
    static let maxRepetitions = 2

    /// The ratio that the reads of an iteration together may have to the longest whole iteration.
    private static let factor = 1.25
    /// The time that timing may add to a read, in nanoseconds: two looks at the clock.
    private static let overheadNanoseconds = 200.0

    /// Says whether an iteration had a stall that whole iterations do not have.
    ///
    /// - Parameters:
    ///   - iterations: The latencies of each iteration's reads, which were made one after the other, in nanoseconds.
    ///   - whole: The durations of whole iterations, in nanoseconds.
    /// - Returns: `false` too where there is nothing to compare.
    static func isContradicted(_ iterations: [[UInt64]], by whole: [UInt64]) -> Bool {
        guard let longest = whole.max() else { return false }
        return iterations.contains { latencies in
            let sum = latencies.reduce(0.0) { $0 + Double($1) }
            return sum > factor * Double(longest) + overheadNanoseconds * Double(latencies.count)
        }
    }
}
