import Results

/// What may be wrong with a run's figures; each case has its advice.
enum RunWarning: Hashable, Sendable {
    case incomplete
    /// What stands in the result file and is not reported, in sentences.
    case leftOut([String])
    case noCells
    /// Nothing that was measured can be trusted.
    case noTrustedFigures
    /// Cells without figures and what became of them, of all.
    case missingFigures(String, count: Int, of: Int)
    /// Cells whose intervals are wide, of those that have any, and the widest of these.
    case wideIntervals(count: Int, of: Int, widest: Double, cell: String)
    /// Cells whose warm-up did not become steady in most of their rounds, of those that were timed.
    case unsteadyWarmUps(count: Int, of: Int)
    /// Cells that one process only was timed for.
    case oneProcess(count: Int, of: Int)
    /// The most rounds of any cell, where that is few.
    case fewRounds(Int)
    /// Cells whose CPU was given to another thread often, of those that say.
    case busyCPUs(count: Int, of: Int)
    /// Cells that are faster than the machine's limit, and the largest share.
    case aboveLimit(count: Int, largestShare: Double)
    case noLimits
    case noCounters
    /// Peak memory is missing where figures were measured.
    case noMemory(count: Int, of: Int)
    /// The kernel's setting for transparent huge pages.
    case hugePages(String?)
    case governor(String)
    /// Whether the CPU raises its frequency is unknown, or it does.
    case turbo(isKnown: Bool)
    /// Cold cells of whose file the kernel kept something in memory, and the most that it kept.
    case warmedFile(count: Int, byteCount: UInt64)
    /// Checks of TLS that were given up, by their options, and the cells of which this is true.
    case looseTLS([String], count: Int)
    case notVerified
    /// Planted faults that no vector of their class noticed.
    case survivors([String])
    /// Readers without a fault that failed the same vectors.
    case failedControls([String])
}

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
            found.append(
                .missingFigures(CellSummary.missingText(summary.cells), count: missing, of: summary.cells.count))
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
                    count: wide.count, of: intervals.count, widest: halfWidth(widest),
                    cell: CellNames.readable(widest.cell)))
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

