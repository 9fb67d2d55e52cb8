import Statistics

/// When the blocks of a cell are looked at, and how much error each look may have.
///
/// The first look comes as early as an interval of its error has ends, since the smallest p-value of n blocks is 2⁻ⁿ.
/// From there on the blocks become half as many again from look to look, up to the most that time allows; a look beyond
/// three quarters of those is left out, and where the first look's blocks could not double, there is only the last one,
/// which would otherwise be left with too little of the error. None of this depends on the ratios that blocks show. An
/// interval of the first look reaches from the lowest block to the highest, so that a wild one only postpones the
/// decision.
package struct LookSchedule: Hashable, Sendable {
    /// The most blocks.
    package let largestCount: Int
    /// The numbers of blocks at which there is a look, the last one being the most.
    package let counts: [Int]
    private let spending: AlphaSpending
    private let comparisonCount: Int

    /// Plans looks.
    ///
    /// - Parameters:
    ///   - largestCount: The most blocks that time allows, 1 at least.
    ///   - alpha: The error of each end of all intervals together, over all looks and cells.
    ///   - comparisonCount: The intervals that share it.
    ///   - isSingle: Whether to look only at the end.
    package init(largestCount: Int, alpha: Double, comparisonCount: Int, isSingle: Bool = false) {
        self.largestCount = max(1, largestCount)
        self.comparisonCount = max(1, comparisonCount)
        let spending = AlphaSpending(total: alpha)
        self.spending = spending
        var counts: [Int] = []
        let (maximum, share) = (self.largestCount, Double(self.comparisonCount))
        let first = SignedRankInterval.minCount(upTo: maximum) {
            spending.spent(at: Double($0) / Double(maximum)) / share
        }
        // Whatever is decided, the control must have been able to object.
        if !isSingle, let first, 2 * max(first, ControlRule.minBlocks) <= maximum {
            var next = max(first, ControlRule.minBlocks)
            while next < maximum {
                counts.append(next)
                // A last look soon after another one is a waste of both.
                next = (3 * next + 1) / 2
                if 4 * next > 3 * maximum { next = maximum }
            }
        }
        self.counts = counts + [maximum]
    }

    /// The error of each end of one cell's interval at a look.
    ///
    /// - Parameters:
    ///   - count: The blocks that there are.
    ///   - earlier: The blocks that there were at the look before; 0 at the first.
    ///   - isLast: Whether no other look comes, though there are fewer blocks than were planned.
    /// - Returns: The probability.
    package func alpha(at count: Int, after earlier: Int, isLast: Bool) -> Double {
        let time = isLast ? 1 : Double(count) / Double(largestCount)
        return spending.increment(from: Double(earlier) / Double(largestCount), to: time) / Double(comparisonCount)
    }
}
