import ArgumentParser
import BackendRegistry
import Measurement
import Report
import Results
import SystemPackage

/// `chunkwise run`
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "The main job: verify, then sweep, then report.",
        discussion: """
            A backend that fails a vector is not measured. The report comes into reports/<date>-<host>/; started again
            after a kill on the same day, a run goes on where it stopped.

            EXAMPLES
              chunkwise run
              chunkwise run --plan Benchmarks/plans/small.yml --output /tmp/first

            EXIT CODES
              0 all vectors passed and all cells have figures; 1 something failed; 2 nothing was measured, or the run
              was stopped
            """)

    @Option(help: ArgumentHelp("The plan. (default: Benchmarks/plans/default.yml)", valueName: "file"))
    var plan: String?

    @Option(help: ArgumentHelp("The folder for the report. (default: reports/<date>-<host>)", valueName: "folder"))
    var output: String?

    func run() throws {
        let folder = RunFolder(path: FilePath(output ?? defaultOutput()))
        let plan = try SweepRunning.plan(try planPath(), in: folder)
        let groups = try DefaultVectors.groups()
        let results = try SweepRunning.run(plan, in: folder, isAnnounced: true) {
            Backends.verify(Backends.available(), groups: groups, threadCount: ThisHost.describe().cpuCount)
        }
        try ReportWriting.write(renderReport(results), to: folder.path)
        for line in Verdict(results).lines { print(line) }
        print("report: \(folder.path.appending("index.html"))")
        if let record = results.conformance.first(where: { $0.failed > 0 }) {
            throw CommandFailure(.no, "\(record.subject) failed \(record.failed) vectors: see the report")
        }
        guard results.isComplete else {
            throw CommandFailure(.noAnswer, "stopped before the end; the same command goes on from here")
        }
        try SweepRunning.requireFigures(results)
    }

    private func planPath() throws -> String {
        if let plan { return plan }
        let name = "Benchmarks/plans/default.yml"
        guard let path = DataFolder.find(name) else {
            throw CommandFailure(.missingInput, "no file \(name): expected it here, or --plan FILE")
        }
        return path.string
    }

    /// Today's folder; another one where today's holds a finished run.
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
