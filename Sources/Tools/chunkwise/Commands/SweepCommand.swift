import ArgumentParser
import ByteSources
import Measurement
import Report
import Results
import Support
import SystemPackage

/// `chunkwise sweep`
struct SweepCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sweep",
        abstract: "Measures the cells of a plan, in shuffled and interleaved rounds.",
        discussion: helpText(
            """
            Every pass over a cell is a separate process, whose result is appended to OUTPUT/results.jsonl when it ends.
            Ctrl-C stops the sweep and writes a report of the results so far; a second Ctrl-C stops at once. The same
            command, started again, resumes a sweep that was stopped or killed if plan, machine, build and input are the
            same. At the end, sweep writes the report.

            EXAMPLES
              chunkwise sweep --plan Benchmarks/plans/default.yml --output /tmp/sweep
              chunkwise report /tmp/sweep
              chunkwise sweep --plan Benchmarks/plans/own.yml --output /tmp/own --input film.enc --key-file k
              chunkwise sweep --plan Benchmarks/plans/default.yml --split 4 --output job --engine slurm
              chunkwise sweep --manifest job/manifest.json --shard 0
              chunkwise sweep --plan own.yml --output /tmp/own --source https://example.org/film.enc --key-file k

            With --split, sweep divides the job into shards for many machines. --manifest and --shard run one shard, and
            chunkwise merge combines the results. A shard that finishes exits with 0, whatever it found.

            An object of yours (--input or --source) determines strategy and parameters, key-size, object-size and
            source, so a plan for it must not contain them.

            EXIT CODES
              0 all cells have figures; 1 a cell failed; 2 nothing was measured, or the sweep was stopped
            """))

    @Option(help: .taking("file", "The plan, a YAML file; Benchmarks/plans has examples."), completion: .plans)
    var plan: String?

    @Option(help: .taking("folder", "The folder for the results. It is created if necessary."), completion: .directory)
    var output: String?

    @Option(
        help: .taking("file", "Measure all cells on this file of yours, with --key-file and --iv."),
        completion: .file())
    var input: String?

    @Option(help: .taking("URL", "Measure all cells on this object of yours on a server."))
    var source: String?

    @OptionGroup var added: AddedOptions
    @OptionGroup(title: "Many machines") var fleet: FleetOptions
    @OptionGroup var layout: StrategyOptions
    @OptionGroup var ivOptions: IVOptions
    @OptionGroup var ciphertext: CiphertextOptions
    @OptionGroup var keyOptions: KeyOptions
    @OptionGroup var tls: TLSOptions
    @OptionGroup var networkOptions: NetworkOptions
    @OptionGroup var cgroup: CgroupOptions
    @OptionGroup var color: ColorOptions

    mutating func validate() throws {
        try requireValid(
            !fleet.isShard || plan == nil, "--plan with --manifest: expected the manifest alone, which has the plan")
        try requireValid(
            fleet.isShard || plan != nil, "no --plan <file>: expected the plan, in YAML; Benchmarks/plans has examples")
        try requireValid(fleet.isShard || output != nil, "no --output <folder>: expected the folder for results")
        try requireValid(
            !fleet.isShard && fleet.split == nil || input == nil && source == nil,
            "--input or --source with --split or --manifest: expected a plan that has its objects made")
        try requireValid(
            !fleet.isShard && fleet.split == nil || added.backends.isEmpty,
            "--plugin or --subject with --split or --manifest: expected a plan that names it, backend: "
                + "plugin:/absolute/lib.so or subject:COMMAND")
        try requireValid(input == nil || source == nil, "--input and --source: expected one of them")
        if let source, !RemoteObject.isURL(source) {
            throw ValidationError(
                "--source \(URLText.redacted(source)): expected a URL (for objects that are made here, plans have the "
                    + "key source)")
        }
        if input == nil, source == nil,
            layout.isGiven || keyOptions.isAnyGiven || ivOptions.iv != nil || ciphertext.asIs
        {
            throw ValidationError("a layout, a key or an IV: expected them only with --input or --source")
        }
        if source == nil { try network.refuse(input.map { "--input \($0)" } ?? "a plan, whose cells say it") }
    }

    var network: ServerAccess { ServerAccess(options: networkOptions, tls: tls) }

    func run() throws {
        // The measured processes get the user's key too.
        if keyOptions.isGiven { CoreDumps.disable() }
        let cgroups = try cgroup.find()
        if fleet.isShard { return try runShard(cgroups) }
        let folder = RunFolder(path: FilePath(output ?? ""))
        let (object, remoteObject) = try ownObject()
        let plan = try SweepRunning.plan(
            plan ?? "", in: folder, on: object.map { PlanObject($0, at: remoteObject) }, added: added.backends)
        if fleet.split != nil { return try split(plan, folder) }
        let results = try SweepRunning.run(plan, in: folder, input: object, cgroups: cgroups, isAnnounced: true)
        try SweepRunning.report(results, of: plan, in: folder, adding: [], color: color)
        print("\(results.cells.count) cells in \(folder.resultFile)")
        try SweepRunning.requireFigures(results)
    }

    /// Writes the manifest of a plan for many machines.
    private func split(_ plan: Plan, _ folder: RunFolder) throws {
        let estimate = SweepRunning.estimate(plan)
        var seconds: [String: Double] = [:]
        for (step, cost) in zip(estimate.steps, estimate.stepSeconds) { seconds[step.cell.id, default: 0] += cost }
        let parts = ComparedCells.groups(of: plan.cells.map(\.cell)).map { name, cells in
            Manifest.Part(
                name: name, cost: cells.reduce(0) { $0 + (seconds[$1.id] ?? 0) }, members: cells.map(\.id),
                count: cells.count)
        }
        let reference = plan.cells.first { $0.cell.isReference } ?? plan.cells[0]
        let digest = SHAFunction.sha256.hash(Array(plan.text.utf8))
        try fleet.write(
            .sweep(plan: plan.text, planDigest: Hexadecimal.encode(digest), reference: reference.cell.id), parts: parts,
            program: SweepRunning.program(plan), to: folder.path.string)
    }

    /// Measures the cells of one shard, in a folder that only this machine uses.
    private func runShard(_ cgroups: Result<MemoryCgroups, CgroupAbsence>) throws {
        let path = fleet.manifest ?? ""
        let manifest = try attemptInput { try ManifestFile(FilePath(path)) }.manifest
        guard case .sweep(let text, _, _) = manifest.work else {
            throw CommandFailure(.usage, "\(path) is a job of chunkwise verify: expected chunkwise verify --manifest")
        }
        let (shares, number) = (manifest.shares, fleet.shard ?? 0)
        let wanted = shares.indices.contains(number) ? shares[number].cells : []
        // All shards use the program that the whole plan needs, even if their own cells need less.
        var program: [String] = []
        let plan = try SweepRunning.plan(
            text, of: path, in: RunFolder(path: FilePath(ThisHost.variable("TMPDIR") ?? "/tmp")),
            choosing: { plan in
                program = SweepRunning.program(plan)
                return plan.cells.filter { wanted.contains($0.cell.id) }
            })
        let run = try ShardRun(fleet, command: "sweep", program: program, output: output)
        let lacking = wanted.subtracting(plan.cells.map(\.cell.id)).sorted()
        try require(
            lacking.isEmpty, .missingInput,
            "\(lacking.count) cells of shard \(run.shard.number) cannot be measured here, the first is "
                + "\(lacking.first ?? ""): expected the backends that the job was split with")
        try run.run { folder, between in
            try SweepRunning.run(
                plan, in: folder, cgroups: cgroups, program: program, shard: run.shard, between: between
            ).isComplete
        }
    }

    private func ownObject() throws -> (MeasuredObject?, RemoteObject?) {
        let own = OwnObject(
            layout: layout, ivOptions: ivOptions, keyOptions: keyOptions, ciphertext: ciphertext)
        if let source { return try own.served(source, network) }
        return (try input.map(own.file), nil)
    }
}

extension Cell {
    /// True if shards may use the cell as their reference: a local object that is read from start to end.
    fileprivate var isReference: Bool { label == nil && workload == "sequential" && isLocal }
}
