import ByteSources
import Conformance
import Measurement
import RandomAccess
import Results
import Support
import SystemPackage

/// One shard of a split job. It runs on this machine's own disk, and publishes its results as one file.
struct ShardRun {
    /// The manifest of the job.
    let job: ManifestFile
    /// The identity of this attempt.
    let shard: RunHeader.Shard
    /// The path of the attempt's file.
    private let path: FilePath
    /// The CPUs to which the process is confined, in words.
    private let pinning: String

    /// The approximate maximum time between two publications of finished records, which a lost machine would take with
    /// it. The interval is shorter if publishing is quick: publishing then takes a twentieth of the time.
    private static let maxInterval = Duration.seconds(30)

    /// Checks that the manifest is of this command and this program, and confines the process to its CPUs.
    ///
    /// - Throws: `CommandFailure`.
    init(_ options: FleetOptions, command: String, program: [String], output: String?) throws {
        let (path, number) = (options.manifest ?? "", options.shard ?? 0)
        // An absolute path, because a subject's command may run in another folder.
        job = try attemptInput { try ManifestFile(FilePath(path).fromRoot) }
        let manifest = job.manifest
        try require(
            manifest.work.command == command,
            "\(path) is a job of chunkwise \(manifest.work.command): expected chunkwise \(manifest.work.command) "
                + "--manifest"
        )
        try require(
            (0..<manifest.shardCount).contains(number),
            "--shard \(number): expected 0 to \(manifest.shardCount - 1), as \(path) has \(manifest.shardCount)")
        let digest = try attempt { try FileDigest.programs(program) }
        try require(
            manifest.programVersion == Program.version && manifest.programDigest == digest, .badData,
            "\(path) was split by chunkwise \(manifest.programVersion), build "
                + "\(manifest.programDigest?.prefix(16) ?? "unknown"), and this is \(Program.version), build "
                + "\(digest?.prefix(16) ?? "unknown"): expected the same program on all machines; split the job again, "
                + "or run that one")
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

    /// Confines this process to the CPUs that it was given, and returns the outcome in words.
    private static func pin() -> String {
        guard let allowed = CPUSet.own else { return "not pinned: the system does not say which CPUs it may use" }
        let given = CPUSet.given(of: allowed, ThisHost.variable)
        let count = "CPU\(given.cpus.count == 1 ? "" : "s")"
        return given.pin()
            ? "pinned to \(count) \(given) of \(allowed)"
            : "not pinned: the system refuses \(count) \(given) of \(allowed)"
    }

    /// Runs the shard and publishes its results, even if they are only a part.
    ///
    /// - Parameter body: A function that writes results into a folder, calls its second argument between records, and
    ///   returns whether it finished.
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
                // An error is ignored here, because the last publication reports it.
                let took = clock.measure { try? ShardFile.publish(local.resultFile, as: path) }
                next = clock.now.advanced(by: min(took * 20, Self.maxInterval))
            }
        } catch {
            // Finished records stay valid. A shard without records publishes nothing.
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
                "\(job.path) was changed or removed since this shard started: expected it to stay, to merge this shard")
        }
        try require(
            isComplete, .noAnswer,
            "stopped before the end of shard \(shard.number): what was finished is in \(path); to run it again: "
                + "\(job.shardCommand()) \(shard.number)")
    }

    /// Returns whether the file has more than a header.
    private func hasRecords(_ local: RunFolder) -> Bool {
        ((try? ShardFile(reading: local.resultFile))?.recordCount ?? 0) > 0
    }

    /// Seals records that cannot be published in their local folder, and returns a message with the command to copy
    /// them.
    private func keep(_ local: RunFolder, after error: any Error) -> String {
        // A file without a seal counts as incomplete.
        let sealed = local.path.appending("shard.jsonl")
        let isSealed = (try? ShardFile.publish(local.resultFile, as: sealed)) != nil
        return "\(error); the shard's records are kept on \(ThisHost.name), to be copied once the folder takes files: "
            + ShellText.joined(["cp", (isSealed ? sealed : local.resultFile).string, path.string])
    }

    /// A header for the records of a shard of `verify`.
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

    /// Writes the outcomes of a shard of `verify`, part by part. Drops a part that was stopped.
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

/// The description of this process's job that a scheduler puts into the environment.
enum Scheduler {
    /// The scheduler's name for the job; `nil` without a scheduler.
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

    /// The number of earlier starts of the job; `nil` if the scheduler does not give it.
    static var restartCount: Int? { ThisHost.variable("SLURM_RESTART_COUNT").flatMap { Int($0) } }
}
