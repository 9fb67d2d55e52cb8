/// The places at which the level of a series changed, or its drift.
///
/// The search looks for three shapes: a step, a stretch on another level (a step and its return, which a search for
/// single steps would miss), and a steady drift. ``LevelFit`` fits each of them, with the correlation of noise between
/// runs. The probability of a shape is multiplied by the number of places that were searched (Bonferroni), and must
/// stay below the shape's share of the series' error rate. At a step or a stretch, the series is cut, and its parts are
/// searched in turn. A last pass takes back cuts that the neighbouring parts do not support, or whose step is too small
/// to matter.
///
/// A level is at least three values long, so a single odd value is not a change.
///
/// - Source: Olshen, Venkatraman, Lucito and Wigler, "Circular binary segmentation for the analysis of array-based DNA
///   copy number data", Biostatistics 5 (2004); the bound after Worsley, "On the likelihood ratio test for a shift in
///   location of normal populations", JASA 74 (1979).
package struct ChangePoints: Hashable, Sendable {
    /// The min number of values of a level.
    package static let minLength = 3
    /// The share of the error rate for steps. Stretches and drifts get `otherShare` each.
    private static let stepShare = 0.6
    private static let otherShare = 0.2

    /// A change from one level to another.
    package struct Step: Hashable, Sendable {
        /// The index of the first value of the new level; for a drift, of the first value.
        package var index: Int
        /// The mean of the level before; for a drift, its start.
        package var before: Double
        /// The mean of the level after; for a drift, its end.
        package var after: Double
        /// The probability that a single level shows a change this clear at a given place; not corrected for the
        /// search.
        package var probability: Double
    }

    /// The steps, in order; empty if the series drifts.
    package let steps: [Step]
    /// The change from the first to the last value, if a straight line fits better than the steps.
    package let drift: Step?

    /// Searches a series for changes.
    ///
    /// - Complexity: O(n²) for each part, for n values.
    /// - Parameters:
    ///   - series: One value a run, such as the logarithm of a ratio; `nil` for a missing value.
    ///   - group: The group of the series.
    ///   - noise: The noise that is known from all series.
    ///   - minStep: The min difference of two levels that matters.
    ///   - minDrift: The min change from end to end that matters.
    package init(
        _ series: [Double?], group: String = "", noise: SharedNoise, minStep: Double = 0, minDrift: Double = 0
    ) {
        let runs = series.indices.filter { series[$0] != nil }
        let values = series.compactMap { $0 }
        guard values.count >= 2 * Self.minLength else {
            (steps, drift) = ([], nil)
            return
        }
        var cuts = Cuts(values: values, noise: noise, minStep: minStep)
        for run in noise.changes[group]?.steps.map(\.index) ?? [] {
            cuts.add(runs.firstIndex { $0 >= run } ?? values.count)
        }
        _ = cuts.pruned(limit: 0)
        var parts = cuts.levels
        while let part = parts.popLast() {
            let inner = Self.clearest(in: LevelFit(values[part], noise), noise.seriesErrorRate)
            guard !inner.isEmpty else { continue }
            let ends = [part.lowerBound] + inner.map { $0 + part.lowerBound } + [part.upperBound]
            cuts.found += ends.dropFirst().dropLast()
            parts += zip(ends, ends.dropFirst()).map { $0..<$1 }
        }
        let steps = cuts.pruned(limit: noise.seriesErrorRate * Self.stepShare)
        func placed(_ step: Step) -> Step {
            Step(index: runs[step.index], before: step.before, after: step.after, probability: step.probability)
        }
        drift =
            cuts.given.isEmpty
            ? Self.drift(in: values, group, noise, levels: cuts.levels, minDrift: minDrift).map(placed) : nil
        self.steps = drift == nil ? steps.map(placed) : []
    }

    /// Returns the ends of the clearest step or stretch that lie inside of the part; empty if neither is clear enough.
    private static func clearest(in part: LevelFit, _ errorRate: Double) -> [Int] {
        guard let step = part.bestStep() else { return [] }
        let stretch = part.bestStretch()
        let stepChance = part.probability(step.gain) * Double(step.placeCount) / stepShare
        let stretchChance = part.probability(stretch.gain) * Double(max(stretch.placeCount, 1)) / otherShare
        guard min(stepChance, stretchChance) <= errorRate else { return [] }
        return stepChance <= stretchChance ? [step.place] : [stretch.place.lowerBound, stretch.place.upperBound]
    }

    private static func drift(
        in values: [Double], _ group: String, _ noise: SharedNoise, levels: [Range<Int>], minDrift: Double
    ) -> Step? {
        let whole = LevelFit(values[...], noise)
        let (size, gain) = whole.ramp()
        let probability = whole.probability(gain)
        let limit = noise.changes[group]?.drift == nil ? noise.seriesErrorRate * otherShare : noise.errorRate
        let scatter = levels.reduce(0) { $0 + LevelFit(values[$1], noise).scatter }
        guard probability <= limit, size.magnitude >= minDrift, levels.count == 1 || whole.scatter - gain < scatter
        else { return nil }
        let middle = values.mean
        return Step(index: 0, before: middle - size / 2, after: middle + size / 2, probability: probability)
    }

    /// The cuts of a series, which may be taken back.
    private struct Cuts {
        let values: [Double]
        let noise: SharedNoise
        let minStep: Double
        /// The cuts at which the group steps. Their places did not come from a search of this series.
        private(set) var given: [Int] = []
        var found: [Int] = []

        /// Adds a given cut, unless a level would be too short.
        mutating func add(_ place: Int) {
            guard place - (given.last ?? 0) >= minLength, values.count - place >= minLength else { return }
            given.append(place)
        }

        var levels: [Range<Int>] {
            let ends = [0] + (given + found).sorted() + [values.count]
            return zip(ends, ends.dropFirst()).map { $0..<$1 }
        }

        /// Takes back the least clear cut until all cuts are clear, and returns the steps.
        mutating func pruned(limit: Double) -> [Step] {
            while true {
                let levels = levels
                let steps = zip(levels, levels.dropFirst()).map { left, right in
                    let part = LevelFit(values[left.lowerBound..<right.upperBound], noise)
                    return Step(
                        index: right.lowerBound, before: values[left].mean, after: values[right].mean,
                        probability: part.probability(part.step(at: left.count).gain))
                }
                let doubtful = steps.indices.filter { index in
                    let step = steps[index]
                    // The place of a found cut was searched between the ends of its two levels.
                    let limit =
                        given.contains(step.index)
                        ? noise.errorRate : limit / Double(levels[index].count + levels[index + 1].count)
                    return step.probability > limit || (step.after - step.before).magnitude < minStep
                }
                guard let weakest = doubtful.max(by: { steps[$0].probability < steps[$1].probability }) else {
                    return steps
                }
                given.removeAll { $0 == steps[weakest].index }
                found.removeAll { $0 == steps[weakest].index }
            }
        }
    }
}

extension Collection<Double> {
    var mean: Double { reduce(0, +) / Double(Swift.max(count, 1)) }
}
