import ArgumentParser
import ByteSources
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
            kill, a sweep goes on where it stopped, if plan, machine, build and input are the same. In the end, it writes
            the report.

            EXAMPLES
              chunkwise sweep --plan Benchmarks/plans/default.yml --output /tmp/sweep
              chunkwise report /tmp/sweep
              chunkwise sweep --plan Benchmarks/plans/own.yml --output /tmp/own --input film.enc --key-file k --iv $IV
              chunkwise sweep --plan Benchmarks/plans/own.yml --output /tmp/own --source https://example.org/film.enc \
            --key-file k --iv $IV

            An object of yours says what cells otherwise ask for (strategy with its parameters, key-size, object-size,
            source): the plan has none of that then.

            EXIT CODES
              0 all cells have figures; 1 a cell failed; 2 nothing was measured, or the sweep was stopped
            """))

    @Option(help: .taking("file", "The plan, in YAML; Benchmarks/plans has examples."), completion: .plans)
    var plan: String

    @Option(help: .taking("folder", "The folder for results; it is created if need be."), completion: .directory)
    var output: String

    @Option(
        help: .taking("file", "A file of yours that all cells are measured on, with --key-file and --iv."),
        completion: .file())
    var input: String?

    @Option(help: .taking("URL", "An object of yours on a server, likewise, by its URL."))
    var source: String?

    @OptionGroup var layout: StrategyOptions
    @OptionGroup var ivOptions: IVOptions
    @OptionGroup var keyOptions: KeyOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var cgroup: CgroupOptions
    @OptionGroup var color: ColorOptions

    mutating func validate() throws {
        try requireValid(input == nil || source == nil, "--input and --source: expected one of them")
        if let source, !RemoteObject.isURL(source) {
            throw ValidationError(
                "--source \(URLText.redacted(source)): expected a URL (for objects that are made here, plans have the key "
                    + "source)")
        }
        if input == nil, source == nil, layout.isGiven || keyOptions.isGiven || ivOptions.iv != nil {
            throw ValidationError("a layout, a key or an IV: expected them only with --input or --source")
        }
        if source == nil { try network.refuse(input.map { "--input \($0)" } ?? "a plan, whose cells say it") }
    }

    func run() throws {
        // A user's own key, which the processes that are measured get as well.
        if keyOptions.isGiven { CoreDumps.disable() }
        let cgroups = try cgroup.find()
        let folder = RunFolder(path: FilePath(output))
        let (object, remoteObject) = try ownObject()
        let plan = try SweepRunning.plan(plan, in: folder, on: object.map { PlanObject($0, at: remoteObject) })
        let results = try SweepRunning.run(plan, in: folder, input: object, cgroups: cgroups, isAnnounced: true)
        try SweepRunning.report(results, of: plan, in: folder, adding: [], color: color)
        print("\(results.cells.count) cells in \(folder.resultFile)")
        try SweepRunning.requireFigures(results)
    }

    private func ownObject() throws -> (MeasuredObject?, RemoteObject?) {
        let own = OwnObject(layout: layout, ivOptions: ivOptions, keyOptions: keyOptions)
        if let source { return try own.served(source, network) }
        return (try input.map(own.file), nil)
    }
}
