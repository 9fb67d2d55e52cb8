import BackendRegistry
import ByteSources
import Glibc
import Measurement
import RandomAccess
import Report
import Results
import Support
import SystemPackage

/// The functions that `measure`, `sweep` and `run` share.
enum SweepRunning {
    /// Runs a job, and shows its progress on standard error, until it is done or the user stops it.
    static func run(
        _ plan: Plan, in folder: RunFolder, input: MeasuredObject? = nil,
        cgroups: Result<MemoryCgroups, CgroupAbsence>, isAnnounced: Bool = false, program: [String]? = nil,
        shard: RunHeader.Shard? = nil, between: () -> Void = {}, verify: (() -> [ConformanceRecord]?)? = nil,
        mutants: (() -> MutantsRecord?)? = nil
    ) throws -> RunResults {
        Interruption.install()
        defer { Terminal.clearProgress() }
        let estimate = estimate(plan)
        var progress = SweepProgress(estimate)
        let program = program ?? self.program(plan)
        let job = try attempt {
            try Sweep(
                folder: folder, plan: plan, program: program, programVersion: Program.version,
                programDigest: try FileDigest.programs(program), command: Program.command,
                startedAt: Program.time(), backends: available(plan) + ForeignBackend.all(of: plan),
                encryption: CombinedBackend(), shard: shard, cgroups: cgroups,
                network: Network.client())
        }
        return try attempt {
            try job.run(
                input: input, starting: { if isAnnounced { announce(plan, estimate) } },
                // Shards skip this: it takes seconds, and the result is the same for every shard of a host.
                limits: shard == nil ? { limits(folder, plan) } : nil, verify: verify, mutants: mutants,
                progress: {
                    progress.note($0)
                    if case .ended = $0 { between() }
                },
                shouldStop: { Interruption.wasRequested }, isInterrupted: { Interruption.wasRequested })
        }
    }

    /// The backends that have AES, and those that the plan names.
    static func available(_ plan: Plan) -> [any CipherBackend] {
        let named = Set(plan.cells.map(\.cell.backend))
        return Backends.available { !$0.aesCiphers.isEmpty || named.contains($0.name) }
    }

    /// The command that starts the subjects of a plan. One program measures all cells. It can read from servers if any
    /// cell does.
    static func program(_ plan: Plan) -> [String] {
        Program.subjectCommand(readsServers: plan.cells.contains { ObjectKind(of: $0.cell)?.isServed ?? true })
    }

    /// An estimate of a plan's duration, from a short measurement of the backends.
    static func estimate(_ plan: Plan) -> SweepEstimate {
        let backends = available(plan)
        var speeds: [String: Double] = [:]
        return SweepEstimate(plan) { name, hasTags in
            let key = "\(name) \(hasTags)"
            let backend = backends.first { $0.name == name }
            let speed = speeds[key] ?? backend.map { DecryptionRates.roughBytesPerSecond($0, hasTags: hasTags) } ?? 1e9
            speeds[key] = speed
            return speed
        }
    }

    /// Prints the estimated duration of a plan before the measurement.
    private static func announce(_ plan: Plan, _ estimate: SweepEstimate) {
        print("sweep: \(plan.cells.count) cells, \(estimate)")
        // The user needs the estimate now, also behind a pipe.
        fflush(nil)
    }

    /// Measures the limits of the machine that matter for a plan, in a second or two. Prints a warning if that fails,
    /// and returns `nil`.
    private static func limits(_ folder: RunFolder, _ plan: Plan) -> MachineLimits? {
        Terminal.showProgress("limits of this machine")
        let host = ThisHost.describe()
        var options = LimitOptions(
            threads: min(host.cpuCount, 256), cacheByteCounts: host.cacheByteCounts,
            machineByteCount: host.memoryByteCount, folder: folder.path.string)
        options.memoryByteCount = min(options.memoryByteCount, 128 << 20)
        options.sampleCount = 3
        options.sampleNanoseconds = 2_000_000
        options.restrict(to: plan.cells.map(\.cell))
        do throws(LimitError) {
            return try MachineLimits.measure(options)
        } catch {
            Terminal.warn("\(error): no share of this machine's limits is stated")
            return nil
        }
    }

    /// Reads a plan's file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - folder: The folder for generated objects.
    ///   - object: The object for all cells; `nil` to generate objects.
    ///   - added: The names of backends to measure in addition to the plan's.
    /// - Returns: The plan.
    /// - Throws: `CommandFailure`, also if there is no space for its objects.
    static func plan(
        _ path: String, in folder: RunFolder, on object: PlanObject? = nil, added: [String] = []
    ) throws -> Plan {
        try plan(try attemptInput { try TextFile.read(path) }, of: path, in: folder, on: object, added: added)
    }

