package import ByteSources
package import RandomAccess
package import Results
import Subject
import Support
import SystemPackage

/// A sweep with its folder: starts it, or goes on with one that was broken off.
package struct SweepJob {
    private let folder: RunFolder
    private let plan: Plan
    private let program: [String]
    private let header: RunHeader
    private let encryption: any CipherBackend
    private let network: (any NetworkSources)?
    private let cgroups: MemoryCgroups?

    /// Prepares a job; nothing is written yet.
    ///
    /// - Parameters:
    ///   - folder: Where results go.
    ///   - plan: What to measure.
    ///   - program: The command that starts a subject.
    ///   - programVersion: The version of this program.
    ///   - programDigest: What tells its build from others; see ``FileDigest/programs(_:)``.
    ///   - command: The command line that repeats the run, without keys.
    ///   - startedAt: The time, in ISO 8601.
    ///   - backends: The backends that are there.
    ///   - encryption: What encrypts objects, if it is not the first of them.
    ///   - shard: Which part of a job on many machines it is; `nil` for a run of its own.
    ///   - cgroups: Where processes whose memory is measured get cgroups, or why they do not.
    ///   - network: What serves objects on this machine, where cells are measured over HTTP.
    /// - Throws: `SweepError.io` if there are none.
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

    /// Runs the job.
    ///
    /// - Parameters:
    ///   - input: The object to measure all cells on, or `nil` to make those that they ask for.
    ///   - starting: Called when the results can be written, before anything is measured.
    ///   - limits: Measures the machine, where the run is to begin with that; `nil` from it is no limits.
    ///   - verify: Runs the vectors, where the run is to begin with them; its records go into the results, and a
    ///     backend that failed is not measured. `nil` from it is a stop before the end.
    ///   - mutants: Puts readers with planted faults to the vectors, where that is part of the run; `nil` from it is a
    ///     test that was stopped. A run that goes on does not repeat it.
    ///   - progress: Called before and after each process, and for those that need not be run.
    ///   - shouldStop: Asked before each process.
    ///   - isInterrupted: Whether the process that is running is to be ended; asked while it is waited for.
    /// - Returns: The results so far; they are complete unless `shouldStop` said so.
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
        // The lock comes first: the objects of a sweep that is running here are not this one's to remove.
        let log = try ResultLog(path: folder.resultFile)
        try folder.createObjects()
        // Also after a stop: they are made again in seconds, and hidden files of a gigabyte are not looked for.
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
        // A run that was killed while it wrote outcomes has those of some backends only.
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
        let store =
            input.map { ObjectStore(input: $0) }
            ?? ObjectStore(
                folder: folder.objectFolder, encryption: encryption, strategies: plan.strategies,
                serve: servers.map { $0.serve })
        let runner = CellRunner(
            program: program, store: store, seed: plan.seed, traces: plan.traces,
            bitsPerSecond: plan.bitsPerSecond, cgroups: cgroups, isInterrupted: isInterrupted)
        let sweep = Sweep(plan: plan, log: log, runner: runner, refusals: Self.refusals(outcomes))
        _ = try sweep.run(progress: progress, shouldStop: shouldStop)
        return try ResultLog.read(folder.resultFile).results
    }

    /// Correct before fast: a backend that failed a vector gets no speed.
    private static func refusals(_ outcomes: [ConformanceRecord]) -> [String: String] {
        var refusals: [String: String] = [:]
        for outcome in outcomes where outcome.failed > 0 || outcome.passed == 0 {
            refusals[outcome.subject] =
                "\(outcome.failed) of \(outcome.failed + outcome.passed) vectors failed: expected none before any speed"
        }
        return refusals
    }

    /// Whether the planted faults are done with: a run has them once, and a finished one stays as it is.
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

extension Cell {
    /// The cell in a few words, for a user who watches: `libgcrypt 256KiB sequential`. What is usual is left out, so
    /// that two cells of a plan may have the same.
    package var shortName: String {
        var parts = [backend]
        if strategy != Format.usualName { parts.append(strategy) }
        if !workload.hasPrefix("random:") { parts.append("\(ByteSize(windowByteCount))") }
        parts.append(workload)
        if access != AccessPolicy.block.rawValue { parts.append(access) }
        if threads != 1 { parts.append("\(threads) threads") }
        if keyWord != "aes128" { parts.append(keyWord) }
        if source != ObjectKind.file.rawValue { parts.append(source) }
        if isCold == true { parts.append("cold") }
        if remoteLatencyNanoseconds != nil { parts.append("remote") }
        return parts.joined(separator: " ")
    }
}
