import ArgumentParser
import Measurement
import Results
import SystemPackage

/// `chunkwise sweep`
struct SweepCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sweep",
        abstract: "Measures the cells of a plan, in rounds that are shuffled and interleaved.",
        discussion: helpText(
            """
            Every pass over a cell is a process of its own, and what it found is appended to OUTPUT/results.jsonl as it
            ends. Ctrl-C leaves a report of what is there; a second one ends at once. Started again after either, or a
            kill, a sweep goes on where it stopped. In the end, it writes the report.

            EXAMPLES
              chunkwise sweep --plan Benchmarks/plans/default.yml --output /tmp/sweep
              chunkwise report /tmp/sweep

            EXIT CODES
              0 all cells have figures; 1 a cell failed; 2 nothing was measured, or the sweep was stopped
            """))

    @Option(
        help: ArgumentHelp("The plan, in YAML; Benchmarks/plans has examples.", valueName: "file"), completion: .plans)
    var plan: String

    @Option(
        help: ArgumentHelp("The folder for results; it is created if need be.", valueName: "folder"),
        completion: .directory)
    var output: String

    @OptionGroup var color: ColorOptions

    func run() throws {
        let folder = RunFolder(path: FilePath(output))
        let plan = try SweepRunning.plan(plan, in: folder)
        let results = try SweepRunning.run(plan, in: folder, isAnnounced: true)
        try SweepRunning.report(results, of: plan, in: folder, adding: [], color: color)
        print("\(results.cells.count) cells in \(folder.resultFile)")
        try SweepRunning.requireFigures(results)
    }
}
