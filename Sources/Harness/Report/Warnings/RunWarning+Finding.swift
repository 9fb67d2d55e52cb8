import Results

extension RunWarning {
    /// Half an interval of 5 % of the median: two backends that differ by less cannot be told apart.
    private static let wideHalfWidth = 0.05
    /// Five rounds have 126 different selections to resample; with three there are 10.
    private static let minRoundCount = 5
    /// What a limit that was measured in a few milliseconds may be off by.
    private static let largestPlausibleShare = 1.05
    /// Switches in a second of CPU time that a machine of one's own does not have.
    private static let manySwitchesPerSecond = 50.0
    /// How much of a cold file the kernel may keep before the cell is not cold any more: a window of read-ahead.
    private static let keptByteCount: UInt64 = 1 << 20

    /// Finds what there is to say about a run, what matters most first.
    static func all(in summary: RunSummary) -> [RunWarning] {
        completeness(summary) + noise(summary) + machine(summary)
    }

    private static func completeness(_ summary: RunSummary) -> [RunWarning] {
        let results = summary.results
        var found: [RunWarning] = results.isComplete ? [] : [.incomplete]
        let loose = summary.cells.filter { !$0.cell.tlsAllowances.isEmpty }
        if !loose.isEmpty {
            found.append(.looseTLS(Set(loose.flatMap(\.cell.tlsAllowances)).sorted(), count: loose.count))
        }
        if !summary.leftOutTexts.isEmpty { found.append(.leftOut(summary.leftOutTexts)) }
        let missing = summary.cellsWithoutFigures.count
        if summary.cells.isEmpty {
            found.append(.noCells)
        } else if missing == summary.cells.count {
            found.append(.noTrustedFigures)
        } else if missing > 0 {
            found.append(.failedCells(count: missing, of: summary.cells.count))
        }
        if !results.conformance.contains(where: { $0.passed + $0.failed > 0 }) { found.append(.notVerified) }
        if let mutants = results.mutants {
            if !mutants.survivors.isEmpty { found.append(.survivors(mutants.survivors.map(\.name))) }
            if !mutants.failedControls.isEmpty { found.append(.failedControls(mutants.failedControls.map(\.name))) }
        }
        return found
    }

    private static func noise(_ summary: RunSummary) -> [RunWarning] {
        let timed = summary.cells.filter { $0.speed != nil }
        guard !timed.isEmpty else { return [] }
        var found: [RunWarning] = []
        let intervals = timed.filter { $0.speed?.hasInterval == true }
        func halfWidth(_ cell: CellSummary) -> Double { cell.speed?.nanoseconds.relativeHalfWidth ?? 0 }
        let wide = intervals.filter { halfWidth($0) > wideHalfWidth }
        if let widest = wide.max(by: { halfWidth($0) < halfWidth($1) }) {
            found.append(
                .wideIntervals(
                    count: wide.count, of: intervals.count, widest: halfWidth(widest), cell: widest.cell.id))
        }
        let unsteady = zip(summary.cells, summary.results.cells).filter { summary, result in
            summary.speed != nil && result.unsteadyRoundCount * 2 > result.rounds.count
        }
        if !unsteady.isEmpty { found.append(.unsteadyWarmUps(count: unsteady.count, of: timed.count)) }
        if intervals.count < timed.count {
            found.append(.oneProcess(count: timed.count - intervals.count, of: timed.count))
        }
        let maximum = timed.map(\.rounds.count).max() ?? 0
        if maximum > 1, maximum < minRoundCount { found.append(.fewRounds(maximum)) }
        let switches = timed.compactMap { $0.usage.flatMap(switchesPerSecond) }
        let busy = switches.count { $0 > manySwitchesPerSecond }
        if busy > 0 { found.append(.busyCPUs(count: busy, of: switches.count)) }
        let shares = timed.compactMap(\.limit?.share).filter { $0 > largestPlausibleShare }
        if let largest = shares.max() { found.append(.aboveLimit(count: shares.count, largestShare: largest)) }
        return found
    }

    private static func machine(_ summary: RunSummary) -> [RunWarning] {
        let timed = summary.cells.filter { $0.speed != nil }
        guard !timed.isEmpty else { return [] }
        let host = summary.results.header.host
        var found: [RunWarning] = summary.results.header.limits == nil ? [.noLimits] : []
        if !timed.contains(where: { $0.usage?.cycles != nil }) { found.append(.noCounters) }
        let unmeasured = timed.count { $0.memory == nil }
        if unmeasured > 0 { found.append(.noMemory(count: unmeasured, of: timed.count)) }
        let kept = timed.compactMap(\.residentByteCount).filter { $0 > keptByteCount }
        if let maximum = kept.max() { found.append(.warmedFile(count: kept.count, byteCount: maximum)) }
        if host.transparentHugePages == nil || host.transparentHugePages == "always" {
            found.append(.hugePages(host.transparentHugePages))
        }
        if let governor = host.frequencyGovernor, governor != "performance" { found.append(.governor(governor)) }
        if host.isTurboOn != false { found.append(.turbo(isKnown: host.isTurboOn != nil)) }
        return found
    }

    private static func switchesPerSecond(_ usage: ProcessUsage) -> Double? {
        let nanoseconds = usage.userNanoseconds.addingReportingOverflow(usage.systemNanoseconds).partialValue
        guard let switches = usage.involuntarySwitches, nanoseconds > 0 else { return nil }
        return Double(switches) / (Double(nanoseconds) / 1e9)
    }
}
