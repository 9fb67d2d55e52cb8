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
            The vectors are the known answers of NIST SP 800-38A and generated ranges at every kind of edge. The
            expected bytes come from an oracle that shares only the parsed descriptions with the readers under test.
            verify checks the bytes, the errors and the ciphertext that a reader fetches.

            EXAMPLES
              chunkwise verify
              chunkwise verify --backend openssl --backend libgcrypt --format json
              chunkwise verify --vectors data/vectors/sp800-38a.json
              chunkwise verify --strategy ./mine.yml
              chunkwise verify --mutants
              chunkwise verify --tamper --subject 'python3 Examples/subjects/python_cryptography.py'
              chunkwise verify --memory --subject 'python3 Examples/subjects/python_cryptography.py'
              chunkwise verify --search 1m --seed 7
              chunkwise verify --constant-time --backend swift-bitsliced
              chunkwise verify --subject 'python3 Examples/subjects/python_cryptography.py'
              chunkwise verify --cpu-masks
              chunkwise verify --source https --backend openssl
              chunkwise verify --vectors aes_cbc_pkcs5_test.json --vectors CBCMMT128.rsp
              chunkwise verify --split 40 --output job --engine slurm
              chunkwise verify --search 1h --seed 7 --split 40 --output job
              chunkwise verify --manifest job/manifest.json --shard 0
              chunkwise verify interop data/interop

            With --split, verify divides the vectors among many machines. --manifest and --shard run one shard, and
            chunkwise merge combines the results. A shard that finishes exits with 0, whatever it found.

            EXIT CODES
              0 all passed; 1 something failed, survived or differed; 2 nothing was executed
            """),
        subcommands: [Interop.self])

    @Option(help: "A backend to test. May be repeated. (default: all)", completion: .backends)
    var backend: [String] = []

    @Option(
        help: .taking(
            "file",
            """
            A vector file to run instead of the default set: one of this project or of Wycheproof, or a NIST .rsp \
            file. May be repeated.
            """), completion: .file(extensions: ["json", "rsp"]))
    var vectors: [String] = []

    @Option(help: "The number of threads that share the work. (default: 2)")
    var threads: Int?
    /// The number of threads, by default 2.
    var threadCount: Int { threads ?? 2 }

    @Flag(help: "Mutation-test the vectors: every reader with an injected fault must fail.")
    var mutants = false

    @Flag(help: ArgumentHelp("With --mutants: load the plug-in or provider into this process.", visibility: .hidden))
    var hosted = false

    @Flag(
        help:
            """
            Tamper with ciphertexts instead: report which changes are detected, at which read, and how many wrong \
            bytes the reader delivers before that.
            """
    )
    var tamper = false

    @Flag(help: "Check memory use instead: declared limits, objects of any size, many files in a row.")
    var memory = false

    @Flag(
        help:
            """
            Check under valgrind instead that no branch or address depends on keys or plaintext. The table-driven \
            swift-reference is the control: the check must find such places in it.
            """
    )
    var constantTime = false

    @Option(
        help: .taking("time", "Compare with the oracle on random cases for this long, such as 10s or 2m."),
        transform: Duration.argument(.seconds, 0.001...1e9, needsUnit: true))
    var search: Duration?

    @Option(help: "The seed of the search; the same seed draws the same cases. (default: 1)")
    var seed: UInt64?

    @Option(name: .customLong("case"), help: "The number of the first case of the search. (default: 0)")
    var firstCase: UInt32?

    @Option(
        name: .customLong("strategy"),
        help: .taking(
            "name",
            """
            Run the vectors that are derived from this format instead of the default set: a name, or the path of a \
            description. Works with --mutants and --tamper too. May be repeated.
            """), completion: .strategies)
    var strategies: [String] = []

    @Option(
        help: .taking(
            "id", "Run only the group with this vector, or with --tamper only this strategy. May be repeated."))
    var only: [String] = []

    @Option(
        help: .taking(
            "source",
            """
            Read the ciphertext of the vectors over http or https from a server that verify starts; or the URL of a \
            folder on a server that has the files from chunkwise vectors objects.
            """))
    var source: String?

    @OptionGroup var tls: TLSOptions
    @OptionGroup var networkOptions: NetworkOptions

    @Flag(help: "Refuse a token file that users other than its owner can read, instead of warning.")
    var strict = false

    @OptionGroup var external: ExternalOptions

    @Flag(help: "Repeat the vectors in fresh processes, with the CPU features of the libraries disabled step by step.")
    var cpuMasks = false

    @Option(
        help: .taking(
            "folder",
            "Write evidence to this folder: HTML, Markdown, JSON and JUnit, with the kill matrix (takes minutes)."),
        completion: .directory)
    var evidence: String?

    @Option(
        name: .customLong("output"), help: .taking("folder", "The folder of the job, with --split or --manifest."),
        completion: .directory)
    var folder: String?

    @OptionGroup(title: "Many machines") var fleet: FleetOptions
    @OptionGroup var output: FormatOptions
    @OptionGroup var color: ColorOptions

    mutating func validate() throws {
        external.foreign = backend.filter(BackendRegistry.isForeign)
        external.subject += backend.compactMap(MeasuredProgram.command)
        backend.removeAll(where: ForeignBackend.isForeign)
        try requireValid(
            fleet.split == nil || folder != nil, "--split without --output: expected a folder for the job")
        try requireValid(
            folder == nil || fleet.split != nil || fleet.isShard, "--output: expected --split or --manifest with it")
        try requireValid(
            fleet.split == nil
                || ![mutants, tamper, memory, constantTime, cpuMasks].contains(true) && evidence == nil
                    && source == nil,
            "--split: expected vectors or --search, and neither another mode nor --evidence nor --source")
        try requireValid(
            fleet.split == nil || external.commands.count < 2,
            "--split with \(external.commands.count) --subject and --plugin: expected one, and a job for each of the "
                + "others"
        )
        try requireValid(
            fleet.split == nil || firstCase == nil && !(fleet.replicate && search != nil),
            "--case or --replicate with --search and --split: expected neither, as each shard draws cases of its own")
        try requireValid(
            fleet.split == nil && !fleet.isShard || output.format == .text,
            "--format json with --split or --manifest: expected text; chunkwise report has the merged results as JSON")
        try requireValid(
            !fleet.isShard || repeated.isEmpty && search == nil && evidence == nil && source == nil,
            "\((repeated + ["--search"])[0]) with --manifest: expected the manifest alone, which has the options")
        try requireValid(
            !fleet.isShard || ![mutants, tamper, memory, constantTime, cpuMasks, strict].contains(true),
            "another mode or --strict with --manifest: expected the manifest alone, which says what is run")
        try requireValid(
            fleet.split == nil || !external.isAsked || external.all || search != nil,
            "--split with --subject or --plugin: expected --all, as a choice of reads is made of all vectors together")
        let modes = [mutants, tamper, memory, constantTime, search != nil, cpuMasks]
        try requireValid(
            modes.filter(\.self).count < 2,
            "--mutants, --tamper, --memory, --constant-time, --search and --cpu-masks: expected at most one of them")
        try requireValid(
            !external.isAsked || backend.isEmpty && !cpuMasks && !constantTime,
            "--subject or --plugin beside --backend, --cpu-masks or --constant-time: expected it alone, for these are "
                + "about backends"
        )
        try requireValid(
            !mutants || external.subject.isEmpty && external.foreignNames.count < 2,
            "--mutants with --subject or several plug-ins: expected one backend, into whose readers faults are planted")
        try requireValid(
            source == nil || !modes.contains(true) && !external.isAsked && evidence == nil,
            "--source \(URLText.redacted(source ?? "")): expected it with vectors for the backends, and neither with "
                + "--subject, --evidence nor another mode")
        try requireValid(
            strategies.isEmpty
                || vectors.isEmpty && !memory && !constantTime && search == nil && !cpuMasks && !mutantsAreForeign,
            "--strategy: expected it with vectors of backends or programs, --tamper, or --mutants of a backend")
        try requireValid(
            search != nil || seed == nil && firstCase == nil, "--seed and --case: expected --search with them")
        try requireValid(
            !modes.contains(true) || evidence == nil && (only.isEmpty || tamper) && (vectors.isEmpty || cpuMasks),
            "--evidence, --only and --vectors: expected none of --mutants, --tamper, --memory, --constant-time and "
                + "--search with them, --tamper with --only, and --cpu-masks with --vectors")
    }

    private var mutantsAreForeign: Bool { mutants && !external.foreignNames.isEmpty }

    /// The formats that the user names; `nil` for the default set.
    private func formats() throws -> FormatVerification? {
        strategies.isEmpty ? nil : try FormatVerification(strategies)
    }

    var network: ServerAccess { ServerAccess(options: networkOptions, tls: tls) }

    func run() throws {
        let threadCount = try Validated.threads(threadCount)
        if fleet.isShard { return try VerifyShard.run(fleet, output: folder, threads: threads) }
        if mutants, hosted, let name = external.foreignNames.first {
            return try MutantVerification.run(loading: name, threadCount: threadCount, format: output.format)
        }
        try external.check()
        if fleet.split != nil { return try VerifyShard.split(self) }
        let backends = try backends()
        if constantTime {
            return try ConstantTimeVerification.run(
                backends: backends.map(\.name), format: output.format, color: color)
        }
        if memory {
            return try MemoryVerification.run(
                backends: backends, external: external, format: output.format, color: color)
        }
        let formats = try formats()
        if tamper {
            return try TamperRunning.run(
                backends: backends, external: external, formats: formats, only: only, threadCount: threadCount,
                format: output.format, color: color)
        }
        if mutants, let name = external.foreignNames.first {
            return try MutantVerification.run(
                hosting: name, threadCount: threadCount, format: output.format, color: color)
        }
        if mutants, let first = backends.first {
            return try MutantVerification.run(
                backend: formats == nil || !backend.isEmpty ? first : CombinedBackend(), formats: formats,
                threadCount: threadCount, format: output.format, color: color)
        }
        if let search {
            let subjects = try searchSubjects(backends)
            return try SearchVerification.run(
                DifferentialSearch(
                    subjects: subjects, seed: seed ?? 1, firstNumber: Int(firstCase ?? 0),
                    isInterrupted: { Interruption.wasRequested }),
                commands: external.commands, duration: search, format: output.format)
        }
        if let evidence { try EvidenceWriting.prepare(evidence) }
        let (startedAt, start) = (Program.time(), ContinuousClock.now)
        let served = try source.map { try ServedVectors($0, network, isStrict: strict) }
        if served == nil { try network.refuse("none") }
        let records = try verify(backends, served: served, threadCount: threadCount)
        switch output.format {
        case .json: print(VerifyOutput.json(records, served: served).text)
        case .text: color.show(VerifyOutput.text(records))
        }
        var tampering: [TamperRecord]?
        if let evidence {
            // The kill matrix judges the project's vectors, not a user's own.
            let matrix =
                vectors.isEmpty && strategies.isEmpty
                ? MutantVerification.matrix(
                    backend: backends[0], published: try DefaultVectors.publishedGroups(), threadCount: threadCount)
                : nil
            tampering =
                vectors.isEmpty && strategies.isEmpty && only.isEmpty
                ? try TamperRunning.records(backends: backends, external: external, threadCount: threadCount) : nil
            try EvidenceWriting.write(
                records, vectorFiles: vectors, mutants: matrix?.outcomes.map(\.evidence), tampering: tampering,
                startedAt: startedAt, seconds: Int(start.duration(to: .now) / .seconds(1)), to: evidence)
        }
        try VerifyOutput.requirePass(records, mayBeSilent: backend.isEmpty && !external.isAsked)
        if let tampering { try TamperRunning.requirePass(tampering) }
    }

    /// The options that choose what is verified, for the shards of a job.
    var repeated: [String] {
        func options(_ name: String, _ values: [String]) -> [String] { values.flatMap { [name, $0] } }
        return options("--backend", backend) + options("--vectors", vectors) + options("--strategy", strategies)
            + options("--only", only)
            + options("--subject", external.subject) + options("--plugin", external.plugin)
            + options("--backend", external.foreign) + (external.all ? ["--all"] : [])
            + (external.strictProtocol ? ["--strict-protocol"] : [])
            + (external.timeout.map { ["--timeout", TimeText.text($0)] } ?? [])
            + (fleet.isShard ? [] : threads.map { ["--threads", "\($0)"] } ?? [])
    }

    func searchSubjects(_ backends: [any CipherBackend]) throws -> [any JudgedSubject] {
        try external.isAsked ? external.searchSubjects() : Backends.subjects(backends)
    }

    /// The backends that the user names, or those of this machine. Backends without AES are among them only for vectors
    /// of all formats.
    func backends() throws -> [any CipherBackend] {
        guard backend.isEmpty else { return try backend.map { try Validated.backend($0, isForData: false) } }
        let isNarrow =
            strategies.isEmpty
            && (!vectors.isEmpty || !only.isEmpty || constantTime || memory || mutants || search != nil || cpuMasks)
        return isNarrow ? Backends.available() : Backends.available { !$0.strategyNames.isEmpty }
    }

    /// The groups of vectors that the options choose, and the number of vectors in their files whose kind is unknown.
    func groups() throws -> (groups: [VectorGroup], unsupportedCount: Int) {
        if let formats = try formats() { return (try chosen(formats.groups()), 0) }
        let files = try vectors.map { path in try attempt { try VectorFile(path: path) } }
        let groups = try chosen(files.isEmpty ? DefaultVectors.groups() : files.flatMap(\.groups))
        return (groups, files.reduce(0) { $0 + $1.unsupported.count })
    }

    /// Runs the vectors that the options choose on the subjects that they choose.
    private func verify(
        _ backends: [any CipherBackend], served: ServedVectors?, threadCount: Int
    ) throws -> [ConformanceRecord] {
        let (groups, unsupportedCount) = try groups()
        return try verify(
            backends, groups, unsupportedCount: unsupportedCount, served: served, threadCount: threadCount)
    }

    /// Runs the given vectors on the subjects that the options choose. With `isFirst`, programs also run the checks of
    /// the protocol, which belong to no group.
    func verify(
        _ backends: [any CipherBackend], _ groups: [VectorGroup], unsupportedCount: Int, served: ServedVectors? = nil,
        isFirst: Bool = true, threadCount: Int
    ) throws -> [ConformanceRecord] {
        var records: [ConformanceRecord]
        if cpuMasks {
            return try CPUMasks.verify(backend.isEmpty ? backends.map(\.name) : backend, vectors: vectors)
        } else if external.isAsked {
            records = try external.verify(groups, checksProtocol: isFirst)
        } else if let served {
            records = try served.verify(backends, groups: groups, threadCount: threadCount, all: external.all)
        } else {
            records = Backends.verify(backends, groups: groups, threadCount: threadCount, all: external.all)
        }
        for index in records.indices { records[index].unsupported += unsupportedCount }
        return backend.isEmpty && !external.isAsked ? records + Backends.notRun(groups: groups) : records
    }

    /// The groups that the options choose.
    private func chosen(_ groups: [VectorGroup]) throws -> [VectorGroup] {
        guard !only.isEmpty else { return groups }
        let chosen = groups.having(only)
        // Checks of the protocol have identifiers that no group has, and are always run.
        let isOfProtocol = only.allSatisfy { $0.hasPrefix("protocol/") || $0.hasPrefix("order/") }
        try require(
            !chosen.isEmpty || external.isAsked && isOfProtocol,
            "--only \(only.joined(separator: " ")): expected the identifier of a vector or group")
        return chosen
    }
}
