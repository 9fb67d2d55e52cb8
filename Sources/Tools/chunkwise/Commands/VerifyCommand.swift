import ArgumentParser
import BackendRegistry
import ByteSources
import Conformance
import Measurement
import RandomAccess
import Report
import Results
import Support
import Vectors

/// `chunkwise verify`
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Runs range-read vectors against the backends.",
        discussion: helpText(
            """
            The vectors are known answers, and generated ranges at every kind of edge. The expected bytes come from an
            oracle that shares only the parsed descriptions with the readers under test. --help-hidden also lists the
            options for servers (--source) and for many machines (--split, --manifest).

            EXAMPLES
              chunkwise verify --backend openssl --backend libgcrypt --format json
              chunkwise verify --vectors aes_cbc_pkcs5_test.json --vectors CBCMMT128.rsp
              chunkwise verify --strategy ./mine.yml
              chunkwise verify --subject ./mine --only seal
              chunkwise verify --source https --backend openssl
              chunkwise verify --split 40 --output job --engine slurm

            EXIT CODES
              0 all passed, or a shard finished; 1 something failed; 2 nothing was run
            """),
        subcommands: [
            Mutants.self, Tamper.self, Search.self, Memory.self, ConstantTime.self, Interop.self,
        ])

    @OptionGroup var tested: TestedSubjects

    @Option(
        help: .taking(
            "file", "Vectors to run instead: of this project, of Wycheproof, or a NIST .rsp file. May be repeated."),
        completion: .file(extensions: ["json", "rsp"]))
    var vectors: [String] = []

    @OptionGroup var formats: TestedFormats

    @Option(
        help: .taking(
            "id", "Run only the group with this vector, groups whose ids begin so, or a format's. May be repeated."))
    var only: [String] = []

    @Flag(help: "Run all vectors: also long reads on slow backends, and for a subject all instead of a selection.")
    var all = false

    @Flag(help: "Also fail a subject for protocol errors, such as wrong replies to invalid requests.")
    var strictProtocol = false

    @Flag(help: "Repeat with CPU features disabled step by step.")
    var cpuMasks = false

    @Option(
        help: .taking("source", "Read ciphertext over http or https from a server that verify starts, or from a URL."))
    var source: String?

    @OptionGroup(visibility: .hidden) var tls: TLSOptions
    @OptionGroup(visibility: .hidden) var networkOptions: NetworkOptions

    @Flag(
        help: ArgumentHelp(
            "Refuse a token file that users other than its owner can read, instead of warning.", visibility: .hidden))
    var strict = false

    @Option(
        help: .taking("folder", "Write pages, JSON and JUnit here (takes minutes)."),
        completion: .directory)
    var evidence: String?

    @OptionGroup var threads: VerifyThreads
    @OptionGroup(title: "Many machines", visibility: .hidden) var job: VerifyJobOptions
    @OptionGroup var output: VerifyOutputOptions

    func validate() throws {
        let masks = ("--cpu-masks", cpuMasks)
        let served = ("--source", source != nil)
        let formats = ("--strategy", !formats.names.isEmpty)
        let subject = ("--subject or --plugin", tested.isAsked)
        let exclusions = [
            [
                ("--split", job.isAsked), ("--manifest", job.fleet.isShard), masks, served,
                ("--evidence", evidence != nil),
            ],
            [masks, subject], [masks, formats], [masks, ("--only", !only.isEmpty)], [served, subject],
            [formats, ("--vectors", !vectors.isEmpty)],
        ]
        for names in exclusions.map({ $0.filter(\.1).map(\.0) }) {
            try requireValid(names.count < 2, "\(names.joined(separator: " with ")): expected one of them")
        }
        try requireValid(
            !job.fleet.isShard || words.isEmpty && !strict,
            "\((words + ["--strict"])[0]) with --manifest: expected the manifest alone, which has the options")
        try job.validate(for: tested, output.format)
        try requireValid(
            !job.isAsked || !tested.isAsked || all,
            "--split with --subject or --plugin: expected --all, as a choice of reads is made of all vectors together")
    }

    var network: ServerAccess { ServerAccess(options: networkOptions, tls: tls) }

    func run() throws {
        if job.fleet.isShard { return try VerifyShard.run(job, threads: threads.threads) }
        let threadCount = try threads.count
        try tested.check()
        if job.isAsked { return try VerifyShard.split(self) }
        let backends = try backends()
        if let evidence { try EvidenceWriting.prepare(evidence) }
        let (startedAt, start) = (Program.time(), ContinuousClock.now)
        let served = try source.map { try ServedVectors($0, network, isStrict: strict) }
        if served == nil { try network.refuse("none") }
        let (groups, unsupportedCount) = try groups()
        let records = try verify(
            backends, groups, unsupportedCount: unsupportedCount, served: served, threadCount: threadCount)
        output.show(VerifyOutput.text(records), json: VerifyOutput.json(records, served: served))
        var tampering: [TamperRecord]?
        if let evidence {
            // The kill matrix judges the project's vectors, not a user's own.
            let matrix =
                vectors.isEmpty && formats.names.isEmpty
                ? MutantVerification.matrix(
                    backend: backends[0], published: try DefaultVectors.publishedGroups(), threadCount: threadCount)
                : nil
            tampering =
                vectors.isEmpty && formats.names.isEmpty && only.isEmpty
                ? try TamperRunning.records(tested, threadCount: threadCount) : nil
            try EvidenceWriting.write(
                records, vectorFiles: vectors, mutants: matrix?.outcomes.map(\.evidence), tampering: tampering,
                startedAt: startedAt, seconds: Int(start.duration(to: .now) / .seconds(1)), to: evidence)
        }
        try VerifyOutput.requirePass(records, mayBeSilent: usesAllBackends)
        if let tampering { try TamperRunning.requirePass(tampering) }
    }

    /// The options that choose what is verified as words, for the shards of a job.
    var words: [String] {
        func options(_ name: String, _ values: [String]) -> [String] { values.flatMap { [name, $0] } }
        return tested.words + options("--vectors", vectors) + options("--strategy", formats.names)
            + options("--only", only) + (all ? ["--all"] : []) + (strictProtocol ? ["--strict-protocol"] : [])
            + (job.fleet.isShard ? [] : threads.threads.map { ["--threads", "\($0)"] } ?? [])
    }

    /// The backends that the user names, or those of this machine. Backends without AES are among them only for vectors
    /// of all formats.
    func backends() throws -> [any CipherBackend] {
        try tested.own.backends(all: !formats.names.isEmpty || vectors.isEmpty && only.isEmpty && !cpuMasks)
    }

    /// The groups of vectors that the options choose, and the number of vectors in their files whose kind is unknown.
    func groups() throws -> (groups: [VectorGroup], unsupportedCount: Int) {
        if let formats = try formats.formats() { return (try chosen(formats.groups()), 0) }
        let files = try vectors.map { path in try attempt { try VectorFile(path: path) } }
        let groups = try chosen(files.isEmpty ? DefaultVectors.groups() : files.flatMap(\.groups))
        return (groups, files.reduce(0) { $0 + $1.unsupported.count })
    }

    /// Runs the given vectors on the subjects that the options choose. With `isFirst`, programs also run the checks of
    /// the protocol, which belong to no group.
    func verify(
        _ backends: [any CipherBackend], _ groups: [VectorGroup], unsupportedCount: Int, served: ServedVectors? = nil,
        isFirst: Bool = true, threadCount: Int
    ) throws -> [ConformanceRecord] {
        var records: [ConformanceRecord]
        if cpuMasks {
            return try CPUMasks.verify(
                tested.own.backend.isEmpty ? backends.map(\.name) : tested.own.backend, vectors: vectors)
        } else if tested.isAsked {
            records = try tested.verify(groups, checksProtocol: isFirst, all: all, isStrict: strictProtocol)
        } else if let served {
            records = try served.verify(backends, groups: groups, threadCount: threadCount, all: all)
        } else {
            records = Backends.verify(backends, groups: groups, threadCount: threadCount, all: all)
        }
        for index in records.indices { records[index].unsupported += unsupportedCount }
        return usesAllBackends ? records + Backends.notRun(groups: groups) : records
    }

    /// True if the user named nothing to test.
    private var usesAllBackends: Bool { tested.own.backend.isEmpty && !tested.isAsked }

    /// The groups that the options choose.
    private func chosen(_ groups: [VectorGroup]) throws -> [VectorGroup] {
        guard !only.isEmpty else { return groups }
        let chosen = groups.having(only)
        // Checks of the protocol have identifiers that no group has, and are always run.
        let isOfProtocol = only.allSatisfy { $0.hasPrefix("protocol/") || $0.hasPrefix("order/") }
        try require(
            !chosen.isEmpty || tested.isAsked && isOfProtocol,
            "--only \(only.joined(separator: " ")): expected the id of a vector or group, or a format")
        return chosen
    }
}
