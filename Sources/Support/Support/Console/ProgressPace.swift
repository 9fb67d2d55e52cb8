/// When progress is worth a line in a log: each tenth of the work, but not more often than each 5 seconds, and each 30
/// seconds in any case.
package struct ProgressPace: Hashable, Sendable {
    private var lastTenth = 0
    private var lastSeconds = 0.0

    /// Starts with the work.
    package init() {}

    /// Whether a line is due, which then counts as written.
    ///
    /// - Parameters:
    ///   - share: How much is done, from 0 to 1.
    ///   - seconds: The time since the start.
    /// - Returns: Whether to write a line.
    package mutating func isDue(share: Double, seconds: Double) -> Bool {
        let tenth = Int(max(0, min(1, share)) * 10)
        let passed = seconds - lastSeconds
        guard passed >= 30 || passed >= 5 && tenth > lastTenth else { return false }
        lastSeconds = seconds
        lastTenth = tenth
        return true
    }
}
