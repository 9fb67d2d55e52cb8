import Glibc

/// The noise of several series of the same runs: its correlation between runs, its size, and the runs at which whole
/// groups change.
///
/// One series of thirty values says little about its noise; a hundred of them say a lot. Three properties are pooled:
///
/// - **The correlation φ** of neighbouring runs. The mean square of differences over two runs is 1 + φ times that over
///   one run. No mean is subtracted, so short series cause no bias. Each series is first cut at its best step, because
///   steps would look like correlation. One standard error is added, up to ``supposedCorrelation``, to be on the safe
///   side.
/// - **The variance**, as in limma. Variances differ more between series than chance explains. That excess gives the
///   degrees of freedom that the pooled variance is worth to each series (Smyth 2004).
/// - **Changes of a group.** The mean over a group has less noise than any of its series, and is one comparison instead
///   of many. Half of the error rate is for groups. If a group changed, its series are tested at that place alone.
///
/// - Source: Smyth, "Linear models and empirical Bayes methods for assessing differential expression in microarray
///   experiments", Statistical Applications in Genetics and Molecular Biology 3 (2004), section 6.2, with
///   ψ(x) ≈ log(x - ½) and ψ′(x) ≈ 1 ÷ (x - ½).
package struct SharedNoise: Sendable {
    /// The correlation to assume if the series say too little.
    package static let supposedCorrelation = 0.5
    /// The correction for the bias of cuts. A cut falls at the largest difference, so the rest looks less correlated:
    /// its correlation shrinks by this share, divided by the number of runs. From trials with φ from 0.3 to 0.5 and 8
    /// to 30 runs.
    private static let cutBias = 2.0

    /// The probability that anything is marked although nothing changed.
    let errorRate: Double
    /// The share of a single series in the error rate.
    let seriesErrorRate: Double
    /// The part of a run's noise that is left in the next run.
    package private(set) var correlation = 0.0
    /// The typical variance of a series, and the degrees of freedom that it is worth.
    private(set) var variance = 0.0
    private(set) var degreesOfFreedom = 0
    /// The changes of each group; sizes are in units of noise.
    private(set) var changes: [String: ChangePoints] = [:]

    /// Estimates the noise from series.
    ///
    /// - Parameters:
    ///   - series: One value a run; `nil` for a missing value. All series have the same runs.
    ///   - groups: A name for each series; series that tend to change together have the same name.
    ///   - errorRate: The probability that any of the series may be marked although nothing changed.
    package init(_ series: [[Double?]], groups: [String], errorRate: Double) {
        let tested = series.indices.filter { series[$0].count { $0 != nil } >= 2 * ChangePoints.minLength }
        let members = Dictionary(grouping: tested) { groups[$0] }.filter { $0.value.count > 1 }
        self.errorRate = errorRate
        seriesErrorRate = errorRate / Double(max(tested.count, 1)) / (members.isEmpty ? 1 : 2)
        let whole = tested.map { [series[$0].compactMap { $0 }] }
        correlation = Self.correlation(whole)
        correlation = Self.correlation(
            whole.map { [self] levels in
                let place = LevelFit(levels[0][...], self).bestStep()?.place ?? 0
                return [Array(levels[0][..<place]), Array(levels[0][place...])]
            })
        let groupNoise = Self(errorRate: errorRate / 2 / Double(max(members.count, 1)), correlation: correlation)
        changes = members.mapValues { ChangePoints(Self.mean($0.map { series[$0] }), noise: groupNoise) }
        setVariance(
            tested.map { index in
                let cuts = changes[groups[index]]?.steps.map(\.index) ?? []
                let ends = [0] + cuts + [series[index].count]
                return zip(ends, ends.dropFirst()).map { series[index][$0..<$1].compactMap { $0 } }
            })
    }

    private init(errorRate: Double, correlation: Double) {
        (self.errorRate, seriesErrorRate, self.correlation) = (errorRate, errorRate, correlation)
    }

    /// Returns the correlation of neighbours within levels, plus one standard error.
    ///
    /// The error comes from differences between runs, not between series, because series may share an event in a run.
    private static func correlation(_ series: [[[Double]]]) -> Double {
        let runCount = series.map { $0.reduce(0) { $0 + $1.count } }.max() ?? 0
        var runs = [(near: Double, far: Double)](repeating: (0, 0), count: runCount)
        for levels in series {
            var (places, last, now): ([Int], [Double], [Double]) = ([], [], [])
            var start = 0
            for level in levels {
                for index in 2..<max(2, level.count) {
                    places.append(start + index)
                    last.append(level[index - 1] - level[index - 2])
                    now.append(level[index] - level[index - 1])
                }
                start += level.count
            }
            // Clipped, because remaining steps would look like correlation.
            let near = zip(LevelFit.clipped(last), LevelFit.clipped(now)).map { ($0 * $0 + $1 * $1) / 2 }
            let far = LevelFit.clipped(zip(last, now).map { $0 + $1 }).map { $0 * $0 }
            let scale = (near + far).reduce(0, +)
            for (index, place) in places.enumerated() where scale > 0 {
                runs[place].near += near[index] / scale
                runs[place].far += far[index] / scale
            }
        }
        let total = runs.reduce(0) { $0 + $1.near }
        guard total > 0 else { return supposedCorrelation }
        let ratio = runs.reduce(0) { $0 + $1.far } / total
        let error = runs.reduce(0) { $0 + ($1.far - ratio * $1.near) * ($1.far - ratio * $1.near) }.squareRoot() / total
        let estimate = (ratio - 1) * (1 + cutBias / Double(runCount))
        // Beyond 0.8, levels cannot be told from noise.
        return min(0.8, max(0, estimate, min(supposedCorrelation, estimate + error)))
    }

    private mutating func setVariance(_ series: [[[Double]]]) {
        var (logs, freedoms): ([Double], [Double]) = ([], [])
        for levels in series {
            let known = levels.filter { $0.count > 1 }
            let freedom = Double(known.reduce(0) { $0 + $1.count - 1 })
            guard freedom > 1 else { continue }
            let scatter = known.reduce(0) { $0 + LevelFit($1[...], self).scatter }
            logs.append(log(max(scatter / freedom, LevelFit.minDeviation * LevelFit.minDeviation)))
            freedoms.append(freedom)
        }
        guard logs.count > 1 else { return }
        let (middle, count) = (logs.mean, Double(logs.count))
        let spread = logs.reduce(0) { $0 + ($1 - middle) * ($1 - middle) } / (count - 1)
        // The variance that chance gives to the logarithm of a variance, and one standard error of the spread itself.
        let chance = freedoms.map { 2 / ($0 - 1) }.mean
        let excess = max(0, spread - chance) + chance * (2 / (count - 1)).squareRoot()
        let freedom = 2 / excess + 1
        degreesOfFreedom = Int(freedom)
        variance = exp(middle + freedoms.map { log($0 / ($0 - 1)) }.mean) * (freedom - 1) / freedom
    }

    /// Returns the mean over series in each run. Each series counts relative to its own mean, in units of its noise.
    private static func mean(_ series: [[Double?]]) -> [Double?] {
        let scaled = series.map { values in
            let known = values.compactMap { $0 }
            let differences = zip(known, known.dropFirst()).map { ($1 - $0) * ($1 - $0) }
            let (middle, scale) = (known.mean, max(differences.mean.squareRoot(), LevelFit.minDeviation))
            return values.map { $0.map { ($0 - middle) / scale } }
        }
        return (scaled.first ?? []).indices.map { run in
            let known = scaled.compactMap { $0[run] }
            return known.isEmpty ? nil : known.mean
        }
    }
}
