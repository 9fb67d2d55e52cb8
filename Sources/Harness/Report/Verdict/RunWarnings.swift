import Results
import Statistics

extension Warning {
    /// The half width of a wide interval, as a share of the median: backends that differ by less cannot be told apart.
    private static let wideHalfWidth = 0.05
    /// With three processes, an interval reaches 4.3 standard errors to each side, with five 2.8.
    private static let minRoundCount = 5
    /// The maximum plausible share of a limit, which is measured in a few milliseconds and may be off.
    private static let largestPlausibleShare = 1.05
    /// Involuntary context switches per second of CPU time that an otherwise idle machine does not reach.
    private static let manySwitchesPerSecond = 50.0
    /// The bytes of a cold file that the kernel may keep while the cell still counts as cold: a window of read-ahead.
    private static let keptByteCount: UInt64 = 1 << 20

    /// Returns the warnings about a run's figures, most important first.
    static func all(in summary: RunSummary) -> [Warning] {
        completeness(summary) + evidence(summary) + noise(summary) + machine(summary)
    }

    /// Returns warnings about missing parts of the run.
    private static func completeness(_ summary: RunSummary) -> [Warning] {
        var found: [Warning] = []
        if !summary.isComplete {
            found.serious(
                "Incomplete run",
                "the result file has no end record, so the run was broken off or is still going on. Cells are "
                    + "missing, and a best or smallest named here is one of those measured so far.",
                "Start the same command again: it goes on where it stopped.")
        }
        let loose = summary.cells.filter { !$0.cell.tlsAllowances.isEmpty }
        if !loose.isEmpty {
            let options = Set(loose.flatMap(\.cell.tlsAllowances)).sorted()
            found.serious(
                "TLS without all checks",
                "\(RatioText.count(loose.count, "cell")) were read with \(options.joined(separator: ", ")), so that "
                    + "the server was not authenticated.",
                "Give the server's own certificate, or its authority's, by --ca-file instead.")
        }
        if !summary.omittedTexts.isEmpty {
            found.serious(
                "The result file is not whole", summary.omittedTexts.joined(separator: " "),
                "A killed run goes on when the same command is started again; anything else needs a new run.")
        }
        let missing = summary.cellsWithoutFigures.count
        if summary.cells.isEmpty {
            found.serious(
                "No cell was measured", "this report can say nothing about speed or memory.",
                "Run a plan with at least one cell.")
        } else if missing == summary.cells.count {
            found.serious(
                "No cell has trusted figures", "this report can say nothing about speed.",
                "The reasons stand under “Cells without figures”.")
        } else if missing > 0 {
            found.note(
                "Cells without figures",
                "\(missing) of \(RatioText.count(summary.cells.count, "cell")) have no figures: "
                    + "\(CellSummary.missingText(summary.cells)).",
                "The reasons stand under “Cells without figures”; nothing is said about them elsewhere.")
        }
        return found
    }

    /// Returns warnings about gaps in the evidence of the vectors.
    private static func evidence(_ summary: RunSummary) -> [Warning] {
        var found: [Warning] = []
        if !summary.results.conformance.contains(where: { $0.passed + $0.failed > 0 }) {
            found.note(
                "Not verified", "no vectors were run, so nothing shows that every byte range is right.",
                "Use “chunkwise run”, which verifies first, or “chunkwise verify”.")
        }
        guard let mutants = summary.results.mutants else { return found }
        if !mutants.survivors.isEmpty {
            found.serious(
                "Injected faults survived",
                "no vector of their class noticed \(list(mutants.survivors.map(\.name))), so that passing the vectors "
                    + "says less than it should.",
                "Add vectors that notice them.")
        }
        if !mutants.failedControls.isEmpty {
            found.serious(
                "The kill matrix proves nothing",
                "readers without any fault failed the same vectors: \(list(mutants.failedControls.map(\.name))).",
                "See “chunkwise verify mutants” for the vector that failed.")
        }
        return found
    }

