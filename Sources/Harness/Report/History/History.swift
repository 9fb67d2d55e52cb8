package import Results
import Statistics

/// Many runs in the order of their start: each cell over time, per host, as ratios to a reference backend.
///
/// Times of different days are not compared. A difference of the machine between days affects the reference, too, so it
/// cancels in the ratio.
package struct History: Sendable {
    /// The runs, sorted by start and then by path.
    package let runs: [HistoricalRun]
    /// The files that could not be read, sorted by path.
    package let skipped: [SkippedFile]
    /// The reference backend for all ratios; `nil` if no run has any figure.
    package let reference: String?
    /// The machines, in the order of their first runs.
    package let hosts: [HostHistory]

    /// Sorts runs and computes the history of each machine.
    ///
    /// - Parameters:
    ///   - runs: The runs, in any order.
    ///   - skipped: The files that could not be read.
    ///   - reference: The reference backend. By default, the backend that has figures in the most runs: `openssl` if it
    ///     is among them, otherwise the first.
    package init(_ runs: [HistoricalRun], skipped: [SkippedFile] = [], reference: String? = nil) {
        let ordered = runs.sorted { ($0.header.startedAt, $0.path) < ($1.header.startedAt, $1.path) }
        self.runs = ordered
        self.skipped = skipped.sorted { $0.path < $1.path }
        let reference = reference ?? Self.commonBackend(ordered)
        self.reference = reference
        hosts = RunSet(ordered).byHost.map { HostHistory($0, reference: reference) }
    }

    /// Returns the history of one machine; the skipped files stay.
    package func only(_ host: RunHeader.Host) -> History {
        History(
            runs.filter { $0.header.host.identity == host.identity }, skipped: skipped, reference: reference)
    }

    /// The backends with figures in any run, in the order in which they appear.
    package var backends: [String] { Self.backends(runs).map(\.name) }

    private static func commonBackend(_ runs: [HistoricalRun]) -> String? {
        let backends = backends(runs)
        let maximum = backends.map(\.runCount).max() ?? 0
        let common = backends.filter { $0.runCount == maximum }.map(\.name)
        return common.contains("openssl") ? "openssl" : common.first
    }

    private static func backends(_ runs: [HistoricalRun]) -> [(name: String, runCount: Int)] {
        runs.flatMap { $0.cells.map(\.cell.backend).unique }.grouped { $0 }.map { ($0.key, $0.elements.count) }
    }
}

/// A run for a history: its header, and the speed of each cell.
///
/// It has medians only. The raw samples of hundreds of runs would take too much memory, and a change over many runs is
/// not judged by the intervals of single runs.
package struct HistoricalRun: Sendable {
    /// The displayed path of the result file, such as `2026-11-21-host/results.jsonl`.
    package var path: String
    /// The target of a page's link for this run, not encoded yet.
    package var link: String
    /// The facts of the whole run.
    package var header: RunHeader
    /// True if the run is complete.
    package var isComplete: Bool
    /// The cells with trusted figures, in the order of the results.
    package var cells: [CellRate]

    package struct CellRate: Sendable {
        package var cell: Cell
        /// The cell's `id`.
        package var id: String
        /// Plaintext bytes per second at the median time; above 0.
        package var bytesPerSecond: Double
    }
}

extension HistoricalRun {
    /// Takes the figures for a history from results. Cells that failed or were not checked, or whose backend failed a
    /// vector, have no figures.
    package init(_ results: RunResults, path: String, link: String) {
        let wrong = Set(results.conformance.filter { $0.failed > 0 }.map(\.subject))
        let cells = results.cells.compactMap { result -> CellRate? in
            guard result.failure == nil, let check = result.check, !wrong.contains(result.cell.backend),
                let time = median(of: Array(result.rounds.joined())), time >= 1, check.deliveredByteCount > 0
            else { return nil }
            let rate = Double(check.deliveredByteCount) / time * 1e9
            return CellRate(cell: result.cell, id: result.cell.id, bytesPerSecond: rate)
        }
        self.init(path: path, link: link, header: results.header, isComplete: results.isComplete, cells: cells)
    }
}

