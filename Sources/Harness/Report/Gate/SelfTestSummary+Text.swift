import Results
import Statistics
import Support

extension SelfTestSummary {
    /// The rates for a terminal.
    package var text: String {
        var lines = [
            "gate against itself: \(header.baseline)",
            "tolerance \(GateWords.percent(header.tolerance)), \(GateWords.seconds(header.secondsPerCell)) a cell, "
                + "\(RatioText.count(header.cells.count, "cell")) a gate, other cores \(header.isBusy ? "busy" : "left alone"), "
                + "\(header.host.cpuModel), \(RatioText.count(header.host.cpuCount, "CPU"))",
        ]
        for found in calibrations.flatMap({ [$0.large, $0.small] }) {
            lines.append(
                "calibration: extra work \(found.extraWork) makes \(found.cell) slower by "
                    + "\(GateWords.change(found.slowdown)), interval \(GateWords.interval(found.low, found.high)), "
                    + RatioText.count(found.blockCount, "block"))
        }
        lines.append("")
        let columns: [Table.Column] =
            [.text("planted"), .number("runs")] + shownVerdicts.map { .text(GateWords.word($0)) }
        let table = Table(
            caption: "Whole gates by their verdict, with exact 95 % intervals of the rates (Clopper and Pearson 1934).",
            columns: columns,
            rows: groups.map { group in
                [Table.Entry(Self.planted(group.planted)), Table.Entry("\(group.runs.count)")]
                    + shownVerdicts.map { Table.Entry(Self.rate(group, $0)) }
            })
        lines.append(TextRenderer.table(table))
        for group in groups { lines += [""] + details(group) }
        if groups.contains(where: { $0.planted == 0 }) { lines += ["", coverageText] }
        if !isComplete { lines += ["", "stopped before the end: the rates are those of what was run"] }
        return lines.map { $0.contains("\n") ? $0 : TextWrapping.text($0) }.joined(separator: "\n")
    }

    /// The verdicts that a column is spent on: the usual ones, and others that occurred.
    private var shownVerdicts: [GateVerdict] {
        let usual: [GateVerdict] = [.slower, .inconclusive, .noisyHost, .same]
        return usual + [GateVerdict.faster, .wrong].filter { verdict in groups.contains { $0.count(verdict) > 0 } }
    }

    private static func planted(_ planted: Double) -> String {
        planted == 0 ? "nothing" : "+" + GateWords.percent(planted)
    }

    private static func rate(_ group: SelfTestGroup, _ verdict: GateVerdict) -> String {
        guard let rate = group.rate(verdict) else { return "–" }
        return "\(rate.successCount) (\(RatioText.percent(rate.low))–\(RatioText.percent(rate.high)))"
    }

    private func details(_ group: SelfTestGroup) -> [String] {
        var lines: [String] = []
        let name = Self.planted(group.planted)
        if group.planted == 0, let bound = group.bound(.slower) {
            lines.append(
                "\(name): false alarms at most \(GateWords.percent(bound)) of runs (one-sided 95 % bound)")
        }
        if group.planted > 0, let pooled = group.pooledSlowdown {
            for range in calibrations.map({ $0.range(of: group.planted) }) {
                lines.append(
                    "\(name): by the calibration \(GateWords.interval(1 + range.lowerBound, 1 + range.upperBound))")
            }
            let whose = header.cells.count > 1 ? "the first cell's" : "all"
            lines.append(
                "\(name): \(whose) blocks together show \(GateWords.change(pooled.estimate)), "
                    + "interval \(GateWords.interval(pooled.low, pooled.high))")
            if contradictsCalibrations(group) == true {
                lines.append("\(name): the two disagree: the rates are those of \(GateWords.change(pooled.estimate))")
            }
            let found = Self.limits.map { limit in
                "\(group.detectionCount(within: limit)) within \(Int(limit)) s"
            }
            lines.append(
                "\(name): found in \(group.count(.slower)) of \(group.runs.count): \(found.joined(separator: ", ")) a cell"
            )
        }
        let seconds = group.decisionSeconds
        if let median = percentile(tenthsOfPercent: 500, ofSorted: seconds), let maximum = seconds.last {
            let whole = group.runs.map(\.seconds).sorted()
            lines.append(
                "\(name): cells decided after \(GateWords.seconds(median)) (median), \(GateWords.seconds(maximum)) (longest); "
                    + "a whole gate takes \(GateWords.seconds(whole[whole.count / 2])) (median), "
                    + "\(GateWords.seconds(whole.last ?? 0)) (longest)")
        }
        return lines
    }

    private var coverageText: String {
        func text(_ share: BinomialInterval?, _ what: String, isIndependent: Bool = true) -> String {
            guard let share else { return "\(what): too few for a figure" }
            let interval = "interval \(RatioText.percent(share.low))–\(RatioText.percent(share.high))"
            return "\(what): \(share.successCount) of \(share.trialCount) (\(RatioText.percent(share.rate)), "
                + "\(isIndependent ? interval : "which share blocks"))"
        }
        return """
            95 % intervals that hold the truth, of unchanged runs whose candidate times were multiplied
            \(text(coverage.fresh, "\(coverage.freshBlockCount) blocks of one run, each used once"))
            \(text(coverage.resampled, "\(IntervalCoverage.drawnBlockCount) blocks drawn from all runs", isIndependent: false))
            """
    }
}
