import Results

/// A run that can be shown beside others: its header, and the figures of each cell.
protocol ComparableRun: Sendable {
    associatedtype Figures: Sendable

    /// The facts of the whole run.
    var header: RunHeader { get }
    /// The cells with their `id`s, in the order of the results.
    var figures: [(id: String, cell: Cell, figures: Figures)] { get }
}

/// One or more runs, with the machine of each run, the facts that differ between their headers, and their figures for
/// each cell.
struct RunSet<Run: ComparableRun>: Sendable {
    let runs: [Run]
    /// The indices of the runs of each machine. Machines are in the order in which runs first name them.
    let hosts: [[Int]]

    init(_ runs: [Run]) {
        self.runs = runs
        hosts = runs.indices.grouped { runs[$0].header.host.identity }.map(\.elements)
    }

    /// A set for each machine with its runs.
    var byHost: [RunSet] { hosts.map { RunSet($0.map { runs[$0] }) } }

    /// The same runs grouped by machine, in the order of their start times.
    var groupedByHost: RunSet {
        RunSet(
            hosts.flatMap { indices in
                indices.sorted { (runs[$0].header.startedAt, $0) < (runs[$1].header.startedAt, $1) }.map { runs[$0] }
            })
    }

    /// The facts that differ between the headers, those of the machine first.
    var differences: [RunDifference] { RunDifference.between(runs.map(\.header)) }

    var sharedFacts: [HeaderFact] {
        let others = runs.dropFirst().map { Set($0.header.facts) }
        return (runs.first?.header.facts ?? []).filter { fact in others.allSatisfy { $0.contains(fact) } }
    }

    /// A cell with the figures of each run.
    struct Match: Sendable {
        /// The cell's `id`.
        var id: String
        var cell: Cell
        /// One value per run; `nil` if the run has no such cell.
        var figures: [Run.Figures?]
    }

    /// The cells of all runs, in the order in which the runs first name them.
    func matches() -> [Match] {
        var indices: [String: Int] = [:]
        var matches: [Match] = []
        for (number, run) in runs.enumerated() {
            for (id, cell, figures) in run.figures {
                let index = indices[id] ?? matches.count
                if index == matches.count {
                    indices[id] = index
                    matches.append(Match(id: id, cell: cell, figures: Array(repeating: nil, count: runs.count)))
                }
                if matches[index].figures[number] == nil { matches[index].figures[number] = figures }
            }
        }
        return matches
    }
}

extension RunSummary: ComparableRun {
    var header: RunHeader { results.header }
    var isComplete: Bool { results.isComplete }
    var figures: [(id: String, cell: Cell, figures: CellSummary)] { cells.map { ($0.cell.id, $0.cell, $0) } }
}
