import Glibc

/// What series of the same runs say together: how noise hangs together from run to run, how large it is, and where whole
/// groups change.
///
/// One series of thirty values says little about its noise; a hundred of them say a lot. Three things are pooled:
///
/// - **The correlation φ** of neighbouring runs: the mean square of differences over two runs is 1 + φ times that over one.
///   No mean is subtracted, so that there is no bias from short series. Each series is first cut at its best step, or its
///   steps would pass for correlation. One standard error is added, up to ``supposedCorrelation``: what is not known is
///   supposed to be bad.
/// - **The variance**, as in limma: how much variances differ between series, beyond what chance does, says how many
///   degrees of freedom all of them are worth to each (Smyth 2004).
/// - **Changes of a group.** The mean over a group has less noise than any of its series, and is one comparison instead of
///   many. Half of the error rate is for groups. Where a group changed, its series are tested at that place alone.
///
/// - Source: Smyth, "Linear models and empirical Bayes methods for assessing differential expression in microarray
///   experiments", Statistical Applications in Genetics and Molecular Biology 3 (2004), section 6.2, with ψ(x) ≈ log(x - ½)
///   and ψ′(x) ≈ 1 ÷ (x - ½).
package struct SharedNoise: Sendable {
    /// What is supposed of the correlation where the series say too little.
    package static let supposedCorrelation = 0.5
    /// A cut falls where values differ most, so that what is left seems less correlated: by this part of the correlation,
    /// divided by the number of runs. From trials with φ from 0.3 to 0.5 and 8 to 30 runs.
    private static let cutBias = 2.0

    /// The probability with which anything is marked where nothing changed.
    let errorRate: Double
    /// A single series' part of it.
    let seriesErrorRate: Double
    /// How much of a run's noise is left in the next run.
    package private(set) var correlation = 0.0
    /// The usual variance, and how many degrees of freedom it is worth.
    private(set) var variance = 0.0
    private(set) var degreesOfFreedom = 0
    /// Where groups changed; sizes are in units of noise.
    private(set) var changes: [String: ChangePoints] = [:]

    /// Learns from series.
    ///
    /// - Parameters:
    ///   - series: A value a run; `nil` where there is none. All have the same runs.
    ///   - groups: A name for each series; those that are apt to change together have the same.
    ///   - errorRate: The probability with which any of the series may be marked where nothing changed.
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

    /// The correlation of neighbours within levels, and one standard error.
    ///
    /// The error comes from how runs differ, and not series: these may share what happened in a run.
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
            // Clipped, or steps that are left would pass for correlation.
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
        // Beyond 0.8 levels and noise are the same thing.
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
        // What chance does to the logarithm of a variance, and one standard error of the spread itself.
        let chance = freedoms.map { 2 / ($0 - 1) }.mean
        let excess = max(0, spread - chance) + chance * (2 / (count - 1)).squareRoot()
        let freedom = 2 / excess + 1
        degreesOfFreedom = Int(freedom)
        variance = exp(middle + freedoms.map { log($0 / ($0 - 1)) }.mean) * (freedom - 1) / freedom
    }

    /// The mean over series in each run, each around its own mean and in units of its noise.
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
