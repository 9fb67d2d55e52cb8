import Glibc
package import Results
import Statistics
import Support

/// The runs of one machine.
package struct HostHistory: Sendable {
    /// With this probability at most, anything is marked in the history of a machine on which nothing changed.
    static let errorRate = 0.05
    /// Steps below this part are not marked.
    static let minStep = 0.02

    /// The machine, as the latest run describes it.
    package let host: RunHeader.Host
    /// The runs, in order; at least one.
    package let runs: [HistoricalRun]
    /// The cell of the reference backend that stands below cells without a partner; `nil` if it has no figures here.
    package let anchor: Cell?
    /// The cells over time, in the order in which the runs first name them.
    package let cells: [CellHistory]

    init(_ runs: [HistoricalRun], reference: String?) {
        self.runs = runs
        host = runs.last?.header.host ?? HostHistory.nobody
        let rates = runs.map { run in Dictionary(run.cells.map { ($0.id, $0.bytesPerSecond) }) { first, _ in first } }
        var order: [Cell] = []
        var known: Set<String> = []
        for cell in runs.flatMap(\.cells) where known.insert(cell.id).inserted { order.append(cell.cell) }
        let anchor = Self.anchor(order.filter { $0.backend == reference }, rates)
        self.anchor = anchor
        let pairs = order.compactMap { cell -> (cell: Cell, below: Cell)? in
            guard let reference, let below = Self.denominator(of: cell, reference, anchor, rates) else { return nil }
            return (cell, below)
        }
        let ratios = pairs.map { pair in
            let (above, below) = (pair.cell.id, pair.below.id)
            return rates.map { rates -> Double? in
                guard let one = rates[above], let other = rates[below] else { return nil }
                return one / other
            }
        }
        let tested = ratios.count { $0.count { $0 != nil } >= 2 * ChangePoints.minLength }
        let errorRate = Self.errorRate / Double(max(tested, 1))
        let series = zip(pairs, ratios).map { (cell: $0.0.cell, below: $0.0.below, ratios: $0.1) }
        cells = Parallel.map(series) { series in
            CellHistory(
                cell: series.cell, reference: series.below, ratios: series.ratios,
                changes: Self.changes(series.ratios, runs, errorRate: errorRate))
        }
    }

    /// The cells with a change, the largest first.
    var changedCells: [CellHistory] {
        cells.filter { !$0.changes.isEmpty }.enumerated()
            .sorted { ($1.element.largestChange, $0.offset) < ($0.element.largestChange, $1.offset) }
            .map(\.element)
    }

    /// All changes by the run from which on they are there, and for each run the largest first: what changes together has
    /// one reason more often than many.
    var turns: [Turn] {
        let all = changedCells.flatMap { cell in cell.changes.map { Turn.Entry(cell: cell.cell, change: $0) } }
        return Dictionary(grouping: all, by: \.change.run).sorted { $0.key < $1.key }.map { run, entries in
            let ordered = entries.enumerated().sorted {
                ($1.element.change.distance, $0.offset) < ($0.element.change.distance, $1.offset)
            }
            return Turn(run: run, entries: ordered.map(\.element))
        }
    }

    /// A run from which on levels are other ones.
    struct Turn: Sendable {
        /// The index of the run.
        var run: Int
        /// The cells that changed there, the largest change first; at least one.
        var entries: [Entry]

        /// One cell's change.
        struct Entry: Sendable {
            /// The cell.
            var cell: Cell
            /// Its change.
            var change: CellHistory.Change
        }

        /// From the least to the greatest change, in percent.
        var rangeText: String {
            let factors = entries.map(\.change.factor).sorted()
            guard let minimum = factors.first, let maximum = factors.last else { return "–" }
            let ends = [TrendChart.change(minimum), TrendChart.change(maximum)]
            return ends[0] == ends[1] ? ends[0] : "\(ends[0]) to \(ends[1])"
        }

        /// The backends with how many of their cells, in the order of the names.
        var backendsText: String {
            Dictionary(grouping: entries, by: \.cell.backend).sorted { $0.key < $1.key }
                .map { "\($0.key) (\($0.value.count))" }.joined(separator: ", ")
        }
    }

    /// The same configuration of the reference backend, or else one cell of it for all: whichever gives more ratios.
    private static func denominator(
        of cell: Cell, _ reference: String, _ anchor: Cell?, _ rates: [[String: Double]]
    ) -> Cell? {
        var partner = cell
        partner.backend = reference
        let (own, partnerID) = (cell.id, partner.id)
        func common(_ id: String?) -> Int {
            guard let id, id != own else { return 0 }
            return rates.count { $0[own] != nil && $0[id] != nil }
        }
        let (byPartner, byAnchor) = (common(partnerID), common(anchor?.id))
        if byPartner > 0, byPartner >= byAnchor { return partner }
        return byAnchor > 0 ? anchor : nil
    }

    /// The ordinary sequential cell that most runs have; of several the one with the window closest to 256 KiB.
    private static func anchor(_ cells: [Cell], _ rates: [[String: Double]]) -> Cell? {
        let ranks = cells.enumerated().map { index, cell -> (isOdd: Int, gaps: Int, distance: Double, index: Int) in
            let id = cell.id
            let isOrdinary = cell.label == nil && cell.workload == "sequential" && cell.isLocal
            let distance = (LogScale.position(of: Double(max(cell.windowByteCount, 1)), base: 2) - 18).magnitude
            return (isOrdinary ? 0 : 1, rates.count { $0[id] == nil }, distance, index)
        }
        return ranks.min { $0 < $1 }.map { cells[$0.index] }
    }

    private static func changes(
        _ ratios: [Double?], _ runs: [HistoricalRun], errorRate: Double
    ) -> [CellHistory.Change] {
        let places = ratios.indices.filter { ratios[$0] != nil }
        let found = ChangePoints(
            places.compactMap { ratios[$0].map { log($0) } }, errorRate: errorRate, minStep: log1p(minStep))
        return found.steps.map { step in
            let (run, earlier) = (places[step.index], places[step.index - 1])
            return CellHistory.Change(
                run: run, before: exp(step.before), after: exp(step.after), probability: step.probability,
                differences: RunDifference.between(runs[earlier].header, runs[run].header)
                    .filter { !["seed", "command"].contains($0.name) })
        }
    }

    private static let nobody = RunHeader.Host(
        name: "", cpuModel: "", cpuCount: 0, cpuFlags: [], memoryByteCount: 0, kernel: "")
}

/// A cell over time.
package struct CellHistory: Sendable {
    /// The configuration.
    package var cell: Cell
    /// The cell of the reference backend that it is put over.
    package var reference: Cell
    /// Throughput ÷ that of the reference cell, for each run of the machine; `nil` where either has no figures.
    package var ratios: [Double?]
    /// Where the level changed.
    package var changes: [Change]

    /// A change of level.
    package struct Change: Sendable {
        /// The index of the first run on the new level.
        package var run: Int
        /// The level before.
        package var before: Double
        /// The level after.
        package var after: Double
        /// The probability of a step as clear in a series of one level; not corrected for the search.
        package var probability: Double
        /// What differs between that run and the one before.
        package var differences: [RunDifference]

        /// The level after ÷ the level before.
        package var factor: Double { after / before }

        /// How far it leads from the level before, as a factor of at least 1.
        var distance: Double { max(factor, 1 / factor) }

        /// The change in percent with its sign.
        var text: String { TrendChart.change(factor) }
    }

    /// The farthest that any change leads from 1, as a factor of at least 1; 1 without a change.
    var largestChange: Double { changes.map(\.distance).max() ?? 1 }
}
