/// Where the level of a series changed.
///
/// Circular binary segmentation: of all stretches of a series, the one is looked for whose mean is farthest from that of
/// the rest, by a two-sample t statistic with pooled variance. A stretch that ends with the series is a single step; one
/// in the middle is a step and its return, which looking for single steps would miss. If it is significant, the series is
/// cut at the stretch's ends, and each part is searched in turn.
///
/// The probability of the statistic is Student's, times the number of stretches that were looked at (Bonferroni): stretches
/// overlap, so that this is an upper bound, and a series of independent, equally distributed normal values is cut anywhere
/// with at most the stated probability. A last pass takes back cuts that the parts beside them do not bear out, or whose
/// step is below what matters.
///
/// What it does not know: values that drift or hang together are no level with noise, and show as several steps. A part
/// shorter than three values is never set apart, so that one odd value is no change.
///
/// - Source: Olshen, Venkatraman, Lucito and Wigler, "Circular binary segmentation for the analysis of array-based DNA copy
///   number data", Biostatistics 5 (2004); the bound after Worsley, "On the likelihood ratio test for a shift in location
///   of normal populations", JASA 74 (1979).
package struct ChangePoints: Hashable, Sendable {
    /// The fewest values of a level.
    package static let minLength = 3

    /// A step from one level to the next.
    package struct Step: Hashable, Sendable {
        /// The index of the first value of the new level.
        package var index: Int
        /// The mean of the level before.
        package var before: Double
        /// The mean of the level after.
        package var after: Double
        /// The probability of a step as clear between two given stretches of one level; not corrected for the search.
        package var probability: Double
    }

    /// The steps, in order.
    package let steps: [Step]

    /// Looks for steps. Complexity: O(n²) for each part, for n values.
    ///
    /// - Parameters:
    ///   - values: The series, such as logarithms of ratios; all finite.
    ///   - errorRate: The probability with which a series of one level may be cut.
    ///   - minStep: The least difference of two levels that matters.
    package init(_ values: [Double], errorRate: Double, minStep: Double = 0) {
        let sums = RunningSums(values)
        var cuts: [Int] = []
        var parts = [0..<values.count]
        while let part = parts.popLast() {
            guard let stretch = sums.clearestStretch(in: part, errorRate: errorRate) else { continue }
            let inner = [stretch.lowerBound, stretch.upperBound].filter { $0 > part.lowerBound && $0 < part.upperBound }
            cuts += inner
            let ends = [part.lowerBound] + inner + [part.upperBound]
            parts += zip(ends, ends.dropFirst()).map { $0..<$1 }
        }
        steps = Self.prune(cuts.sorted(), sums, errorRate: errorRate, minStep: minStep)
    }

    /// Takes back the least clear cut until all are clear.
    private static func prune(
        _ cuts: [Int], _ sums: RunningSums, errorRate: Double, minStep: Double
    ) -> [Step] {
        var cuts = cuts
        while true {
            let ends = [0] + cuts + [sums.count]
            let steps = cuts.indices.map { index -> Step in
                let (left, right) = (ends[index]..<ends[index + 1], ends[index + 1]..<ends[index + 2])
                return Step(
                    index: ends[index + 1], before: sums.mean(left), after: sums.mean(right),
                    probability: sums.probability(left, right))
            }
            let doubtful = steps.indices.filter { index in
                // The index of the step was looked for between the ends of its two levels.
                let candidates = Double(ends[index + 2] - ends[index])
                let step = steps[index]
                return step.probability * candidates > errorRate || (step.after - step.before).magnitude < minStep
            }
            guard let weakest = doubtful.max(by: { steps[$0].probability < steps[$1].probability }) else {
                return steps
            }
            cuts.remove(at: weakest)
        }
    }
}

/// Sums of a series up to each index, so that the mean and the variance of any stretch take no time.
private struct RunningSums {
    private var sums = [0.0]
    private var squares = [0.0]

    /// Steps below this, a millionth of the value where these are logarithms, are rounding and no noise.
    private static let minDeviation = 1e-6

    init(_ values: [Double]) {
        // Around their mean, or the squares would lose digits.
        let middle = values.reduce(0, +) / Double(max(values.count, 1))
        offset = middle
        for value in values {
            sums.append((sums.last ?? 0) + value - middle)
            squares.append((squares.last ?? 0) + (value - middle) * (value - middle))
        }
    }

    private let offset: Double

    var count: Int { sums.count - 1 }

    func mean(_ range: Range<Int>) -> Double { offset + sum(range) / Double(range.count) }

    private func sum(_ range: Range<Int>) -> Double { sums[range.upperBound] - sums[range.lowerBound] }

    /// The sum of the squared distances from the stretch's own mean.
    private func scatter(_ range: Range<Int>) -> Double {
        let sum = sum(range)
        return max(0, squares[range.upperBound] - squares[range.lowerBound] - sum * sum / Double(range.count))
    }

    func probability(_ one: Range<Int>, _ other: Range<Int>) -> Double {
        let freedom = one.count + other.count - 2
        guard freedom > 0 else { return 1 }
        let variance = floored((scatter(one) + scatter(other)) / Double(freedom))
        let spread = variance * (1 / Double(one.count) + 1 / Double(other.count))
        return StudentDistribution.twoSidedTail(
            (mean(one) - mean(other)) / spread.squareRoot(), degreesOfFreedom: freedom)
    }

    private func floored(_ variance: Double) -> Double {
        max(variance, Self.minDeviation * Self.minDeviation)
    }

    /// The stretch whose mean is farthest from that of the rest of a part, or `nil` if none is clearly apart.
    func clearestStretch(in part: Range<Int>, errorRate: Double) -> Range<Int>? {
        let (minimum, total) = (ChangePoints.minLength, part.count)
        guard total >= 2 * minimum else { return nil }
        let (all, scatter) = (sum(part), scatter(part))
        var (best, bestGain, looked) = (Range<Int>?.none, 0.0, 0)
        func look(_ start: Int, _ end: Int) {
            looked += 1
            let inner = sums[end] - sums[start]
            let (n, m) = (Double(end - start), Double(total - (end - start)))
            // What the scatter of the part loses when the stretch has a level of its own.
            let distance = inner / n - (all - inner) / m
            let gain = distance * distance * n * m / Double(total)
            if gain > bestGain { (best, bestGain) = (start..<end, gain) }
        }
        for end in part.lowerBound + minimum...part.upperBound - minimum { look(part.lowerBound, end) }
        for start in part.lowerBound + minimum..<part.upperBound {
            // What is left after the stretch is nothing, which `look` above has seen from the other side, or a level.
            var end = start + minimum
            while end <= part.upperBound - minimum {
                look(start, end)
                end += 1
            }
        }
        guard let best else { return nil }
        let variance = floored(max(0, scatter - bestGain) / Double(total - 2))
        let probability = StudentDistribution.twoSidedTail(
            (bestGain / variance).squareRoot(), degreesOfFreedom: total - 2)
        return probability * Double(looked) <= errorRate ? best : nil
    }
}
