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
            "Run nothing: split the job into so many shards, and write OUTPUT/manifest.json, which says what each holds. What is compared is never split."
        ))
    var split: Int?

    @Flag(help: "Give each shard everything, to run one on each of several machines and compare these.")
    var replicate = false

    @Option(
        help: .taking(
            "engine", "What runs the shards: print the script for it; parallel goes over ssh with --hosts."))
    var engine: Engine?

    @Flag(help: "Run what --engine prints.")
    var submit = false

    @Option(
        help: .taking("file", "The hosts of --engine parallel, one a line as ssh takes them. (default: this machine)"),
        completion: .file())
    var hosts: String?

    @Option(help: .taking("file", "Run one shard of this manifest, with --shard."), completion: .file())
    var manifest: String?

    @Option(
        help: .taking(
            "number",
            "The shard, from 0. Its results come into OUTPUT/shards, a file an attempt. (default of --output: the manifest's folder)"
        ))
    var shard: Int?

    /// Whether a shard is to be run.
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

    /// Writes a job's manifest, and says what is to be run, or runs it.
    ///
    /// `folder` is where a subject's command is to be run.
    func write(
        _ work: Manifest.Work, parts: [Manifest.Part], program: [String], to output: String, folder: String? = nil
    ) throws {
        let count = split ?? 1
        try engine?.check(folder: FilePath(output).fromRoot.string, hosts: hosts)
        if case .search = work {
        } else {
            try require(
                replicate || count <= parts.count,
                "--split \(count): what must not be split is \(RatioText.count(parts.count, "part")) (cells that are compared with each "
                    + "other, or a group of vectors): expected at most as many shards, or --replicate")
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
        // A shell on another machine may look for programs elsewhere; an image has its own.
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
