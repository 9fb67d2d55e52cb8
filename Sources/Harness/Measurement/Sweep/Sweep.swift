package import ByteSources
package import RandomAccess
package import Results
import Support
import SystemPackage

/// A sweep: it measures the cells of a plan in rounds, into a folder, and resumes an interrupted run of the same plan.
///
/// The sweep checks every cell first, and a cell that fails gets no figures. Then it measures memory and latencies, and
/// then rounds of timings. Each round visits all cells in another order, so that a drift of the machine affects all
/// cells alike.
package struct Sweep {
    private let folder: RunFolder
    private let plan: Plan
    private let program: [String]
    private let header: RunHeader
    private let encryption: any CipherBackend
    private let network: (any NetworkSources)?
    private let cgroups: MemoryCgroups?

    /// Writes nothing yet.
    ///
    /// - Parameters:
    ///   - folder: The folder for results.
    ///   - plan: The plan.
    ///   - program: The command that starts a subject.
    ///   - programVersion: The version of this program.
    ///   - programDigest: The digest that identifies the build; see ``FileDigest/programs(_:)``.
    ///   - command: The command line that repeats the run, without keys.
    ///   - startedAt: The time, in ISO 8601.
    ///   - backends: The available backends.
    ///   - encryption: The backend that encrypts objects; `nil` for the first available one.
    ///   - shard: The shard of a job on many machines; `nil` for a separate run.
    ///   - cgroups: The cgroups for processes whose memory is measured, or the reason for their absence.
    ///   - network: The network that serves objects on this machine, for cells that are measured over HTTP.
    /// - Throws: `SweepError.io` if there is no backend.
    package init(
        folder: RunFolder, plan: Plan, program: [String], programVersion: String, programDigest: String? = nil,
        command: [String], startedAt: String, backends: [any CipherBackend],
        encryption: (any CipherBackend)? = nil, shard: RunHeader.Shard? = nil,
        cgroups: Result<MemoryCgroups, CgroupAbsence>? = nil, network: (any NetworkSources)? = nil
    ) throws(SweepError) {
        guard let encryption = encryption ?? backends.first else {
            throw .io(.unsupported("a sweep without any backend"))
        }
        self.folder = folder
        self.plan = plan
        self.program = program
        self.encryption = encryption
        self.network = network
        self.cgroups = try? cgroups?.get()
        var header = RunHeader(
            programVersion: programVersion, command: command, startedAt: startedAt, host: ThisHost.describe(),
            backends: backends.map {
                RunHeader.Backend(name: $0.name, version: $0.version, cpuFeatures: $0.cpuFeatures)
            }, plan: plan.text, seed: plan.seed)
        header.programDigest = programDigest
        header.shard = shard
        if case .failure(let absence)? = cgroups { header.cgroupAbsence = absence.description }
        self.header = header
    }

    /// Runs the steps that are not done yet. A cell that fails is a result.
    ///
    /// - Parameters:
    ///   - input: The object for all cells; `nil` to make the objects that the cells need.
    ///   - starting: A function that is called when the results can be written, before the measurement.
    ///   - limits: A function that measures the machine's limits at the start of a run. It may return `nil`.
    ///   - verify: A function that runs the vectors at the start of a run. Its records go into the results, and a
    ///     backend that failed is not measured. `nil` from it means that the user stopped it.
    ///   - mutants: A function that runs the mutants. `nil` from it means that the user stopped it. A resumed run does
    ///     not repeat it.
    ///   - progress: A function that is called before and after each process, and for each step that need not run.
    ///   - shouldStop: A function that is called before each process, and after one that failed.
    ///   - isInterrupted: A function that returns whether to end the current process. It is called while waiting for
    ///     it.
    /// - Returns: The results so far. They are complete unless `shouldStop` stopped the sweep.
    /// - Throws: `SweepError`.
    package func run(
        input: MeasuredObject? = nil, starting: () -> Void = {}, limits: (() -> MachineLimits?)? = nil,
        verify: (() -> [ConformanceRecord]?)? = nil, mutants: (() -> MutantsRecord?)? = nil,
        progress: (SweepEvent) -> Void, shouldStop: () -> Bool, isInterrupted: @escaping () -> Bool = { false }
    ) throws(SweepError) -> RunResults {
        try folder.create()
        var header = header
        header.input = input?.input
        header.strategies = plan.strategies.compactMapValues { try? StrategyFacts($0) }
        // The lock comes first, so that this job does not remove the objects of another sweep that is running here.
        let log = try ResultLog(path: folder.resultFile)
        try folder.createObjects()
        // Also after a stop: it takes seconds to make them again, and users do not expect hidden files of a gigabyte.
        defer { folder.removeObjects() }
        var outcomes: [ConformanceRecord] = []
        if let first = log.earlierRecords.first {
            try requireSameSweep(first, header)
            starting()
            for case .conformance(let outcome) in log.earlierRecords { outcomes.append(outcome) }
        } else {
            starting()
            header.limits = limits?()
            try log.append(.header(header))
        }
        // A run that was killed while it wrote outcomes has only those of some backends.
        let judged = Set(outcomes.map(\.subject))
        if let verify, !header.backends.allSatisfy({ judged.contains($0.name) }) {
            guard let found = verify() else { return try ResultLog.read(folder.resultFile).results }
            for outcome in found where !judged.contains(outcome.subject) {
                try log.append(.conformance(outcome))
                outcomes.append(outcome)
            }
        }
        if let mutants, !Self.isTested(log.earlierRecords), !shouldStop(), let outcome = mutants() {
            try log.append(.mutants(outcome))
        }
        let servers = network.map(LoopbackServers.init)
        let store = ObjectStore(
            plan, input: input, folder: folder.objectFolder, encryption: encryption, servers: servers)
        let runner = CellRunner(
            program: program, store: store, seed: plan.seed, traces: plan.traces,
            bitsPerSecond: plan.bitsPerSecond, cgroups: cgroups, isInterrupted: isInterrupted)
        try measure(runner, log, refusals: Self.refusals(outcomes), progress: progress, shouldStop: shouldStop)
        return try ResultLog.read(folder.resultFile).results
    }

    /// Measures the cells, except those of the backends in `refusals`.
    private func measure(
        _ runner: CellRunner, _ log: ResultLog, refusals: [String: String], progress: (SweepEvent) -> Void,
        shouldStop: () -> Bool
    ) throws(SweepError) {
        var state = SweepState(log.earlierRecords)
        for (index, step) in SweepStep.all(of: plan).enumerated() where !state.isEnded {
            guard isNeeded(step, state) else {
                progress(.notNeeded(index))
                continue
            }
            progress(.starts(index))
            if shouldStop() { return }
            let start = monotonicNanoseconds()
            let record: ResultRecord?
            do throws(CellFailure) {
                record = try perform(step, runner, refusals)
            } catch {
                if let cause = error.cause { throw .io(cause) }
                // A subject that ended together with the sweep has not failed.
                if error.isInterruption || shouldStop() { return }
                record = .failure(FailureRecord(cell: step.cell, reason: error.description))
            }
            if let record {
                try log.append(record)
                state.note(record)
            }
            if case .time(let round) = step.pass, round >= step.plannedRounds {
                state.addedNanoseconds += monotonicNanoseconds() - start
            }
            progress(.ended(index, seconds: Double(monotonicNanoseconds() - start) / 1e9))
        }
        if !state.isEnded { try log.append(.end) }
    }

    private func isNeeded(_ step: SweepStep, _ state: SweepState) -> Bool {
        let id = step.cell.id
        guard !state.failed.contains(id), !state.isDone(step.pass, id) else { return false }
        guard case .time(let round) = step.pass, let precision = plan.precision, round >= step.plannedRounds else {
            return true
        }
        return state.addedNanoseconds < precision.maxNanoseconds && !state.isPrecise(id, precision.halfWidth)
    }

    /// Runs the process of a step and returns its record; `nil` if this machine cannot measure it.
    private func perform(
        _ step: SweepStep, _ runner: CellRunner, _ refusals: [String: String]
    ) throws(CellFailure) -> ResultRecord? {
        let cell = step.cell
        switch step.pass {
        case .check:
            if let reason = refusals[cell.backend] { throw CellFailure(reason) }
            return .check(try runner.check(cell))
        case .memory(let round):
            return try runner.memory(cell, round: round).map { .memory($0) }
        case .latencies(let round):
            return try runner.latencies(cell, round: round).map { .latency($0) }
        case .time(let round):
            return .time(try runner.time(cell, round: round, minimumNanoseconds: plan.roundNanoseconds))
        }
    }

    /// The reasons not to measure backends: a backend that failed a vector gets no figures.
    private static func refusals(_ outcomes: [ConformanceRecord]) -> [String: String] {
        var refusals: [String: String] = [:]
        for outcome in outcomes where outcome.failed > 0 || outcome.passed == 0 {
            refusals[outcome.subject] =
                "\(outcome.failed) of \(outcome.failed + outcome.passed) vectors failed: expected none before any speed"
        }
        return refusals
    }

    /// Returns whether the mutants are done. A run has them once, and a finished run does not change.
    private static func isTested(_ records: [ResultRecord]) -> Bool {
        records.contains {
            switch $0 {
            case .mutants, .end: true
            default: false
            }
        }
    }

    private func requireSameSweep(_ record: ResultRecord, _ header: RunHeader) throws(SweepError) {
        let path = folder.resultFile.string
        guard case .header(let earlier) = record else { throw .damaged(path, .missingHeader) }
        var difference: String?
        if earlier.plan != header.plan || earlier.seed != header.seed {
            difference = "its plan is another one"
        } else if earlier.host.name != header.host.name || earlier.host.cpuModel != header.host.cpuModel {
            difference = "it was measured on \(earlier.host.name) (\(earlier.host.cpuModel))"
        } else if earlier.backends != header.backends {
            difference = "its backends have other versions"
        } else if earlier.programVersion != header.programVersion {
            difference = "it was measured by version \(earlier.programVersion)"
        } else if earlier.programDigest != header.programDigest {
            difference = "it was measured by another build (\(earlier.programDigest ?? "it does not say which"))"
        } else if earlier.strategies != header.strategies {
            difference = "a description of a strategy is another one, or was changed"
        } else if earlier.input != header.input {
            difference = "its input is another one, or was changed (\(earlier.input ?? "none"))"
        }
        if let difference { throw .externalResults(path: path, difference: difference) }
    }
}