    private static func noise(_ summary: RunSummary) -> [Warning] {
        let timed = summary.cells.filter { $0.speed != nil }
        let all = RatioText.count(timed.count, "cell")
        var found: [Warning] = []
        let intervals = timed.filter { $0.speed?.interval != nil }
        func halfWidth(_ cell: CellSummary) -> Double { cell.speed?.relativeHalfWidth ?? 0 }
        let wide = intervals.filter { halfWidth($0) > wideHalfWidth }
        if let widest = wide.max(by: { halfWidth($0) < halfWidth($1) }) {
            found.note(
                "Noisy host",
                "\(wide.count) of \(RatioText.count(intervals.count, "interval")) reach more than 5 % from the figure "
                    + "to either side; the widest is ±\(RatioText.percent(halfWidth(widest))), of "
                    + "\(widest.cell.name).",
                "Stop other programs, take more rounds, and do not read small differences out of these cells.")
        }
        if intervals.count < timed.count {
            found.note(
                "Too few processes",
                "\(timed.count - intervals.count) of \(all) were timed in fewer than three processes, which says too "
                    + "little about the spread between processes; they have no interval.",
                "Take at least three rounds, better five.")
        }
        let cached = timed.filter(\.isInCache)
        if !cached.isEmpty {
            found.note(
                "Figures of a CPU cache",
                "\(cached.count) of \(all) touch fewer bytes than the last CPU cache holds before they touch one "
                    + "again, so that their figures are of that cache and not of a file.",
                cached.count < timed.count
                    ? "They are marked “CPU cache”, and none of them is chosen."
                    : "Take longer objects, such as 256MiB: nothing was measured that no cache holds.")
        }
        found += firstSamples(timed) + tails(timed)
        let maximum = timed.map(\.rounds.count).max() ?? 0
        if maximum >= LogSample.minCount, maximum < minRoundCount {
            found.note(
                "Few rounds",
                "no cell has more than \(RatioText.count(maximum, "round")), so that intervals are wide.",
                "Take five rounds or more.")
        }
        let switches = timed.compactMap { $0.usage.flatMap(switchesPerSecond) }
        let busy = switches.count { $0 > manySwitchesPerSecond }
        if busy > 0 {
            found.note(
                "Shared CPUs",
                "in \(busy) of \(RatioText.count(switches.count, "cell")) threads had to give up their CPU more than "
                    + "50 times in a second of work.", "Stop other programs, or reserve CPUs for the measurement.")
        }
        let shares = timed.compactMap(\.limit?.share).filter { $0 > largestPlausibleShare }
        if let largest = shares.max() {
            found.note(
                "Faster than the machine",
                "\(RatioText.count(shares.count, "cell")) beat what the machine was measured to allow, by a factor of "
                    + "up to \(RatioText.times(largest)).",
                "The limits were measured while something else ran, or the machine was slower then: measure again "
                    + "before using shares of limits.")
        }
        return found
    }

    /// Returns a warning if the first timed samples of processes are slower than the rest, by a sign test over all
    /// processes.
    private static func firstSamples(_ timed: [CellSummary]) -> [Warning] {
        let processes = timed.flatMap(\.rounds).filter { $0.count >= 3 }
        let signs = processes.compactMap { samples -> Bool? in
            guard let rest = median(of: Array(samples.dropFirst())), Double(samples[0]) != rest else { return nil }
            return Double(samples[0]) > rest
        }
        let slower = signs.count { $0 }
        guard let share = BinomialInterval(successCount: slower, trialCount: signs.count, confidence: 0.99),
            share.low > 0.5
        else { return [] }
        var found: [Warning] = []
        found.note(
            "Warm-up",
            "the first timed sample was slower than the median of the others in \(slower) of "
                + "\(RatioText.count(signs.count, "process", "processes")): warm-ups ended too early.",
            "Medians hardly notice it. Give rounds more time in the plan.")
        return found
    }

    /// Returns a warning about tails that whole iterations of the same process contradict.
    private static func tails(_ timed: [CellSummary]) -> [Warning] {
        let cells = timed.filter { $0.contradictedLatencyCount > 0 }
        guard let first = cells.first else { return [] }
        var found: [Warning] = []
        found.note(
            "Disturbed latencies",
            "in \(RatioText.count(cells.count, "cell")) single reads took longer than whole iterations of the same "
                + "process allow, also when they were measured again; the first is \(first.cell.name).",
            "Something else ran: do not read the tails of these cells.")
        return found
    }

