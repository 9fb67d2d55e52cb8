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

/// `chunkwise plan`
struct PlanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Computes, in seconds, the chunk size, strategy and window that suit a storage system.",
        discussion: helpText(
            """
            The readers read a simulated object through the chosen client. A simulated clock advances by the latency of
            each answer, the transfer of its bytes and their decryption. Only decryption and system calls are timed,
            from memory. plan prints the choice, the effect of one step in each direction, and the best formats and
            chunk sizes; --all prints every one. Formats that cannot be computed are counted, with the reasons.

            The client is either chunkwise, this program's reader of URLs, which opens an object in one round trip and
            reads ahead over several connections, or serial, which makes one request after the other. The bandwidth is
            that of one connection.

            plan considers the configurations that detect changes and fit the memory. It keeps those whose 90th
            percentile of the read time is within 5 % of the fastest. Among these it takes the one with the least
            memory, then the fewest bytes fetched, then the fastest download. With --integrity none, it considers all
            formats. Measure the choice with chunkwise measure --latency --bandwidth.

            An option whose value is in the plural, such as <sizes>, takes a list, separated by commas. Several objects,
            latencies, bandwidths or clients are separate questions; several values of other options are compared.

            EXAMPLES
              chunkwise plan
              chunkwise plan --latency 0ms,1ms,20ms,80ms --bandwidth 100MB/s
              chunkwise plan --object-size 4GB --latency 20ms --bandwidth 100MB/s --memory 64MiB
              chunkwise plan --latency 20ms --bandwidth 100MB/s --read-size 64KiB,1MiB --output plan
              chunkwise plan --object-size 1MB,20MB,4GB --latency 5ms,30ms --bandwidth 50MB/s
              chunkwise plan --latency 30ms --bandwidth 50MB/s --client serial --integrity none
              chunkwise plan --strategies cbc-chunked --chunks 1MiB,16MB --integrity none
              chunkwise plan --strategies cobblestone-128,tink-aes-gcm-hkdf --format json
              chunkwise plan --strategies gocryptfs,cbc-chunked:iv-rule=fixed --integrity none

            EXIT CODES
              0 a choice; 1 nothing fits the memory, or detects changes; 64 usage; 74 the folder cannot be written
            """))

    @Option(help: .taking("sizes", "The object size, or several. (default: 1GiB)"), completion: .sizes)
    var objectSize: String?

    @Option(
        help: .taking("times", "The time from a request to the first byte of its answer, or several. (default: none)"))
    var latency: String?

    @Option(
        help: .taking(
            "rates", "The bandwidth of a connection, such as 100MB/s or 800Mbit/s, or several. (default: any)"))
    var bandwidth: String?

    @Option(
        help: .taking(
            "clients", "The storage client: chunkwise or serial, or both. (default: \(RemoteClient.usual.rawValue))"),
        completion: .list(RemoteClient.allCases.map(\.rawValue)))
    var client: String?

    @Option(
        help: .taking("size", "The maximum memory of a reader with its client and its buffer. (default: any)"),
        completion: .sizes, transform: ByteSize.argument)
    var memory: ByteSize?

    @Option(
        help: .taking(
            "need", "noticed: only formats whose readers detect changes; none: all formats. (default: noticed)"),
        completion: .list(["noticed", "none"]))
    var integrity: String?

    @Option(
        help: .taking("sizes", "Read sizes; the first one decides. (default: \(Self.usualReads))"),
        completion: .sizes)
    var readSize: String?

    @Option(help: .taking("sizes", "Chunk sizes, for strategies that do not fix theirs."), completion: .sizes)
    var chunks = "16KiB,64KiB,256KiB,1MiB,4MiB,16MB,100MiB"

    @Option(help: .taking("sizes", "Windows: the maximum number of bytes to decrypt in one step."), completion: .sizes)
    var windows = "64KiB,256KiB,1MiB,4MiB"

    @Option(
        help: .taking(
            "names",
            "Strategies: names or paths of descriptions, with or without parameters. (default: each known format, the "
                + "first of its variants)"
        ),
        completion: .list(Format.names))
    var strategies: String?

    @Flag(help: "Print all formats, and not only the best.")
    var all = false

    @Option(
        help: .taking("bits", "AES key sizes: 128, 256 or both. (default: 128, if the strategy has it)"),
        completion: .list(["128", "256"]))
    var keySize: String?

    @Option(
        help: .taking("names", "How a reader reads chunks: block, chunk-cache, whole-chunk, fresh-buffers."),
        completion: .list(AccessPolicy.allCases.map(\.rawValue)))
    var accesses = "block,chunk-cache"

    @Option(
        help: .taking(
            "names",
            "The crypto library, or several; see chunkwise backends. (default: libgcrypt, and others for what it lacks)"
        ), completion: .backends)
    var backend: String?

    @Option(help: "The seed of the offsets.")
    var seed: UInt64 = 1

    @Option(help: .taking("folder", "Also write a page with charts to this folder."), completion: .directory)
    var output: String?

    @OptionGroup var format: FormatOptions

    private static let usualReads = "64KiB,4KiB,1MiB"
    private static let maxQuestions = 64

    func run() throws {
        let questions = try inputs()
        let plans = try questions.map { inputs in try attempt { try ComputedPlan(inputs) } }
        let report = PlanReport(plans, defaults: defaults)
        if let output { try ReportWriting.write(report.files, to: FilePath(output)) }
        format.show(report.text(isWhole: all), json: report.json)
        if !report.hasChoice { throw ExitCode(1) }
    }

    private var defaults: Set<PlanReport.Input> {
        let given: [PlanReport.Input: String?] = [
            .object: objectSize, .client: client, .library: backend, .key: keySize, .reads: readSize,
            .integrity: integrity,
        ]
        return Set(PlanReport.Input.allCases.filter { given[$0] == .some(nil) })
    }

    /// The questions: one for each object, latency, bandwidth and client.
    private func inputs() throws -> [PlanInputs] {
        let objects = try Self.sizes(objectSize ?? "1GiB", "--object-size", 0...(1 << 60))
        let links = try links()
        try require(
            client == nil || latency != nil || bandwidth != nil,
            "--client: expected it with --latency or --bandwidth")
        let clients = try Self.list(client ?? RemoteClient.usual.rawValue, "--client", "chunkwise or serial") {
            RemoteClient(rawValue: $0)
        }
        let keys = try Self.list(keySize ?? "", "--key-size", "128 or 256", mayBeEmpty: keySize == nil) {
            ["128": 16, "256": 32][$0]
        }
        let chosen = try chosenStrategies()
        let wantsIntegrity = try require(
            ["noticed": true, "none": false][integrity ?? "noticed"], .usage,
            "--integrity \(integrity ?? ""): expected noticed or none")
        let first = PlanInputs(
            objectByteCount: objects[0], link: nil, client: clients[0], strategies: chosen, keyByteCounts: keys,
            chunkByteCounts: try Self.sizes(chunks, "--chunks", 1...(1 << 30)),
            accesses: try Self.list(accesses, "--accesses", "a list such as block,chunk-cache") {
                AccessPolicy(rawValue: $0)
            },
            windowByteCounts: try Self.sizes(windows, "--windows", 1...(256 << 20)),
            rangeByteCounts: try Self.sizes(readSize ?? Self.usualReads, "--read-size", 1...Workload.largestRead),
            libraries: [], memoryBudget: memory?.byteCount, wantsIntegrity: wantsIntegrity, seed: seed)
        var questions: [PlanInputs] = []
        for object in objects {
            for link in links {
                // A local object has no client, so that one question is enough.
                for client in link == nil ? [clients[0]] : clients {
                    var inputs = first
                    (inputs.objectByteCount, inputs.link, inputs.client) = (object, link, client)
                    questions.append(inputs)
                }
            }
        }
        try require(
            questions.count <= Self.maxQuestions,
            "--object-size, --latency, --bandwidth and --client: expected at most \(Self.maxQuestions) questions, "
                + "found \(questions.count)")
        // The slowest step comes last, after all checks.
        let libraries = try libraries(PlanInputs.ciphers(strategies: chosen, keyByteCounts: keys))
        for index in questions.indices { questions[index].libraries = libraries }
        return questions
    }

    private func chosenStrategies() throws -> [PlanInputs.Chosen] {
        guard let strategies else {
            // The variants of a format share its description.
            var texts: Set<[UInt8]> = []
            return try attempt {
                try Format.known.filter { texts.insert($0.text).inserted }.map { try PlanInputs.Chosen($0) }
            }
        }
        // A comma separates strategies, and also the parameters of one strategy.
        var texts: [String] = []
        for word in try Self.words(strategies, "--strategies").compactMap(\.self) {
            if let last = texts.last, last.contains(":"), word.contains("="), !word.contains(":") {
                texts[texts.count - 1] = "\(last),\(word)"
            } else if !texts.contains(word) {
                texts.append(word)
            }
        }
        return try texts.map { text in
            let word = String(text.prefix { $0 != ":" })
            let format = try FormatFiles.format(word)
            return try attempt("--strategies \(text)") {
                try PlanInputs.Chosen(format, written: text.dropFirst(word.count))
            }
        }
    }

    /// The libraries with the ciphers that each has. Without a name, it is libgcrypt, and for each cipher that it lacks
    /// the first other library.
    private func libraries(_ ciphers: Set<DecryptionRates.KeyedCipher>) throws -> [PlanInputs.Library] {
        let usual = ["libgcrypt"] + BackendRegistry.availableNames.filter { $0 != "libgcrypt" }
        let names = try backend.map { try Self.list($0, "--backend", "a list such as libgcrypt,openssl") { $0 } }
        var missing = ciphers
        return try (names ?? usual).compactMap { name in
            if names == nil, missing.isEmpty { return nil }
            let cipher = try Validated.backend(name)
            let own = (names == nil ? missing : ciphers).filter {
                cipher.supports($0.cipher, keyByteCount: $0.keyByteCount, hmac: $0.hmac)
            }
            missing.subtract(own)
            if own.isEmpty, names == nil { return nil }
            return PlanInputs.Library(
                name: name, copyCount: UInt64(cipher.copyCountPerCall),
                rates: try attempt(name) { try DecryptionRates.measured(cipher, own) })
        }
    }

    /// The distances: `nil` for none.
    private func links() throws -> [RemoteLink?] {
        guard latency != nil || bandwidth != nil else { return [nil] }
        var links: [RemoteLink?] = []
        for latency in try latency.map({ try Self.words($0, "--latency") }) ?? [nil] {
            for bandwidth in try bandwidth.map({ try Self.words($0, "--bandwidth") }) ?? [nil] {
                let link = try Validated.link(latency: latency, bandwidth: bandwidth)
                // A link without latency and with any bandwidth is the same as none.
                links.append(link.latencyNanoseconds == 0 && link.bytesPerSecond == nil ? nil : link)
            }
        }
        return links
    }

    private static func words(_ text: String, _ option: String) throws -> [String?] {
        let words = text.split(separator: ",", omittingEmptySubsequences: false).map {
            String($0.trimmingPrefix(" "))
        }
        try require(words.count <= 32, "\(option): expected at most 32 of them")
        return words
    }

    private static func list<Value: Hashable>(
        _ text: String, _ option: String, _ expectation: String, mayBeEmpty: Bool = false, _ read: (String) -> Value?
    ) throws -> [Value] {
        if mayBeEmpty, text.isEmpty { return [] }
        var values: [Value] = []
        for word in try words(text, option).compactMap(\.self) {
            let value = try require(read(word), .usage, "\(option) \"\(word)\": expected \(expectation)")
            if !values.contains(value) { values.append(value) }
        }
        return values
    }

    private static func sizes(_ text: String, _ option: String, _ range: ClosedRange<UInt64>) throws -> [UInt64] {
        try list(text, option, "a size such as 64KiB, 16MB or 100MiB, \(Self.bounds(range))") { word in
            ByteSize(word).flatMap { range.contains($0.byteCount) ? $0.byteCount : nil }
        }
    }

    private static func bounds(_ range: ClosedRange<UInt64>) -> String {
        let upper = range.upperBound == 1 << 60 ? "1EiB" : "\(ByteSize(range.upperBound))"
        return "\(range.lowerBound == 0 ? "0 bytes" : "\(range.lowerBound) byte") to \(upper)"
    }
}
