import Glibc
import Statistics

/// What one pair of fresh processes showed.
package struct GateBlock: Codable, Hashable, Sendable {
    /// The process that was started first.
    package var first: GateSide.Role
    /// The rounds' orders, a letter each: `A` for baseline, candidate, candidate, baseline, `B` for the other way round.
    package var order: String
    /// The iterations of each slice.
    package var iterationCount: UInt64
    /// How long each slice of the baseline took, in order, in nanoseconds: two a round, or four or six
    /// where they are long.
    package var baseline: [UInt64]
    /// How long each slice of the candidate took.
    package var candidate: [UInt64]
    /// The natural logarithm of the candidate's time over the baseline's.
    package var logRatio: Double

    /// Creates a block; its log-ratio follows from the slices.
    package init(
        first: GateSide.Role, order: String, iterationCount: UInt64, baseline: [UInt64], candidate: [UInt64]
    ) {
        self.first = first
        self.order = order
        self.iterationCount = iterationCount
        self.baseline = baseline
        self.candidate = candidate
        self.logRatio = Self.logRatio(baseline: baseline, candidate: candidate)
    }

    /// The logarithm of the ratio of what the faster halves of the slices took; 0 without slices.
    package static func logRatio(baseline: [UInt64], candidate: [UInt64]) -> Double {
        guard let one = meanOfFasterHalf(of: baseline), let other = meanOfFasterHalf(of: candidate) else { return 0 }
        // A clock that stands still is no reason to divide by 0.
        return log(max(1, other) / max(1, one))
    }
}
