extension RunWarning {
    /// The case in words.
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
                "\(RatioText.count(count, "cell")) were read with \(options.joined(separator: ", ")), so that nobody "
                    + "knows whose server the ciphertext came from.",
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
        case .failedCells(let count, let total):
            Self.note(
                "Failed cells", "\(count) of \(RatioText.count(total, "cell")) have no figures.",
                "The reasons stand under “Cells without figures”; nothing is said about them elsewhere.")
        case .wideIntervals(let count, let total, let widest, let cell):
            Self.note(
                "Noisy host",
                "\(count) of \(RatioText.count(total, "interval")) reach more than 5 % from the median to either side; "
                    + "the widest is ±\(RatioText.percent(widest)), of \(cell).",
                "End what else runs, take more rounds, and do not read small differences out of these cells."
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
                    + "in a second of work.", "End what else runs, or reserve CPUs for the measurement."
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
                    : "nobody tells whether the CPU raises its frequency while it is cool and little used.",
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
