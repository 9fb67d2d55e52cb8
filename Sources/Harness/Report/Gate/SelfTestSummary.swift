package import Results
import Statistics
package import Support

/// The results of a self-test for display.
package struct SelfTestSummary: Sendable {
    /// The facts of the whole self-test.
    package let header: SelfTestHeader
    /// The calibrations: one for each start of the self-test.
    package let calibrations: [SelfTestCalibration]
    package let groups: [SelfTestGroup]
    package let coverage: IntervalCoverage
    /// True if the self-test is complete.
    package let isComplete: Bool

    /// Summarizes records. Returns `nil` if their header is missing.
    package init?(_ records: [SelfTestRecord], isComplete: Bool) {
        guard case .header(let header)? = records.first else { return nil }
        self.header = header
        self.isComplete = isComplete
        calibrations = records.compactMap { if case .calibration(let found) = $0 { found } else { nil } }
        groups = SelfTestGroup.groups(of: records)
        coverage = IntervalCoverage(groups.flatMap(\.runs))
    }

    /// Returns whether runs show another slowdown than the injected one according to their calibrations, beyond the
    /// errors of both; `nil` if nothing was injected, or if the calibrations are of another cell.
    func contradictsCalibrations(_ group: SelfTestGroup) -> Bool? {
        let cell = group.runs.first?.cells.first?.name
        let comparable = calibrations.filter { $0.small.cell == cell && $0.large.cell == cell }
        guard group.injected > 0, !comparable.isEmpty, let shown = group.pooledSlowdown else { return nil }
        return !comparable.contains {
            let range = $0.range(of: group.injected)
            return 1 + range.lowerBound <= shown.high && shown.low <= 1 + range.upperBound
        }
    }

    /// The limits in seconds per cell; for each, the slowdowns found within it are counted and shown.
    static let limits = [5.0, 10, 60]

    /// The rates for a terminal.
    package var text: String {
        let calibrated = calibrations.flatMap { [$0.large, $0.small] }.map { found in
            "calibration: extra work \(found.extraWork) makes \(found.cell) slower by "
                + "\(GateText.change(found.slowdown)), interval \(GateText.interval(found.low, found.high)), "
                + RatioText.count(found.blockCount, "block")
        }
        let table = Table(
            caption: "Whole gates by their verdict, with exact 95 % intervals of the rates (Clopper and Pearson 1934).",
            columns: [.text("injected"), .number("runs")] + shownVerdicts.map { .number(GateText.word($0)) },
            rows: groups.map { group in
                [Table.Entry(Self.injected(group.injected)), Table.Entry("\(group.runs.count)")]
                    + shownVerdicts.map { Self.rate(group, $0) }
            })
        var blocks: [Document.Block] = [.list(calibrated), .table(table)] + groups.map { .list(details($0)) }
        if groups.contains(where: { $0.injected == 0 }) { blocks.append(.paragraph(coverageText)) }
        if !isComplete { blocks.append(.paragraph("stopped before the end: the rates are those of what was run")) }
        return TextRenderer.render(
            Document(
                title: "gate against itself: \(header.baseline)",
                subtitle: "tolerance \(GateText.percent(header.tolerance)), "
                    + "\(GateText.seconds(header.secondsPerCell)) a cell, "
                    + "\(RatioText.count(header.cells.count, "cell")) a gate, other cores "
                    + "\(header.isBusy ? "busy" : "left alone"), \(header.host.cpuModel), "
                    + "\(RatioText.count(header.host.cpuCount, "CPU"))",
                sections: [.init(blocks: blocks.filter { if case .list([]) = $0 { false } else { true } })]))
    }

    /// The verdicts that have a column: the usual ones, and others that occurred.
    private var shownVerdicts: [GateVerdict] {
        let usual: [GateVerdict] = [.slower, .inconclusive, .noisyHost, .same]
        return usual
            + [GateVerdict.faster, .wrong, .failed].filter { verdict in groups.contains { $0.count(verdict) > 0 } }
    }

    private static func injected(_ injected: Double) -> String {
        injected == 0 ? "nothing" : "+" + GateText.percent(injected)
    }

    private static func rate(_ group: SelfTestGroup, _ verdict: GateVerdict) -> Table.Entry {
        guard let rate = group.rate(verdict) else { return .absent }
        return Table.Entry(
            "\(rate.successCount)", detail: "\(RatioText.percent(rate.low))–\(RatioText.percent(rate.high))")
    }

    private func details(_ group: SelfTestGroup) -> [String] {
        var lines: [String] = []
        let name = Self.injected(group.injected)
        if group.injected == 0, let bound = group.bound(.slower) {
            lines.append(
                "\(name): false alarms at most \(GateText.percent(bound)) of runs (one-sided 95 % bound)")
        }
        if group.injected > 0, let pooled = group.pooledSlowdown {
            for range in calibrations.map({ $0.range(of: group.injected) }) {
                lines.append(
                    "\(name): by the calibration \(GateText.interval(1 + range.lowerBound, 1 + range.upperBound))")
            }
            let whose = header.cells.count > 1 ? "the first cell's" : "all"
            lines.append(
                "\(name): \(whose) blocks together show \(GateText.change(pooled.estimate)), "
                    + "interval \(GateText.interval(pooled.low, pooled.high))")
            if contradictsCalibrations(group) == true {
                lines.append("\(name): the two disagree: the rates are those of \(GateText.change(pooled.estimate))")
            }
            let found = Self.limits.map { limit in
                "\(group.detectionCount(within: limit)) within \(Int(limit)) s"
            }
            lines.append(
                "\(name): found in \(group.count(.slower)) of \(group.runs.count): \(found.joined(separator: ", ")) a "
                    + "cell"
            )
        }
        let seconds = group.decisionSeconds
        let whole = group.runs.map(\.seconds).sorted()
        if let median = percentile(tenthsOfPercent: 500, ofSorted: seconds), let maximum = seconds.last,
            let middle = percentile(tenthsOfPercent: 500, ofSorted: whole), let longest = whole.last
        {
            lines.append(
                "\(name): cells decided after \(GateText.seconds(median)) (median), \(GateText.seconds(maximum)) "
                    + "(longest); a whole gate takes \(GateText.seconds(middle)) (median), "
                    + "\(GateText.seconds(longest)) (longest)")
        }
        return lines
    }

    private var coverageText: String {
        let what = "95 % intervals of unchanged runs that hold no change"
        guard let share = coverage.share else { return "\(what): too few blocks for a figure" }
        return "\(what): \(share.successCount) of \(share.trialCount) (\(RatioText.percent(share.rate)), "
            + "interval \(RatioText.percent(share.low))–\(RatioText.percent(share.high))), \(coverage.blockCount) "
            + "blocks each"
    }

    /// The rates as one object. Shares are fractions of one, times are in seconds.
    package var json: JSONValue {
        let coverage = JSONValue(members: ["blocks": coverage.blockCount, "share": Self.json(coverage.share)])
        return JSONValue(members: [
            "schema": header.schema, "programVersion": header.programVersion, "startedAt": header.startedAt,
            "cpuModel": header.host.cpuModel, "cpuCount": header.host.cpuCount, "baseline": header.baseline,
            "tolerance": header.tolerance, "secondsPerCell": header.secondsPerCell, "isBusy": header.isBusy,
            "seed": header.seed, "isComplete": isComplete, "cells": header.cells.map(\.gateName),
            "calibrations": calibrations.map { ["large": Self.json($0.large), "small": Self.json($0.small)] },
            "groups": groups.map(json), "coverage": coverage,
        ])
    }

    private func json(_ group: SelfTestGroup) -> JSONValue {
        let seconds = group.decisionSeconds
        let pooled = group.pooledSlowdown
        let rates = GateVerdict.allCases.map { ($0.rawValue, Self.json(group.rate($0))) }
        let found = Self.limits.map { ("\(Int($0))", group.detectionCount(within: $0)) }
        return JSONValue(members: [
            "injected": group.injected, "runs": group.runs.count, "rates": Dictionary(uniqueKeysWithValues: rates),
            "slowerBound": group.bound(.slower), "foundWithin": Dictionary(uniqueKeysWithValues: found),
            "slowdown": pooled?.estimate, "slowdownLow": pooled?.low, "slowdownHigh": pooled?.high,
            "contradictsCalibrations": contradictsCalibrations(group),
            "decisionSecondsMedian": percentile(tenthsOfPercent: 500, ofSorted: seconds),
            "decisionSecondsMost": seconds.last, "gateSecondsMost": group.runs.map(\.seconds).max(),
        ])
    }

    private static func json(_ point: SelfTestCalibration.Point) -> JSONValue {
        JSONValue(members: [
            "extraWork": point.extraWork, "cell": point.cell, "slowdown": point.slowdown, "low": point.low,
            "high": point.high, "blocks": point.blockCount,
        ])
    }

    private static func json(_ rate: BinomialInterval?) -> JSONValue? {
        rate.map {
            JSONValue(members: [
                "count": $0.successCount, "of": $0.trialCount, "rate": $0.rate, "low": $0.low, "high": $0.high,
            ])
        }
    }
}