    private static func machine(_ summary: RunSummary) -> [Warning] {
        let timed = summary.cells.filter { $0.speed != nil }
        guard !timed.isEmpty else { return [] }
        let host = summary.header.host
        var found: [Warning] = []
        if summary.header.limits == nil {
            found.note(
                "No limits", "the machine's limits were not measured, so no share of them is given.",
                "See “chunkwise limits”; a run measures them by itself where it can.")
        }
        if !timed.contains(where: { $0.usage?.cycles != nil }) {
            found.note(
                "No CPU counters", "cycles and instructions were not counted.",
                "Virtual machines often have no such counters; elsewhere kernel.perf_event_paranoid=2 allows them.")
        }
        let unmeasured = timed.count { $0.memory == nil }
        if unmeasured > 0 {
            found.note(
                "No memory figures",
                "the peak memory of \(unmeasured) of \(RatioText.count(timed.count, "cell")) is not known.",
                "The kernel must let a process reset its high-water mark through /proc/PID/clear_refs.")
        }
        let below = timed.filter { $0.passesCachedBelow != nil }
        if let passes = below.first?.passesCachedBelow, let first = passes.first, let longest = passes.dropFirst().max()
        {
            found.serious(
                "Cached below this system: not cold",
                "\(RatioText.count(below.count, "cell")) that were to be cold read a file that something below this "
                    + "system keeps in memory: its first pass took \(DurationText.text(nanoseconds: first)), further "
                    + "ones at most \(DurationText.text(nanoseconds: longest)).",
                "Measure on storage of this machine's own, or a file that is larger than the host's memory.")
        }
        let kept = timed.compactMap(\.residentByteCount).filter { $0 > keptByteCount }
        if let maximum = kept.max() {
            found.note(
                "Not quite cold",
                "in \(RatioText.count(kept.count, "cold cell")) up to \(ByteCountText.measured(maximum)) of the file "
                    + "was still in the page cache.",
                "Something else keeps the file open or in memory: these cells are faster than a disk.")
        }
        if host.transparentHugePages == nil || host.transparentHugePages == "always" {
            found.note(
                "Huge pages",
                host.transparentHugePages.map {
                    "transparent huge pages are set to “\($0)”, so that memory may grow in steps of 2 MiB and large "
                        + "windows may be faster than elsewhere."
                } ?? "the kernel does not tell how transparent huge pages are set.",
                "Compare only with runs of the same setting; “madvise” is the usual one.")
        }
        if let governor = host.frequencyGovernor, governor != "performance" {
            found.note(
                "CPU frequency", "the governor is “\(governor)”, which changes the frequency with the load.",
                "Set it to “performance” for steadier figures.")
        }
        if host.isTurboOn != false {
            found.note(
                "Turbo",
                (host.isTurboOn == nil ? "it is not known whether the CPU" : "the CPU")
                    + " raises its frequency while it is cool and little used.",
                "Ratios within this run are fair, since its rounds are interleaved; compare rates with other days with "
                    + "care, or switch it off.")
        }
        return found
    }

    private static func switchesPerSecond(_ usage: ProcessUsage) -> Double? {
        let nanoseconds = usage.userNanoseconds.addingReportingOverflow(usage.systemNanoseconds).partialValue
        guard let switches = usage.involuntarySwitches, nanoseconds > 0 else { return nil }
        return Double(switches) / (Double(nanoseconds) / 1e9)
    }

    private static func list(_ names: [String]) -> String {
        let more = names.count - 5
        return names.prefix(5).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }
}

extension [Warning] {
    /// Adds a warning that a reader must know before the verdict.
    fileprivate mutating func serious(_ title: String, _ message: String, _ advice: String) {
        append(Warning(title: title, message: message, advice: advice, isSerious: true))
    }

    /// Adds a warning that the figures may be inaccurate.
    fileprivate mutating func note(_ title: String, _ message: String, _ advice: String) {
        append(Warning(title: title, message: message, advice: advice, isSerious: false))
    }
}
