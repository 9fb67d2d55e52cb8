import ByteSources
import Conformance
import Measurement
import RandomAccess
import Results
import Support
import SystemPackage

/// One shard of a job that was split: it is run on this machine's own disk, and what it found is handed over as one file.
struct ShardRun {
    /// The manifest that the shard is of.
    let job: ManifestFile
    /// What tells this attempt from others.
    let shard: RunHeader.Shard
    /// Where the attempt's file comes.
    private let path: FilePath
    /// Which CPUs it is confined to, in words.
    private let pinning: String

    /// How long finished records stay on this machine alone, at most about: a machine that is lost takes them with it. It is
    /// less where handing them over takes so little that a twentieth of the time suffices.
    private static let maxInterval = Duration.seconds(30)

    /// Prepares a shard: checks that it is this command's and this program's, and confines the process to its CPUs.
    ///
    /// - Throws: `CommandFailure`.
    init(_ options: FleetOptions, command: String, program: [String], output: String?) throws {
        let (path, number) = (options.manifest ?? "", options.shard ?? 0)
        // From the root: a subject's command is run in another folder.
        job = try attemptInput { try ManifestFile(FilePath(path).fromRoot) }
        let manifest = job.manifest
        try require(
            manifest.work.command == command,
            "\(path) is a job of chunkwise \(manifest.work.command): expected chunkwise \(manifest.work.command) --manifest"
        )
        try require(
            (0..<manifest.shardCount).contains(number),
            "--shard \(number): expected 0 to \(manifest.shardCount - 1), as \(path) has \(manifest.shardCount)")
        let digest = try attempt { try FileDigest.programs(program) }
        try require(
            manifest.programVersion == Program.version && manifest.programDigest == digest, .badData,
            "\(path) was split by chunkwise \(manifest.programVersion), build \(manifest.programDigest?.prefix(16) ?? "unknown"), "
                + "and this is \(Program.version), build \(digest?.prefix(16) ?? "unknown"): expected the same program on "
                + "all machines; split the job again, or run that one")
        shard = RunHeader.Shard(
            manifest: job.digest, number: number, count: manifest.shardCount,
            attempt: Hexadecimal.encode((0..<6).map { _ in UInt8.random(in: .min ... .max) }), job: Scheduler.job,
            restartCount: Scheduler.restartCount)
        let folder = output.map { FilePath($0).fromRoot.appending(Manifest.shardFolder) } ?? job.shardFolder
        try attempt("--output") { try Folder.create(folder) }
        pinning = Self.pin()
        self.path = folder.appending(ShardFile.name(shard, ThisHost.describe()))
        Interruption.install()
    }

    /// Confines this process to the CPUs that it was given, and says what came of it.
    private static func pin() -> String {
        guard let allowed = CPUSet.own else { return "not pinned: the system does not say which CPUs it may use" }
        let given = CPUSet.given(of: allowed, ThisHost.variable)
        let count = "CPU\(given.cpus.count == 1 ? "" : "s")"
        return given.pin()
            ? "pinned to \(count) \(given) of \(allowed)"
            : "not pinned: the system refuses \(count) \(given) of \(allowed)"
    }

