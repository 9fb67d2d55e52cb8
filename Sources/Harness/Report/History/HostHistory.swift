import Glibc
package import Results
import Statistics
import Support

/// The runs of one machine.
package struct HostHistory: Sendable {
    /// The maximum probability that anything is marked in the history of a machine on which nothing changed.
    static let errorRate = 0.05
    /// The minimum step that is marked, as a share.
    static let minStep = 0.02
    /// The minimum drift that is marked, from the first to the latest run, as a share.
    static let minDrift = 0.03

    /// The machine as the latest run describes it.
    package let host: RunHeader.Host
    /// The runs in order; at least one.
    package let runs: [HistoricalRun]
    /// The cell of the reference backend that cells without a partner are compared with; `nil` if the reference has no
    /// figures here.
    package let anchor: Cell?
    /// The cells over time, in the order in which the runs first name them.
    package let cells: [CellHistory]

    private typealias Match = RunSet<HistoricalRun>.Match

    /// Computes the ratios of the cells in one machine's runs to those of the reference.
    init(_ set: RunSet<HistoricalRun>, reference: String?) {
        let runs = set.runs
        self.runs = runs
        host = runs.last?.header.host ?? HostHistory.unknownHost
        let matches = set.matches()
        let anchor = Self.anchor(matches.filter { $0.cell.backend == reference })
        self.anchor = anchor?.cell
        let byID = Dictionary(uniqueKeysWithValues: matches.map { ($0.id, $0) })
        let series = matches.compactMap { match -> (cell: Cell, below: Cell, ratios: [Double?])? in
            guard let reference, let below = Self.denominator(of: match, reference, anchor, byID) else { return nil }
            let ratios = zip(match.figures, below.figures).map { above, below -> Double? in
                guard let above, let below else { return nil }
                return above / below
            }
            return (match.cell, below.cell, ratios)
        }
        let logarithms = series.map { $0.ratios.map { $0.map { log($0) } } }
        let noise = SharedNoise(logarithms, groups: series.map(\.cell.backend), errorRate: Self.errorRate)
        cells = Parallel.map(Array(zip(series, logarithms))) { series, logarithms in
            Self.cell(series.cell, series.below, series.ratios, runs, logarithms, noise)
        }
    }

    /// The cells with a change, largest change first.
    var changedCells: [CellHistory] {
        cells.filter(\.isChanged).enumerated()
            .sorted { ($1.element.largestChange, $0.offset) < ($0.element.largestChange, $1.offset) }
            .map(\.element)
    }

    /// All changes, grouped by the run with which they begin, the largest of each run first. Simultaneous changes
    /// usually have one cause.
    var turns: [LevelChange] {
        let all = changedCells.flatMap { cell in cell.changes.map { LevelChange.Entry(cell: cell.cell, change: $0) } }
        return Dictionary(grouping: all, by: \.change.run).sorted { $0.key < $1.key }.map { run, entries in
            let ordered = entries.enumerated().sorted {
                ($1.element.change.distance, $0.offset) < ($0.element.change.distance, $1.offset)
            }
            return LevelChange(run: run, entries: ordered.map(\.element))
        }
    }

    /// A run with which new levels begin.
    struct LevelChange: Sendable {
        var run: Int
        /// The cells that changed with this run, largest change first; at least one.
        var entries: [Entry]

        struct Entry: Sendable {
            var cell: Cell
            var change: CellHistory.Change
        }

        /// The minimum and the maximum change, in percent.
        var rangeText: String { CellHistory.Change.rangeText(entries.map(\.change)) }

        /// The backends with the number of their cells, sorted by name.
        var backendsText: String {
            Dictionary(grouping: entries, by: \.cell.backend).sorted { $0.key < $1.key }
                .map { "\($0.key) (\($0.value.count))" }.joined(separator: ", ")
        }
    }

    /// Returns the cell to divide by: the same configuration of the reference backend, or the anchor, whichever gives
    /// more ratios.
    private static func denominator(
        of match: Match, _ reference: String, _ anchor: Match?, _ byID: [String: Match]
    ) -> Match? {
        var partner = match.cell
        partner.backend = reference
        let same = byID[partner.id]
        func common(_ other: Match?) -> Int {
            guard let other, other.id != match.id else { return 0 }
            return zip(match.figures, other.figures).count { $0 != nil && $1 != nil }
        }
        let (bySame, byAnchor) = (common(same), common(anchor))
        if bySame > 0, bySame >= byAnchor { return same }
        return byAnchor > 0 ? anchor : nil
    }

    /// Returns the ordinary sequential cell that the most runs have; of several, the one with the window closest to 256
    /// KiB.
    private static func anchor(_ matches: [Match]) -> Match? {
        let ranks = matches.enumerated().map { index, match -> (isOdd: Int, gaps: Int, distance: Double, index: Int) in
            let cell = match.cell
            let isOrdinary = cell.label == nil && cell.workload == "sequential" && cell.isLocal
            let distance = (LogScale.position(of: Double(max(cell.windowByteCount, 1)), base: 2) - 18).magnitude
            return (isOrdinary ? 0 : 1, match.figures.count { $0 == nil }, distance, index)
        }
        return ranks.min { $0 < $1 }.map { matches[$0.index] }
    }

    private static func cell(
        _ cell: Cell, _ below: Cell, _ ratios: [Double?], _ runs: [HistoricalRun], _ logarithms: [Double?],
        _ noise: SharedNoise
    ) -> CellHistory {
        let known = ratios.indices.filter { ratios[$0] != nil }
        let found = ChangePoints(
            logarithms, group: cell.backend, noise: noise, minStep: log1p(minStep), minDrift: log1p(minDrift))
        func change(_ step: ChangePoints.Step, from earlier: Int, to later: Int) -> CellHistory.Change {
            CellHistory.Change(
                run: step.index, before: exp(step.before), after: exp(step.after), probability: step.probability,
                differences: RunDifference.between([runs[earlier].header, runs[later].header])
                    .filter { !["seed", "command"].contains($0.name) })
        }
        return CellHistory(
            cell: cell, reference: below, ratios: ratios,
            changes: found.steps.map { step in
                change(step, from: known.last { $0 < step.index } ?? 0, to: step.index)
            },
            drift: found.drift.map { change($0, from: known.first ?? 0, to: known.last ?? 0) })
    }

    private static let unknownHost = RunHeader.Host(
        name: "", cpuModel: "", cpuCount: 0, cpuFlags: [], memoryByteCount: 0, kernel: "")
}

