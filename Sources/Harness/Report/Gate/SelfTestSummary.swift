package import Results
import Statistics

/// What a self-test found, as it is shown.
package struct SelfTestSummary: Sendable {
    /// What is true of the whole self-test.
    package let header: SelfTestHeader
    /// The calibrations: one for each time that it was started.
    package let calibrations: [SelfTestCalibration]
    /// The runs by what they planted.
    package let groups: [SelfTestGroup]
    /// How often intervals hold the truth.
    package let coverage: IntervalCoverage
    /// Whether the self-test came to its end.
    package let isComplete: Bool

    /// Sums up records, or returns `nil` if they lack their header.
    package init?(_ records: [SelfTestRecord], isComplete: Bool) {
        guard case .header(let header)? = records.first else { return nil }
        self.header = header
        self.isComplete = isComplete
        calibrations = records.compactMap { if case .calibration(let found) = $0 { found } else { nil } }
        groups = SelfTestGroup.groups(of: records)
        let tolerance = header.tolerance
        coverage = IntervalCoverage(
            groups.flatMap(\.runs), factors: [0, tolerance + 0.01, tolerance + 0.02, tolerance + 0.05].map { 1 + $0 },
            seed: header.seed)
    }

    /// Whether runs show another slowdown than their calibrations say was planted, beyond the errors of both; `nil` where
    /// nothing was planted, or the calibrations are those of another cell.
    func contradictsCalibrations(_ group: SelfTestGroup) -> Bool? {
        let cell = group.runs.first?.cells.first?.name
        let comparable = calibrations.filter { $0.small.cell == cell && $0.large.cell == cell }
        guard group.planted > 0, !comparable.isEmpty, let shown = group.pooledSlowdown else { return nil }
        return !comparable.contains {
            let range = $0.range(of: group.planted)
            return 1 + range.lowerBound <= shown.high && shown.low <= 1 + range.upperBound
        }
    }

    /// Within how many seconds a cell planted slowdowns are counted as found; each count is shown.
    static let limits = [5.0, 10, 60]
}
