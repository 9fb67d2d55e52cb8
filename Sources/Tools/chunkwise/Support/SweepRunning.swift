import BackendRegistry
import ByteSources
import Glibc
import Measurement
import RandomAccess
import Report
import Results
import Support
import SystemPackage

/// What `measure`, `sweep` and `run` have in common.
enum SweepRunning {
    /// Runs a job with progress on standard error, until it is done or the user stops it.
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
            try SweepJob(
                folder: folder, plan: plan, program: program, programVersion: Program.version,
                programDigest: try FileDigest.programs(program), command: Program.command,
                startedAt: Program.time(), backends: available(plan) + ForeignBackend.all(of: plan),
                encryption: CombinedBackend(), shard: shard, cgroups: cgroups,
                network: Network.client())
        }
        return try attempt {
            try job.run(
                input: input, starting: { if isAnnounced { announce(plan, estimate) } },
                // The same for every shard of a host: seconds that would be lost each time.
                limits: shard == nil ? { limits(folder, plan) } : nil, verify: verify, mutants: mutants,
                progress: {
                    progress.note($0)
                    if case .ended = $0 { between() }
                },
                shouldStop: { Interruption.wasRequested }, isInterrupted: { Interruption.wasRequested })
        }
    }

    /// The backends that have AES, and those that the plan names.
    private static func available(_ plan: Plan) -> [any CipherBackend] {
        let named = Set(plan.cells.map(\.cell.backend))
        return Backends.available { !$0.aesCiphers.isEmpty || named.contains($0.name) }
    }

    /// What starts the subjects of a plan: all cells are measured by one program, which reads servers if any cell does.
    static func program(_ plan: Plan) -> [String] {
        Program.subjectCommand(readsServers: plan.cells.contains { ObjectKind(of: $0.cell)?.isServed ?? true })
    }

    /// How long a plan will take, by a first look at the backends.
    static func estimate(_ plan: Plan) -> SweepEstimate {
        let backends = available(plan)
        var speeds: [String: Double] = [:]
        return SweepEstimate(plan) { name, hasTags in
            let key = "\(name) \(hasTags)"
            let backend = backends.first { $0.name == name }
            let speed = speeds[key] ?? backend.map { BackendSpeed.bytesPerSecond($0, hasTags: hasTags) } ?? 1e9
            speeds[key] = speed
            return speed
        }
    }

    /// Says how long a plan will take, before anything is measured.
    private static func announce(_ plan: Plan, _ estimate: SweepEstimate) {
        print("sweep: \(plan.cells.count) cells, \(estimate)")
        // A user who waits wants to know now, also behind a pipe.
        fflush(nil)
    }

    /// Measures of the machine what cells of a plan run into, in a second or two; says so if that fails, and goes on
    /// without.
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
    ///   - folder: Where objects are made.
    ///   - object: What all cells are measured on; `nil` for objects that are made.
    ///   - added: What is measured beside the plan's backends, by its names.
    /// - Returns: The plan.
    /// - Throws: `CommandFailure`, also if there is no space for its objects.
    static func plan(
        _ path: String, in folder: RunFolder, on object: PlanObject? = nil, added: [String] = []
    ) throws -> Plan {
        try plan(try attemptInput { try TextFile.read(path) }, of: path, in: folder, on: object, added: added)
    }

    /// The same from a text, for which errors have the file's name.
    ///
    /// With `choosing`, some of the plan's cells are left in it.
    static func plan(
        _ text: String, of path: String, in folder: RunFolder, on object: PlanObject? = nil, added: [String] = [],
        choosing: (Plan) -> [PlannedCell] = { $0.cells }
    ) throws -> Plan {
        var plan = try attempt {
            try PlanReader(
                file: path, knownBackends: BackendRegistry.names, missingBackends: Backends.missing(),
                addedBackends: added, object: object,
                trace: Traces.find, describedFormat: FormatFiles.described,
                isForeign: ForeignBackend.isForeign
            ).read(text)
        }
        for (backend, reason) in plan.missingBackends.sorted(by: { $0.key < $1.key }) {
            Terminal.warn("cells of backend \(backend) are left out: \(reason)")
        }
        plan.cells = choosing(plan)
        // Before anything is written.
        if plan.cells.contains(where: { ObjectKind(of: $0.cell)?.isServed == true }) { _ = try Network.required() }
        if object == nil, let shortage = SpaceCheck.shortage(of: plan.cells, in: folder) {
            let error = PlanError(file: path, line: shortage.cell.objectLine, message: shortage.message)
            throw CommandFailure(.badData, "\(error)")
        }
        return plan
    }

    /// Writes the report of what is there, and prints the verdict; of a run that was stopped, also how much it has, and
    /// how to go on.
    ///
    /// - Parameters:
    ///   - results: What was found.
    ///   - plan: What was asked for.
    ///   - folder: Where it goes.
    ///   - options: What the command line needs beside what it has to find the folder again.
    ///   - color: Whether words are coloured.
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

    /// The exit code for results: whether every cell has figures.
    static func requireFigures(_ results: RunResults) throws {
        try require(!results.cells.isEmpty, .noAnswer, "no cell was measured: expected at least one")
        let failed = results.cells.filter { $0.failure != nil }
        guard let first = failed.first, let reason = first.failure else { return }
        throw CommandFailure(
            .no, "\(failed.count) of \(results.cells.count) cells failed, the first is \(first.cell.name): \(reason)")
    }
}

/// How far a sweep is, on standard error: how many passes over cells are done of all, which only grows, and what runs.
struct SweepProgress {
    private let steps: [SweepStep]
    private let roundCount: Int
    private let display = ProgressDisplay()
    private var timeLeft: TimeLeft
    private var doneCount = 0

    /// Starts with what a plan was expected to take.
    init(_ estimate: SweepEstimate) {
        steps = estimate.steps
        timeLeft = TimeLeft(
            zip(estimate.steps, estimate.stepSeconds).map { step, seconds in
                TimeLeft.Step(kind: Self.kind(step.pass), item: step.cell.id, expectedSeconds: seconds)
            })
        roundCount = Set(steps.map(\.pass)).count { if case .time = $0 { true } else { false } }
    }

    /// Takes in what happened, and shows it.
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