/// A cell over time.
package struct CellHistory: Sendable {
    package var cell: Cell
    /// The cell of the reference backend that the ratios are relative to.
    package var reference: Cell
    /// Throughput ÷ that of the reference cell, for each run of the machine; `nil` if either has no figures.
    package var ratios: [Double?]
    package var changes: [Change]
    /// The change by a steady drift from the first to the latest run. A cell with a drift has no changes at single
    /// runs.
    package var drift: Change?

    package struct Change: Sendable {
        /// The index of the first run on the new level; for a drift, of the first run.
        package var run: Int
        package var before: Double
        package var after: Double
        /// The probability of an equally clear step in a series without a step, not corrected for the search.
        package var probability: Double
        /// The differences between that run and the one before; for a drift, between the first and the latest run.
        package var differences: [RunDifference]

        /// The level after ÷ the level before.
        package var factor: Double { after / before }

        /// The distance from the level before, as a factor of at least 1.
        var distance: Double { max(factor, 1 / factor) }

        /// The change in percent with its sign.
        var text: String { TrendChart.change(factor) }

        /// Returns the minimum and the maximum change, in percent.
        static func rangeText(_ changes: [Change]) -> String {
            let factors = changes.map(\.factor).sorted()
            guard let minimum = factors.first, let maximum = factors.last else { return "–" }
            let ends = [TrendChart.change(minimum), TrendChart.change(maximum)]
            return ends[0] == ends[1] ? ends[0] : "\(ends[0]) to \(ends[1])"
        }
    }

    var isChanged: Bool { !changes.isEmpty || drift != nil }

    /// The largest distance of any change, as a factor of at least 1; 1 without a change.
    var largestChange: Double { (changes + [drift].compactMap { $0 }).map(\.distance).max() ?? 1 }
}
