/// Says when a workload is warm: its last iterations differ little.
///
/// - Source: Georges, Buytaert and Eeckhout, "Statistically Rigorous Java Performance Evaluation", OOPSLA 2007, section
///   4.2: a process is in its steady state when the coefficient of variation of the last k iterations falls below a
///   threshold of 0.01 or 0.02; here k is 5, since nothing is compiled on the way, and the threshold 0.02.
package enum SteadyState {
    /// The iterations that are looked at.
    package static let iterationCount = 5

    /// The coefficient of variation from which on down iterations are steady.
    package static let threshold = 0.02

    /// Says whether the last iterations are steady.
    ///
    /// - Parameter nanoseconds: The durations of iterations, in their order.
    /// - Returns: `false` too where there are too few of them.
    package static func isReached(_ nanoseconds: [UInt64]) -> Bool {
        guard nanoseconds.count >= iterationCount else { return false }
        let last = nanoseconds.suffix(iterationCount).map { Double($0) }
        let mean = last.reduce(0, +) / Double(last.count)
        guard mean > 0 else { return true }
        let variance = last.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(last.count - 1)
        return variance.squareRoot() <= threshold * mean
    }
}