    /// Runs the shard and hands over what it found, also of a part of it.
    ///
    /// - Parameter body: Writes results into a folder, calls its second argument between records, and returns whether it
    ///   came to its end.
    /// - Throws: `CommandFailure`, also for a shard that was stopped.
    func run(_ body: (_ folder: RunFolder, _ between: () -> Void) throws -> Bool) throws {
        let local = try attempt { try RunFolder.temporary() }
        Terminal.writeError(
            PlainText.line(
                "chunkwise: shard \(shard.number) of \(shard.count) on \(ThisHost.describe().label), \(pinning)"))
        let clock = ContinuousClock()
        var next = clock.now
        let isComplete: Bool
        do {
            isComplete = try body(local) {
                guard clock.now >= next else { return }
                // The last one counts, and says what is wrong.
                let took = clock.measure { try? ShardFile.publish(local.resultFile, as: path) }
                next = clock.now.advanced(by: min(took * 20, Self.maxInterval))
            }
        } catch {
            // What was finished before is as good as it was; a shard that had not begun leaves nothing.
            guard hasRecords(local) else {
                local.removeTemporary()
                throw error
            }
            do {
                try ShardFile.publish(local.resultFile, as: path)
                local.removeTemporary()
            } catch {
                Terminal.warn(keep(local, after: error))
            }
            throw error
        }
        do {
            try ShardFile.publish(local.resultFile, as: path)
        } catch {
            throw CommandFailure(.io, keep(local, after: error))
        }
        let records = try attempt { try ShardFile(reading: path) }
        local.removeTemporary()
        print(PlainText.line("\(path): \(records.description), \(isComplete ? "complete" : "a part of the shard")"))
        if (try? ManifestFile(job.path).digest) != job.digest {
            Terminal.warn(
                "\(job.path) is gone or another one by now: expected the one that this shard can be merged with")
        }
        try require(
            isComplete, .noAnswer,
            "stopped before the end of shard \(shard.number): what was finished is in \(path); to run it again: "
                + "\(job.shardCommand()) \(shard.number)")
    }

    /// Whether more than a header was written.
    private func hasRecords(_ local: RunFolder) -> Bool {
        ((try? ShardFile(reading: local.resultFile))?.recordCount ?? 0) > 0
    }

    /// Seals the records where they are, as they cannot be handed over, and says what to do with them.
    private func keep(_ local: RunFolder, after error: any Error) -> String {
        // A copy without a seal would be no whole one.
        let sealed = local.path.appending("shard.jsonl")
        let isSealed = (try? ShardFile.publish(local.resultFile, as: sealed)) != nil
        return "\(error): expected a folder that takes files and lets them be renamed; the shard's records are kept on "
            + "\(ThisHost.name), to be copied once it does: "
            + ShellText.joined(["cp", (isSealed ? sealed : local.resultFile).string, path.string])
    }

    /// A header for records of this shard that no sweep writes.
    private func header() throws -> RunHeader {
        var header = RunHeader(
            programVersion: Program.version, command: Program.command, startedAt: Program.time(),
            host: ThisHost.describe(),
            backends: Backends.available().map {
                RunHeader.Backend(name: $0.name, version: $0.version, cpuFeatures: $0.cpuFeatures)
            }, plan: nil, seed: 0)
        header.programDigest = job.manifest.programDigest
        header.shard = shard
        return header
    }

    /// Writes the outcomes of a shard of `verify`, part by part; a part that was stopped is none.
    func runVectors(_ parts: some Sequence<() throws -> [ConformanceRecord]>) throws {
        try run { folder, between in
            let log = try attempt { try ResultLog(path: folder.resultFile) }
            try attempt { try log.append(.header(try header())) }
            for (number, part) in parts.enumerated() {
                let records = try part()
                if Interruption.wasRequested { return false }
                for var record in records {
                    record.part = number
                    try attempt { try log.append(.conformance(record)) }
                }
                between()
            }
            if Interruption.wasRequested { return false }
            try attempt { try log.append(.end) }
            return true
        }
    }
}

/// What schedulers say of the job that this process is, in its environment.
enum Scheduler {
    /// What it calls the job; `nil` without a scheduler.
    ///
    /// - Source: sbatch(1), "OUTPUT ENVIRONMENT VARIABLES"; parallel(1); Kubernetes' documentation, "Indexed Job".
    static var job: String? {
        let variable = ThisHost.variable
        if let array = variable("SLURM_ARRAY_JOB_ID"), let task = variable("SLURM_ARRAY_TASK_ID") {
            return "slurm \(array)_\(task)"
        }
        return variable("SLURM_JOB_ID").map { "slurm \($0)" } ?? variable("PARALLEL_SEQ").map { "parallel \($0)" }
            ?? variable("JOB_COMPLETION_INDEX").map { "kubernetes index \($0)" }
            ?? variable("PBS_JOBID").map { "pbs \($0)" } ?? variable("LSB_JOBID").map { "lsf \($0)" }
    }

    /// How often it had started the job before; `nil` where it does not say.
    static var restartCount: Int? { ThisHost.variable("SLURM_RESTART_COUNT").flatMap { Int($0) } }
}