extension RunWarning {
    var warning: Warning {
        switch self {
        case .incomplete:
            Self.serious(
                "Incomplete run",
                "the result file has no end record, so the run was broken off or is still going on. Cells are "
                    + "missing, and a best or smallest named here is one of those measured so far.",
                "Start the same command again: it goes on where it stopped.")
        case .leftOut(let texts):
            Self.serious(
                "The result file is not whole", texts.joined(separator: " "),
                "A killed run goes on when the same command is started again; anything else needs a new run.")
        case .noCells:
            Self.serious(
                "No cell was measured", "this report can say nothing about speed or memory.",
                "Run a plan with at least one cell.")
        case .noTrustedFigures:
            Self.serious(
                "No cell has trusted figures", "this report can say nothing about speed.",
                "The reasons stand under “Cells without figures”.")
        case .looseTLS(let options, let count):
            Self.serious(
                "TLS without all checks",
                "\(RatioText.count(count, "cell")) were read with \(options.joined(separator: ", ")), so that "
                    + "the server was not authenticated.",
                "Give the server's own certificate, or its authority's, by --ca-file instead."
            )
        case .notVerified:
            Self.note(
                "Not verified", "no vectors were run, so nothing shows that every byte range is right.",
                "Use “chunkwise run”, which verifies first, or “chunkwise verify”.")
        case .survivors(let names):
            Self.serious(
                "Planted faults survived",
                "no vector of their class noticed \(Self.list(names)), so that passing the vectors says less "
                    + "than it should.",
                "Add vectors that notice them.")
        case .failedControls(let names):
            Self.serious(
                "The kill matrix proves nothing",
                "readers without any fault failed the same vectors: \(Self.list(names)).",
                "See “chunkwise verify --mutants” for the vector that failed.")
        case .missingFigures(let text, let count, let total):
            Self.note(
                "Cells without figures", "\(count) of \(RatioText.count(total, "cell")) have no figures: \(text).",
                "The reasons stand under “Cells without figures”; nothing is said about them elsewhere.")
        case .wideIntervals(let count, let total, let widest, let cell):
            Self.note(
                "Noisy host",
                "\(count) of \(RatioText.count(total, "interval")) reach more than 5 % from the median to either side; "
                    + "the widest is ±\(RatioText.percent(widest)), of \(cell).",
                "Stop other programs, take more rounds, and do not read small differences out of these cells."
            )
        case .unsteadyWarmUps(let count, let total):
            Self.note(
                "Unsteady warm-ups",
                "in \(count) of \(RatioText.count(total, "cell")) most rounds were still getting faster, or wavered, "
                    + "when their warm-up ended.",
                "Give rounds more time in the plan; an idle machine helps too."
            )
        case .oneProcess(let count, let total):
            Self.note(
                "One process",
                "\(count) of \(RatioText.count(total, "cell")) were timed in one process, which says nothing about the "
                    + "spread between processes; they have no interval.",
                "Take at least two rounds, better five."
            )
        case .fewRounds(let count):
            Self.note(
                "Few rounds",
                "no cell has more than \(RatioText.count(count, "round")), so that intervals are rough and tend to be "
                    + "too narrow.", "Take five rounds or more."
            )
        case .busyCPUs(let count, let total):
            Self.note(
                "Shared CPUs",
                "in \(count) of \(RatioText.count(total, "cell")) threads had to give up their CPU more than 50 times "
                    + "in a second of work.", "Stop other programs, or reserve CPUs for the measurement."
            )
        case .aboveLimit(let count, let share):
            Self.note(
                "Faster than the machine",
                "\(RatioText.count(count, "cell")) beat what the machine was measured to allow, by a factor of up to "
                    + "\(RatioText.times(share)).",
                "The limits were measured while something else ran, or the machine was slower then: measure again "
                    + "before using shares of limits."
            )
        case .noLimits:
            Self.note(
                "No limits", "the machine's limits were not measured, so no share of them is given.",
                "See “chunkwise limits”; a run measures them by itself where it can."
            )
        case .noCounters:
            Self.note(
                "No CPU counters", "cycles and instructions were not counted.",
                "Virtual machines often have no such counters; elsewhere kernel.perf_event_paranoid=2 allows them."
            )
        case .noMemory(let count, let total):
            Self.note(
                "No memory figures",
                "the peak memory of \(count) of \(RatioText.count(total, "cell")) is not known.",
                "The kernel must let a process reset its high-water mark through /proc/PID/clear_refs."
            )
        case .hugePages(let setting):
            Self.note(
                "Huge pages",
                setting.map {
                    "transparent huge pages are set to “\($0)”, so that memory may grow in steps of 2 MiB and large "
                        + "windows may be faster than elsewhere."
                } ?? "the kernel does not tell how transparent huge pages are set.",
                "Compare only with runs of the same setting; “madvise” is the usual one."
            )
        case .governor(let name):
            Self.note(
                "CPU frequency", "the governor is “\(name)”, which changes the frequency with the load.",
                "Set it to “performance” for steadier figures."
            )
        case .turbo(let isKnown):
            Self.note(
                "Turbo",
                isKnown
                    ? "the CPU raises its frequency while it is cool and little used."
                    : "it is not known whether the CPU raises its frequency while it is cool and little used.",
                "Ratios within this run are fair, since its rounds are interleaved; compare rates with other days with "
                    + "care, or switch it off."
            )
        case .warmedFile(let count, let byteCount):
            Self.note(
                "Not quite cold",
                "in \(RatioText.count(count, "cold cell")) up to \(ByteCountText.measured(byteCount)) of the file was "
                    + "still in the page cache.",
                "Something else keeps the file open or in memory: these cells are faster than a disk."
            )
        }
    }

    private static func serious(_ title: String, _ message: String, _ advice: String) -> Warning {
        Warning(title: title, message: message, advice: advice, isSerious: true)
    }

    private static func note(_ title: String, _ message: String, _ advice: String) -> Warning {
        Warning(title: title, message: message, advice: advice, isSerious: false)
    }

    private static func list(_ names: [String]) -> String {
        let more = names.count - 5
        return names.prefix(5).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }
}
