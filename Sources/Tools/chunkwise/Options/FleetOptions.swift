import ArgumentParser
import Measurement
import Report
import Support
import SystemPackage

/// The options of `sweep` and `verify` for many machines.
struct FleetOptions: ParsableArguments {
    @Option(
        help: .taking(
            "count",
            """
            Split the job into this number of shards, and write OUTPUT/manifest.json, without running anything. Cells \
            that are compared stay in one shard.
            """))
    var split: Int?

    @Flag(help: "Put the whole job into each shard, to compare machines that run one shard each.")
    var replicate = false

    @Option(
        help: .taking(
            "engine", "Print the script that runs the shards with this engine; parallel uses ssh with --hosts."))
    var engine: Engine?

    @Flag(help: "Run the script that --engine prints.")
    var submit = false

    @Option(
        help: .taking("file", "A file with the ssh hosts for --engine parallel, one per line. (default: this machine)"),
        completion: .file())
    var hosts: String?

    @Option(help: .taking("file", "Run one shard of this manifest, with --shard."), completion: .file())
    var manifest: String?

    @Option(
        help: .taking(
            "number",
            """
            The number of the shard, from 0. Each attempt writes a file with its results to OUTPUT/shards. (default of \
            --output: the manifest's folder)
            """))
    var shard: Int?

    /// True if the command runs a shard.
    var isShard: Bool { manifest != nil }

    mutating func validate() throws {
        try requireValid((manifest == nil) == (shard == nil), "--manifest and --shard: expected both or neither")
        try requireValid(
            manifest == nil || split == nil, "--manifest with --split: expected one, to run a shard or to make them")
        if let split {
            try requireValid(
                (1...Manifest.maxShardCount).contains(split),
                "--split \(split): expected 1 to \(Manifest.maxShardCount) shards")
        }
        try requireValid(
            split != nil || !replicate && engine == nil, "--replicate and --engine: expected --split with them")
        try requireValid(engine != nil || !submit, "--submit: expected --engine with it")
        try requireValid(engine == .parallel || hosts == nil, "--hosts: expected --engine parallel with it")
    }

    /// Writes a job's manifest. Then prints the commands or the script that run its shards, or runs the script.
    ///
    /// `folder` is the working folder for a subject's command.
    func write(
        _ work: Manifest.Work, parts: [Manifest.Part], program: [String], to output: String, folder: String? = nil
    ) throws {
        let count = split ?? 1
        try engine?.check(folder: FilePath(output).fromRoot.string, hosts: hosts)
        if case .search = work {
        } else {
            try require(
                replicate || count <= parts.count,
                "--split \(count): the job has \(RatioText.count(parts.count, "indivisible part")) (cells that are "
                    + "compared with each other, or a group of vectors): expected at most that number of shards, or "
                    + "--replicate")
        }
        var manifest = Manifest(
            work, parts: parts, shardCount: count, isReplicated: replicate, programVersion: Program.version,
            programDigest: try attempt { try FileDigest.programs(program) })
        manifest.folder = folder
        let file = try attempt { try ManifestFile.write(manifest, to: FilePath(output)) }
        guard let engine else {
            print("\(file.path): \(manifest.summary)")
            return print(
                "to run one: \(file.shardCommand()) 0\n"
                    + "then:       \(ShellText.joined(["chunkwise", "merge", output, "--output"])) MERGED")
        }
        Terminal.writeError("chunkwise: \(file.path): \(manifest.summary)")
        // The search path of a shell on another machine may differ. A container image has its own program.
        let program = engine == .kubernetes ? "chunkwise" : Program.path
        try engine.run(EngineJob(file, hosts: hosts, program: program), submits: submit)
    }
}

extension Manifest {
    /// `8 shards of 12 parts with 124 cells; the most work is about 4 % more than the least`.
    var summary: String {
        let shards = RatioText.count(shardCount, "shard")
        guard !parts.isEmpty else { return "\(shards), each with cases of its own" }
        let loads = (0..<shardCount).map { parts(of: $0).reduce(0) { $0 + $1.cost } }
        let spread = (loads.max() ?? 0) / max(loads.min() ?? 0, .leastNormalMagnitude)
        // A part that was divided among backends counts once.
        var names = Set<String>()
        let count = parts.filter { $0.subjects == nil || names.insert($0.name).inserted }.reduce(0) { $0 + $1.count }
        return "\(shards) \(isReplicated ? "with all" : "of") \(RatioText.count(parts.count, "part")), "
            + RatioText.count(count, work.command == "sweep" ? "cell" : "vector")
            + (isReplicated
                ? "" : "; the most work is about \(Int(((spread - 1) * 100).rounded())) % more than the least")
    }
}
