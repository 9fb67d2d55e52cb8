import ArgumentParser
import ByteSources
import Measurement
import Results
import Support
import SystemPackage

/// `chunkwise merge`
struct MergeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Makes one run of the shards of sweep --split or verify --split.",
        discussion: helpText(
            """
            Each shard counts once, whatever was run twice: of its attempts, one that came to its end. What contradicts, and
            what belongs to another plan or program, is refused. chunkwise report MERGED has a column for each kind of host;
            nothing is averaged over hosts.

            EXAMPLES
              chunkwise sweep --plan Benchmarks/plans/small.yml --split 4 --replicate --output job
              chunkwise merge job --output merged
              chunkwise report merged

            EXIT CODES
              0 merged; 1 a vector failed; 2 shards are missing: what there is was merged; 65 a file is of another job, or
              contradicts another; 66 there is no manifest; 74 the result cannot be written
            """))

    @Argument(help: "The job's folder, with manifest.json and shards.", completion: .directory)
    var job: String

    @Option(help: .taking("folder", "The folder for the result; it is created if need be."), completion: .directory)
    var output: String

    @OptionGroup var color: ColorOptions

    func run() throws {
        let file = try attemptInput { try ManifestFile(FilePath(job).appending(Manifest.fileName)) }
        let merge = try attemptInput { try FleetMerge(file) }
        merge.warnings.forEach(Terminal.warn)
        let folder = RunFolder(path: FilePath(output))
        let hosts = merge.hosts
        if !hosts.isEmpty {
            try attempt { try folder.create() }
            let records = try attempt { try merge.write(to: folder.resultFile) }
            if !records.isEmpty { color.show(VerifyOutput.text(records)) }
            let count = file.manifest.shardCount
            print(
                "\(folder.resultFile): \(count - merge.missing.count) of \(count) shards, "
                    + "\(hosts.count) host\(hosts.count == 1 ? "" : "s")")
            try requireAll(merge)
            if !records.isEmpty { try VerifyOutput.requirePass(records) }
        } else {
            try requireAll(merge)
        }
    }

    /// Names what is missing, and what runs it.
    private func requireAll(_ merge: FleetMerge) throws {
        guard let numbers = CPUSet(merge.missing.map(\.shard)) else { return }
        let (manifest, path) = (merge.job.manifest, merge.job.path.string)
        let command = ShellText.joined(["chunkwise", manifest.work.command, "--manifest", path, "--shard"])
        for (shard, reason) in merge.missing.prefix(20) {
            print("MISSING shard \(shard): \(reason); to run it: \(command) \(shard)")
        }
        throw CommandFailure(
            .noAnswer,
            "\(merge.missing.count) of \(manifest.shardCount) shards are missing (\(numbers)): expected all; with Slurm, "
                + "sbatch --array=\(numbers) runs them")
    }
}