extension HistoricalRun: ComparableRun {
    var name: String { path }
    var figures: [(id: String, cell: Cell, figures: Double)] { cells.map { ($0.id, $0.cell, $0.bytesPerSecond) } }
}

/// A file of a history's folder that could not be read, with the reason.
package struct SkippedFile: Hashable, Sendable {
    package var path: String
    package var reason: String

    package init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }
}

extension History {
    /// The findings of the history, in a few lines.
    package var findings: [String] {
        hosts.map { host in
            let name = "\(host.host.name) (\(host.host.cpuModel))"
            let span = RatioText.count(host.runs.count, "run")
            guard host.anchor != nil else { return "\(name): \(span), and no ratios without the reference." }
            let minimum = 2 * ChangePoints.minLength
            guard host.cells.contains(where: { $0.ratios.count { $0 != nil } >= minimum }) else {
                return "\(name): \(span), too few to tell a change from noise (at least \(minimum))."
            }
            var parts: [String] = []
            let (turns, cells) = (host.turns, RatioText.count(host.cells.count, "cell"))
            if let turn = turns.max(by: { $0.entries.count < $1.entries.count }) {
                let run = host.runs[turn.run]
                parts.append(
                    "\(host.cells.count { !$0.changes.isEmpty }) of \(cells) changed over \(span), at "
                        + "\(RatioText.count(turns.count, "run")); most of them, \(turn.entries.count), from "
                        + "\(run.header.startedAt) on (\(run.path)): \(turn.backendsText) by \(turn.rangeText)")
            }
            let drifts = host.cells.compactMap(\.drift)
            if !drifts.isEmpty {
                parts.append(
                    "\(drifts.count) of \(cells) drifted over \(span), by \(CellHistory.Change.rangeText(drifts))")
            }
            return "\(name): \(parts.isEmpty ? "no change in \(cells) over \(span)" : parts.joined(separator: "; "))."
        }
    }

    /// The number of skipped files, with their names.
    var skippedText: String {
        let names = skipped.prefix(3).map(\.path).joined(separator: ", ")
        let more = skipped.count > 3 ? " and \(skipped.count - 3) more" : ""
        return "\(RatioText.count(skipped.count, "file")) could not be read and "
            + "\(skipped.count == 1 ? "is" : "are") not part of the history: \(names)\(more)."
    }

    /// The method, its source and its limits, in sentences.
    static let method = [
        "A ratio is throughput ÷ that of the reference in the same run, from medians over all samples of each. What "
            + "slows the whole machine on a day slows both, and falls out. A change of the reference itself shows in "
            + "every cell that is put over it, in the same run.",
        "Changes are looked for in the logarithms of a cell's ratios: a step, a stretch on another level, a drift "
            + "(circular binary segmentation: Olshen, Venkatraman, Lucito and Wigler 2004). What a run's noise leaves "
            + "in the next one is estimated from all cells of a machine and taken out, and so is how large noise "
            + "usually is. Each backend's mean is searched as well, as what changes one cell often changes many. With "
            + "Bonferroni's bound over places, cells and backends, at most one history in "
            + "\(Int((1 / HostHistory.errorRate).rounded())) has any mark where nothing changes.",
        "Levels are at least \(ChangePoints.minLength) runs long. Steps below "
            + "\(RatioText.percent(HostHistory.minStep)) and drifts below \(RatioText.percent(HostHistory.minDrift)) "
            + "from the first to the latest run are not marked. With few runs only large steps can be told from noise. "
            + "A mark says that a level changed, not why: what is recorded of the two runs stands beside it.",
        "Hosts are kept apart: runs belong to one if name, CPU, CPU count, flags, caches and memory are the same.",
    ]
}
