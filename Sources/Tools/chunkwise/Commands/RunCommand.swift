import ArgumentParser
import BackendRegistry
import Measurement
import Report
import Results
import SystemPackage
import Vectors

/// `chunkwise run`
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Verifies, then measures, then writes a report: the main job.",
        discussion: helpText(
            """
            A backend that fails a vector is not measured. --mutants also runs readers with injected faults: that tests
            the vectors, not this machine, and takes minutes. The report goes into reports/<date>-<host>/. Ctrl-C stops
            the run, writes a report of the results so far, and prints how to resume; a second Ctrl-C stops at once.
            After a kill, the same command resumes on the same day, or with --output on any day.

            EXAMPLES
              chunkwise run
              chunkwise run --plan Benchmarks/plans/small.yml --output first

            EXIT CODES
              0 all vectors passed and all cells have figures; 1 something failed, or an injected fault survived;
              2 nothing was measured, or the run was stopped
            """))

    @Option(help: .taking("file", "The plan. (default: Benchmarks/plans/default.yml)"), completion: .plans)
    var plan: String?

    @Option(
        help: .taking("folder", "The folder for the report. (default: reports/<date>-<host>)"), completion: .directory)
    var output: String?

    @Flag(help: "Also run the vectors on readers with injected faults, and report which faults they notice.")
    var mutants = false

    @OptionGroup var added: AddedOptions
    @OptionGroup var cgroup: CgroupOptions
    @OptionGroup var color: ColorOptions

    func run() throws {
        let cgroups = try cgroup.find()
        let folder = RunFolder(path: FilePath(output ?? defaultOutput()))
        let plan = try SweepRunning.plan(try planPath(), in: folder, added: added.backends)
        let foreign = try ForeignBackend.all(of: plan)
        let published = try DefaultVectors.publishedGroups()
        let (backends, threadCount) = (SweepRunning.available(plan), ThisHost.describe().cpuCount)
        let results = try SweepRunning.run(
            plan, in: folder, cgroups: cgroups, isAnnounced: true,
            verify: {
                let groups = published + VectorSet.standard()
                let records =
                    Backends.verify(backends, groups: groups, threadCount: threadCount)
                    + foreign.map { $0.verify(groups) }
                // A verification that was interrupted is no result.
                return Interruption.wasRequested ? nil : records
            },
            mutants: mutants
                ? {
                    backends.first.flatMap {
                        MutantVerification.record(backend: $0, published: published, threadCount: threadCount)
                    }
                } : nil)
        // Tomorrow the default folder has another name, so that a command to resume needs this one.
        let options = output == nil ? ["--output", folder.path.string] : []
        try SweepRunning.report(results, of: plan, in: folder, adding: options, color: color)
        if let record = results.conformance.first(where: { $0.failed > 0 }) {
            throw CommandFailure(.no, "\(record.subject) failed \(record.failed) vectors: see the report")
        }
        try results.mutants.map(requireKilled)
        try SweepRunning.requireFigures(results)
    }

    /// Checks that the vectors caught every mutant: otherwise, passing them proves little.
    private func requireKilled(_ mutants: MutantsRecord) throws {
        if let first = mutants.survivors.first {
            throw CommandFailure(
                .no,
                "\(mutants.survivors.count) of \(mutants.outcomes.count) injected faults survived, the first is "
                    + "\(first.name): expected vectors of its class \(first.flag) to notice it")
        }
        if let control = mutants.failedControls.first {
            throw CommandFailure(
                .no, "\(control.name), which has no fault, failed \(control.failed) vectors: expected none")
        }
    }

    private func planPath() throws -> String {
        if let plan { return plan }
        let name = "Benchmarks/plans/default.yml"
        let path = try require(
            DataFolder.find(name), .missingInput, "no file \(name): expected it here, or --plan FILE")
        return path.string
    }

    /// The folder of today, with a number added if it holds a finished run.
    private func defaultOutput() -> String {
        let base = "reports/\(Program.time("%Y-%m-%d"))-\(ThisHost.name)"
        var name = base
        var number = 2
        while RunFolder(path: FilePath(name)).isFinished {
            name = "\(base)-\(number)"
            number += 1
        }
        return name
    }
}
