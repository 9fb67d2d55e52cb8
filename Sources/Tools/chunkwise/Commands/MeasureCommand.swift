import ArgumentParser
import BackendRegistry
import ByteSources
import Measurement
import RandomAccess
import Report
import Results
import Subject
import SubjectProtocol
import Support
import SystemPackage

/// `chunkwise measure`
struct MeasureCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "measure",
        abstract: "Measures one cell: backend, strategy, chunk, window, workload, threads.",
        discussion: helpText(
            """
            measure checks the plaintext first. Then it measures memory, latencies and several rounds of throughput,
            each in a fresh process.

            These loops are closed: a read starts when the previous one ends. With --arrival, the loop is open: the
            times of the reads are drawn beforehand, and latency counts from the time at which a read was due. The
            output also has the latency that a closed loop would report.

            EXAMPLES
              chunkwise measure --backend openssl --window 100MiB
              chunkwise measure --strategy cbc-chunked:chunk=16MB --workload random:4KiB --access chunk-cache
              chunkwise measure --source generated --object-size 64GiB --workload random:4KiB --format json
              chunkwise measure --strategy hls-aes128:segment=4MiB --workload random:64KiB
              chunkwise measure --workload trace:avplayer --access whole-chunk --window 1MiB
              chunkwise measure --workload trace:recorded.json --strategy cbc-chunked:chunk=16MB
              chunkwise measure --workload trace:ffprobe-mp4 --bit-rate 20Mbit/s --latency 20ms --bandwidth 5MB/s
              chunkwise measure --latency 20ms --bandwidth 100MB/s --window 4MiB --object-size 64MiB
              chunkwise measure --latency 20ms --client serial --workload random:64KiB --reads 50 --rounds 1
              chunkwise measure --input film.enc --key-file k --window 1MiB
              chunkwise measure --arrival 500,1000,2000 --workload random:64KiB --threads 2
              chunkwise measure --arrival fixed:2000 --workload random:64KiB --milliseconds 15s --rounds 2
              chunkwise measure --source direct --object-size 1GiB
              chunkwise measure --source https --object-size 64MiB
              chunkwise measure --subject 'python3 Examples/subjects/python_cryptography.py'
              chunkwise measure --source https://example.org/film.enc --key-file k

            EXIT CODES
              0 measured; 1 the cell failed, for instance its plaintext is wrong; 2 stopped
            """))

    @Option(
        help: """
            The crypto library; see chunkwise backends. (default: libgcrypt, or the first that has the strategy's \
            cipher)
            """,
        completion: .backends)
    var backend: String?

    @Option(
        help: .taking("library", "Measure this plug-in (absolute path) instead of a backend; see docs/plugins.md."),
        completion: .file(extensions: ["so"]))
    var plugin: String?

    @Option(
        help: .taking(
            "command",
            "Measure this program, which speaks the subject protocol, instead of a backend. It reads a file on one "
                + "thread."
        ))
    var subject: String?

    @OptionGroup var layout: StrategyOptions

    @Option(
        help: .taking("size", "The number of plaintext bytes to read and decrypt in one step. (default: 256KiB)"),
        completion: .sizes, transform: ByteSize.argument)
    var window = ByteSize(256 << 10)

    @Option(
        help:
            "sequential, random:SIZE such as random:4KiB, or trace:NAME with a name from data/traces or a file's path.",
        completion: .workloads)
    var workload = "sequential"

    @Option(help: "The number of reads in an iteration of a random workload.")
    var reads = CellWorkload.defaultReadCount

    @Option(
        help: .taking(
            "rate",
            "The bit rate of the film that the trace plays, to compute stalls of the player. (default: 8Mbit/s)"))
    var bitRate: String?

    @Option(help: "The number of threads that read in parallel.")
    var threads = 1

    @Option(
        help: ArgumentHelp(
            "How the reader reads a range: only the blocks it needs, whole chunks with or without a cache for the "
                + "latest, or each window through new buffers."))
    var access = AccessPolicy.block

    @Option(
        help:
            "The key length in bits of a generated object, such as 256. (default: the usual one of the strategy)",
        completion: .list(["128", "192", "256"]))
    var keySize: Int?

    @Option(
        help: .taking("size", "The plaintext size of a generated object. (default: 256MiB)"), completion: .sizes,
        transform: ByteSize.argument)
    var objectSize: ByteSize?

    @Option(
        help:
            """
            Where the ciphertext comes from: file; mmap, the same file mapped; direct or uring (io_uring), the file \
            without the page cache; http or https, a server that measure starts; generated, made during the read, of \
            any size; or the URL of an object of yours, with --key-file and --iv. (default: file)
            """)
    var source: String?

    @OptionGroup var tls: TLSOptions
    @OptionGroup var networkOptions: NetworkOptions

    @Flag(
        help:
            """
            Drop the file from the page cache before each iteration. The result says how much of it stayed, or that a \
            cache below this system has it.
            """)
    var cold = false

    @Option(
        help: .taking(
            "rate",
            """
            Measure an open loop with this number of reads per second over all threads, or several, separated by \
            commas: 500,1000. The prefix fixed: spaces them evenly; poisson: is the default.
            """))
    var arrival: String?

    @Option(help: .taking("time", "Simulate a remote store with this time to the first byte of an answer."))
    var latency: String?

    @Option(
        help: .taking("rate", "The bandwidth of each connection to the simulated store, such as 100MB/s or 800Mbit/s."))
    var bandwidth: String?

    @Option(
        help: .taking(
            "client",
            """
            The client of the simulated store. serial makes one request after the other. The other client, \
            this program's reader of URLs, opens an object in one round trip and reads ahead over several \
            connections. (default: the reader of URLs; serial for playlists)
            """))
    var client: RemoteClient?

    @Option(help: .taking("file", "Measure this file of yours, with --key-file and --iv."), completion: .file())
    var input: String?

    @OptionGroup var ivOptions: IVOptions
    @OptionGroup var ciphertext: CiphertextOptions
    @OptionGroup var keyOptions: KeyOptions

    @Option(help: "The number of fresh processes to time.")
    var rounds = 5

    @Option(
        help: .taking(
            "time",
            """
            The minimum time to measure in each process, but at least one iteration: milliseconds, or a time such as \
            2s. (default: 200ms)
            """), transform: Duration.argument(.milliseconds, 1...600_000))
    var milliseconds = Duration.milliseconds(200)

    @Option(help: "The seed of random offsets.")
    var seed: UInt64 = 1

    @OptionGroup var cgroup: CgroupOptions
    @OptionGroup var output: FormatOptions

    var network: ServerAccess { ServerAccess(options: networkOptions, tls: tls) }

    func run() throws {
        // The measured processes get the user's key too.
        if keyOptions.isGiven { CoreDumps.disable() }
        let cgroups = try cgroup.find()
        let object = try inputObject()
        var plan = Plan(text: "", seed: seed, roundNanoseconds: UInt64(milliseconds / .nanoseconds(1)), cells: [])
        let strategy = try object?.strategy.unbound ?? layout.measuredStrategy()
        plan.strategies = [strategy.text: strategy]
        plan.cells = [PlannedCell(cell: try cell(object, strategy, traces: &plan.traces), rounds: rounds)]
        if let bitRate {
            guard let rate = TimeText.bitsPerSecond(bitRate) else {
                throw CommandFailure(.usage, "--bit-rate \(bitRate): expected \(TimeText.bitRateExpectation)")
            }
            try require(!plan.traces.isEmpty, "--bit-rate \(bitRate): expected it with --workload trace:NAME")
            plan.bitsPerSecond = rate
        }
        if let arrival { return try measureOpenLoop(arrival, plan, on: object) }
        // Before the folder exists, so that Ctrl-C always removes it.
        Interruption.install()
        let folder = try attempt { try RunFolder.temporary() }
        defer { folder.removeTemporary() }
        if object == nil, let shortage = SpaceCheck.shortage(of: plan.cells, in: folder) {
            throw CommandFailure(.usage, "--\(shortage.message)")
        }
        let results = try SweepRunning.run(plan, in: folder, input: object, cgroups: cgroups)
        try require(results.isComplete, .noAnswer, "stopped before the end")
        if let reason = results.cells.first?.failure { throw CommandFailure(.no, reason) }
        guard let measured = results.cells.first else { throw CommandFailure(.noAnswer, "nothing was measured") }
        let summary = CellSummary(measured, limits: results.header.limits)
        output.show(summary.text, json: summary.json)
    }

    mutating func validate() throws {
        guard (1...1000).contains(rounds) else { throw ValidationError("--rounds \(rounds): expected 1 to 1000") }
        guard (1...1_000_000).contains(reads) else { throw ValidationError("--reads \(reads): expected 1 to 1000000") }
        if input != nil, keySize != nil || objectSize != nil {
            throw ValidationError("--key-size and --object-size: expected none of them with --input")
        }
        if input != nil, source != nil, !kind.isFile || kind.isServed || url != nil {
            throw ValidationError("--source: expected file, mmap, direct or uring with --input")
        }
        if let url, keySize != nil || objectSize != nil {
            throw ValidationError(
                "--key-size and --object-size: expected none of them with --source \(URLText.redacted(url))")
        }
        if let source, url == nil, ObjectKind(rawValue: source) == nil {
            let known = ObjectKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--source \(URLText.redacted(source)): expected \(known) or a URL")
        }
        if input == nil, url == nil, keyOptions.isAnyGiven || ivOptions.iv != nil || ciphertext.asIs {
            throw ValidationError(
                "--key-file, --key-hex, --key-encoding, --iv and --as-is: expected them only with --input or a URL")
        }
        try requireValid(
            arrival == nil || !cold, "--arrival: expected it without --cold, which drops a file between reads")
        try requireValid(
            [plugin, subject, backend].compactMap(\.self).count < 2,
            "--backend, --plugin and --subject: expected at most one of them")
        try requireValid(subject?.isEmpty != true, "--subject without a command: expected a program")
        try requireValid(arrival == nil || bitRate == nil, "--arrival: expected it without --bit-rate")
        try requireValid(seed < 1 << 53, "--seed \(seed): expected a number below 2^53")
    }

    /// The URL in `--source`; `nil` if it has none.
    private var url: String? { source.flatMap { RemoteObject.isURL($0) ? $0 : nil } }

    /// The kind of a generated object: its source.
    private var kind: ObjectKind { url == nil ? source.flatMap { ObjectKind(rawValue: $0) } ?? .file : .file }

    /// The server with the options of its requests; `nil` for another source.
    private var server: RemoteObject? {
        url.map(network.publicObject)
            ?? (kind.isServed ? network.adjusted(RemoteObject(url: "\(kind.rawValue)://")) : nil)
    }

    private func inputObject() throws -> MeasuredObject? {
        let own = OwnObject(
            layout: layout, ivOptions: ivOptions, keyOptions: keyOptions, ciphertext: ciphertext)
        if let url { return try own.served(url, network).object }
        if kind.isServed { try network.refuseTrust(kind.rawValue) } else { try network.refuse(kind.rawValue) }
        guard let input else {
            if kind.isServed { _ = try Network.required() }
            return nil
        }
        return try own.file(input)
    }

    private func cell(
        _ object: MeasuredObject?, _ strategy: Strategy, traces: inout [String: PlayerTrace]
    ) throws -> Cell {
        let backend =
            try plugin.map { BackendRegistry.pluginPrefix + $0 } ?? subject.map { MeasuredProgram.prefix + $0 }
            ?? self.backend ?? BackendOptions.usualName(for: object?.strategy ?? layout.measuredStrategy())
        let made = try Validated.backend(backend, isForData: false)
        let windowByteCount = try Validated.window(window)
        try require(windowByteCount <= 256 << 20, "--window \(window): expected at most 256MiB for a measurement")
        let recorded = try recordedTrace()
        guard let parsed = recorded.map({ .trace($0.name) }) ?? CellWorkload(workload) else {
            throw CommandFailure(.usage, "--workload \"\(workload)\": expected \(CellWorkload.expectation)")
        }
        if layout.isPlaylist { try checkPlaylist() }
        let objectByteCount = object?.plaintextByteCount ?? (objectSize ?? ByteSize(256 << 20)).byteCount
        try require(objectByteCount > 0, "--object-size 0: expected 1 byte at least, to be measured")
        if object == nil, let expected = try? strategy.expectation(ofPlaintext: objectByteCount) {
            throw CommandFailure(.usage, "--object-size \(objectByteCount): expected \(expected)")
        }
        if case .random(let rangeByteCount) = parsed, rangeByteCount > objectByteCount {
            throw CommandFailure(
                .usage, "--workload \(workload): expected ranges within the object's \(objectByteCount) bytes")
        }
        var cell = Cell(
            backend: backend, strategy: "", windowByteCount: UInt64(windowByteCount),
            workload: parsed.description, readCount: parsed == .sequential ? nil : reads, access: access,
            threads: try Validated.threads(threads, window: window), objectByteCount: objectByteCount,
            source: server?.source ?? kind.rawValue)
        cell.connection = server?.connection
        cell.keyByteCount = try object?.keyByteCount ?? keyByteCount(strategy)
        cell.adopt(strategy)
        if !ForeignBackend.isForeign(backend) {
            try BackendOptions.check(made, for: strategy, keyByteCount: cell.keyByteCount)
        }
        if case .trace(let name) = parsed {
            traces[name] = try Self.trace(name, recorded, cell)
            cell.readCount =
                traces[name]?.reads(
                    objectByteCount: objectByteCount, windowByteCount: cell.windowByteCount)?.count
        }
        if cold, kind != .file || url != nil {
            throw CommandFailure(
                .usage, "--cold: expected it with --source file, found \(cell.source), whose bytes no cache drops")
        }
        if latency != nil || bandwidth != nil, kind == .mmap || kind.isDirect {
            throw CommandFailure(.usage, "--source \(kind.rawValue): expected it without --latency and --bandwidth")
        }
        cell.isCold = cold ? true : nil
        try addStore(to: &cell)
        if let command = MeasuredProgram.command(of: backend) {
            let obstacle = arrival == nil ? MeasuredProgram.obstacle(to: cell) : "arrival: expected none"
            if let obstacle { throw CommandFailure(.usage, "--subject \(command) with \(obstacle)") }
        }
        return cell
    }

    /// Refuses the accesses and sources that do not work with a playlist.
    private func checkPlaylist() throws {
        try require(access == .block, "--access \(access.rawValue): expected block with \(layout.strategy)")
        try require(
            kind == .file || kind == .generated,
            "--source \(kind.rawValue): expected file or generated with \(layout.strategy)")
    }

    /// The key's length in bytes. Some strategies have only one.
    private func keyByteCount(_ strategy: Strategy) throws -> Int {
        let known = strategy.keyByteCounts
        guard let keySize else { return known[0] }
        guard let byteCount = known.first(where: { $0 * 8 == keySize }) else {
            let bits = known.map { "\($0 * 8)" }.joined(separator: ", ")
            throw CommandFailure(.usage, "--key-size \(keySize): expected \(bits) with this \(strategy.name)")
        }
        return byteCount
    }

    /// Adds the simulated remote store to a cell.
    private func addStore(to cell: inout Cell) throws {
        guard latency != nil || bandwidth != nil else {
            return try require(client == nil, .usage, "--client: expected it with --latency or --bandwidth")
        }
        try require(
            !layout.isPlaylist || client != .chunkwise, .usage, "--client: expected serial with \(layout.strategy)")
        let link = try Validated.link(latency: latency, bandwidth: bandwidth)
        cell.remoteLatencyNanoseconds = link.latencyNanoseconds
        cell.remoteBytesPerSecond = link.bytesPerSecond
        cell.remoteClient = (client ?? (layout.isPlaylist ? .serial : .usual)).rawValue
    }

    /// The trace in the file that `--workload` names; `nil` if it names no file.
    private func recordedTrace() throws -> PlayerTrace? {
        let path = String(workload.dropFirst("trace:".count))
        guard workload.hasPrefix("trace:"), Traces.isPath(path) else { return nil }
        return try attemptInput { try Traces.read(path) }
    }

    /// The trace that a cell replays.
    private static func trace(_ name: String, _ recorded: PlayerTrace?, _ cell: Cell) throws -> PlayerTrace {
        let found = try attempt { try recorded ?? Traces.find(name) }
        let trace = try require(found, .usage, "--workload trace:\(name): expected the name of a file in data/traces")
        try require(
            trace.minByteCount <= cell.objectByteCount,
            "--workload trace:\(name): expected an object of at least \(trace.minByteCount) bytes")
        try require(
            trace.reads(objectByteCount: cell.objectByteCount, windowByteCount: cell.windowByteCount) != nil,
            "--window \(cell.windowByteCount): expected at most \(PlayerTrace.maxReads) reads of the trace")
        return trace
    }
}
