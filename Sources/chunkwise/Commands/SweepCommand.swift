import ArgumentParser
import Measurement
import Results
import SystemPackage

/// `chunkwise sweep`
struct SweepCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sweep",
        abstract: "Measures the cells of a plan, in rounds that are shuffled and interleaved.",
        discussion: """
            Every pass over a cell is a process of its own, and what it found is appended to OUTPUT/results.jsonl as it
            ends. Started again after a kill, a sweep goes on where it stopped.

            EXAMPLES
              chunkwise sweep --plan Benchmarks/plans/default.yml --output /tmp/sweep
              chunkwise report /tmp/sweep

            EXIT CODES
              0 all cells have figures; 1 a cell failed; 2 nothing was measured, or the sweep was stopped
            """)

    @Option(help: ArgumentHelp("The plan, in YAML; Benchmarks/plans has examples.", valueName: "file"))
    var plan: String

    @Option(help: ArgumentHelp("The folder for results; it is created if need be.", valueName: "folder"))
    var output: String

    func run() throws {
        let folder = RunFolder(path: FilePath(output))
        let plan = try SweepRunning.plan(plan, in: folder)
        let results = try SweepRunning.run(plan, in: folder, isAnnounced: true)
        guard results.isComplete else {
            throw CommandFailure(.noAnswer, "stopped before the end; the same command goes on from here")
        }
        print("\(results.cells.count) cells in \(folder.resultFile)")
        try SweepRunning.requireFigures(results)
    }
}
