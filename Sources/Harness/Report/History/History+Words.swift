import Statistics

extension History {
    /// What the history shows, in a few lines.
    package var findings: [String] {
        hosts.map { host in
            let changed = host.changedCells
            let name = "\(host.host.name) (\(host.host.cpuModel))"
            let span = RatioText.count(host.runs.count, "run")
            guard host.anchor != nil else { return "\(name): \(span), and no ratios without the reference." }
            let minimum = 2 * ChangePoints.minLength
            guard host.cells.contains(where: { $0.ratios.count { $0 != nil } >= minimum }) else {
                return "\(name): \(span), too few to tell a change from noise (at least \(minimum))."
            }
            let turns = host.turns
            guard let turn = turns.max(by: { $0.entries.count < $1.entries.count }) else {
                return "\(name): no change in \(RatioText.count(host.cells.count, "cell")) over \(span)."
            }
            let run = host.runs[turn.run]
            return "\(name): \(changed.count) of \(RatioText.count(host.cells.count, "cell")) changed over \(span), at "
                + "\(RatioText.count(turns.count, "run")); most of them, \(turn.entries.count), from "
                + "\(run.header.startedAt) on (\(run.path)): \(turn.backendsText) by \(turn.rangeText)."
        }
    }

    /// How many files were skipped, and which.
    var skippedText: String {
        let names = skipped.prefix(3).map(\.path).joined(separator: ", ")
        let more = skipped.count > 3 ? " and \(skipped.count - 3) more" : ""
        return "\(RatioText.count(skipped.count, "file")) could not be read and "
            + "\(skipped.count == 1 ? "is" : "are") not part of the history: \(names)\(more)."
    }

    /// The method, its source and its limits, in sentences.
    static let method = [
        "A ratio is throughput ÷ that of the reference in the same run, from medians over all samples of each. What slows "
            + "the whole machine on a day slows both, and falls out. A change of the reference itself shows in every cell "
            + "that is put over it, in the same run.",
        "Changes are found in the logarithms of a cell's ratios by circular binary segmentation (Olshen, Venkatraman, "
            + "Lucito and Wigler 2004) with a t statistic and Bonferroni's bound over all stretches and all cells of a "
            + "machine: where nothing changes and noise is independent from run to run, at most one history in "
            + "\(Int((1 / HostHistory.errorRate).rounded())) has any mark. Levels are at least "
            + "\(ChangePoints.minLength) runs long, and steps below \(RatioText.percent(HostHistory.minStep)) are "
            + "not marked.",
        "With few runs only large steps can be told from noise. A slow drift shows as several steps. A mark says that a "
            + "level changed, not why: what is recorded of the two runs stands beside it.",
        "Hosts are kept apart: runs belong to one if name, CPU, CPU count, flags, caches and memory are the same.",
    ]
}