    /// Reads a plan from a text. Errors name the file.
    ///
    /// `choosing` returns the cells of the plan to keep.
    static func plan(
        _ text: String, of path: String, in folder: RunFolder, on object: PlanObject? = nil, added: [String] = [],
        choosing: (Plan) -> [PlannedCell] = { $0.cells }
    ) throws -> Plan {
        let backends = Dictionary(uniqueKeysWithValues: Backends.available { _ in true }.map { ($0.name, $0) })
        var plan = try attempt {
            try PlanReader(
                file: path, knownBackends: BackendRegistry.names, missingBackends: Backends.missing(),
                addedBackends: added, object: object,
                trace: Traces.find, describedFormat: FormatFiles.described,
                lacks: { name, strategy in
                    backends[name]?.supports(strategy) == false ? "it lacks a cipher of \(strategy.name)" : nil
                }, isForeign: ForeignBackend.isForeign
            ).read(text)
        }
        for (backend, reason) in plan.missingBackends.sorted(by: { $0.key < $1.key }) {
            Terminal.warn("cells of backend \(backend) are left out: \(reason)")
        }
        plan.cells = choosing(plan)
        // Checked before anything is written.
        if plan.cells.contains(where: { ObjectKind(of: $0.cell)?.isServed == true }) { _ = try Network.required() }
        if object == nil, let shortage = SpaceCheck.shortage(of: plan.cells, in: folder) {
            let error = PlanError(file: path, line: shortage.cell.objectLine, message: shortage.message)
            throw CommandFailure(.badData, "\(error)")
        }
        return plan
    }

    /// Writes the report, and prints the verdict. For a run that was stopped, also prints how much is done, and the
    /// command that resumes it.
    ///
    /// - Parameters:
    ///   - results: The results.
    ///   - plan: The plan.
    ///   - folder: The folder for the report.
    ///   - options: The options that the command line needs to find the folder again.
    ///   - color: The option for colors.
    /// - Throws: `CommandFailure`, also for results that are not complete.
    static func report(
        _ results: RunResults, of plan: Plan, in folder: RunFolder, adding options: [String], color: ColorOptions
    ) throws {
        let command = ShellText.joined(Program.command + options)
        try require(
            !results.cells.isEmpty || !results.conformance.isEmpty, .noAnswer,
            results.isComplete
                ? "no cell was measured: expected at least one"
                : "stopped before anything was measured; to start again: \(command)")
        let report = RunReport(results, keys: try KeyResultFiles.read(folder.path))
        try ReportWriting.write(report.files, to: folder.path)
        for line in report.verdict { color.show(TextWrapping.text(line)) }
        if !results.isComplete {
            let rounds = Dictionary(plan.cells.map { ($0.cell.id, $0.rounds) }) { $1 }
            let whole = results.cells.count { $0.rounds.count >= rounds[$0.cell.id] ?? .max }
            let begun = results.cells.count { !$0.rounds.isEmpty } - whole
            color.show(
                "INCOMPLETE: of \(plan.cells.count) cells, \(whole) were timed in all rounds, \(begun) in some, "
                    + "\(max(0, plan.cells.count - whole - begun)) in none")
        }
        print("report: \(folder.path.appending("index.html"))")
        try require(results.isComplete, .noAnswer, "stopped before the end; to go on: \(command)")
    }

    /// Checks that every cell has figures.
    ///
    /// - Throws: `CommandFailure` with the exit code otherwise.
    static func requireFigures(_ results: RunResults) throws {
        try require(!results.cells.isEmpty, .noAnswer, "no cell was measured: expected at least one")
        let failed = results.cells.filter { $0.failure != nil }
        guard let first = failed.first, let reason = first.failure else { return }
        throw CommandFailure(
            .no, "\(failed.count) of \(results.cells.count) cells failed, the first is \(first.cell.name): \(reason)")
    }
}

/// The progress of a sweep on standard error: the number of finished passes over cells, which only grows, and the
/// current pass.
struct SweepProgress {
    private let steps: [SweepStep]
    private let roundCount: Int
    private let display = ProgressDisplay()
    private var timeLeft: TimeLeft
    private var doneCount = 0

    /// Starts with the estimated times of a plan.
    init(_ estimate: SweepEstimate) {
        steps = estimate.steps
        timeLeft = TimeLeft(
            zip(estimate.steps, estimate.stepSeconds).map { step, seconds in
                TimeLeft.Step(kind: Self.kind(step.pass), item: step.cell.id, expectedSeconds: seconds)
            })
        roundCount = Set(steps.map(\.pass)).count { if case .time = $0 { true } else { false } }
    }

    /// Records an event, and shows the progress.
    mutating func note(_ event: SweepEvent) {
        switch event {
        case .notNeeded(let index):
            doneCount += 1
            timeLeft.end(index, seconds: nil)
        case .ended(let index, let seconds):
            doneCount += 1
            timeLeft.end(index, seconds: seconds)
        case .starts(let index):
            let step = steps[index]
            display.show(
                ProgressLine(
                    position: "\(doneCount)/\(steps.count) passes", name: step.cell.shortName, stage: stage(step.pass),
                    rest: TimeLeft.text(seconds: timeLeft.seconds)),
                share: timeLeft.share)
        }
    }

    private func stage(_ pass: SweepStep.Pass) -> String {
        if case .time(let round) = pass {
            "round \(round + 1) of \(max(roundCount, round + 1))"
        } else {
            Self.kind(pass)
        }
    }

    private static func kind(_ pass: SweepStep.Pass) -> String {
        switch pass {
        case .check: "plaintext check"
        case .memory: "memory"
        case .latencies: "latencies"
        case .time: "round"
        }
    }
}
