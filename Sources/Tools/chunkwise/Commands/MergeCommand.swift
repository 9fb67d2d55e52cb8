import ArgumentParser
import ByteSources
import Measurement
import Report
import Results
import Support
import SystemPackage

/// `chunkwise merge`
struct MergeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Merges the shards of sweep --split or verify --split into one run.",
        discussion: helpText(
            """
            Each shard counts once, even if it ran twice: merge takes an attempt that finished. It refuses results that
            contradict each other or belong to another plan or program, and an output folder with other results.
            chunkwise report MERGED has a column for each kind of host; nothing is averaged over hosts.

            EXAMPLES
              chunkwise sweep --plan Benchmarks/plans/small.yml --split 4 --replicate --output job
              chunkwise merge job --output merged
              chunkwise report merged

            EXIT CODES
              0 merged; 1 a vector or a cell failed; 2 shards are missing, and the others were merged; 65 a file is of
              another job, or contradicts another; 66 there is no manifest; 74 the result cannot be written
            """))

    @Argument(help: "The job's folder, with manifest.json and shards.", completion: .directory)
    var job: String

    @Option(help: .taking("folder", "The folder for the result, created if necessary."), completion: .directory)
    var output: String

    @OptionGroup var color: ColorOptions

    func run() throws {
        let file = try attemptInput { try ManifestFile(FilePath(job).appending(Manifest.fileName)) }
        let merge = try attemptInput { try FleetMerge(file) }
        merge.warnings.forEach { Terminal.warn(PlainText.line($0)) }
        let folder = RunFolder(path: FilePath(output))
        let hosts = merge.hosts
        guard !hosts.isEmpty else { return try requireAll(merge) }
        try attempt { try folder.create() }
        let records = try attempt { try merge.write(to: folder.resultFile) }
        if !records.isEmpty { color.show(VerifyOutput.text(records)) }
        let count = file.manifest.shardCount
        print(
            PlainText.line(
                "\(folder.resultFile): \(count - merge.missing.count) of \(RatioText.count(count, "shard")), "
                    + RatioText.count(hosts.count, "host")))
        showMissing(merge)
        // A failure is reported even if shards are missing.
        if records.contains(where: { $0.failed > 0 }) { try VerifyOutput.requirePass(records) }
        try require(
            merge.failedCellCount == 0, .no,
            "cells that have failed in their shards: \(merge.failedCellCount); expected figures of all; chunkwise "
                + "report has the reasons")
        try requireAll(merge)
        if !records.isEmpty { try VerifyOutput.requirePass(records) }
    }

    private func showMissing(_ merge: FleetMerge) {
        for (shard, reason) in merge.missing.prefix(20) {
            print(PlainText.line("MISSING shard \(shard): \(reason); to run it: \(merge.job.shardCommand()) \(shard)"))
        }
    }

    /// Checks that no shard is missing.
    ///
    /// - Throws: `CommandFailure`, which names the missing shards.
    private func requireAll(_ merge: FleetMerge) throws {
        guard let numbers = CPUSet(merge.missing.map(\.shard)) else { return }
        if merge.hosts.isEmpty { showMissing(merge) }
        throw CommandFailure(
            .noAnswer,
            "\(merge.missing.count) of \(merge.job.manifest.shardCount) shards are missing (\(numbers)): expected all; "
                + "with Slurm, sbatch --array=\(numbers) runs them")
    }
}
