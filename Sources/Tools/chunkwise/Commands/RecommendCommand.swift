import ArgumentParser
import Glibc
import Measurement
import RandomAccess
import Report
import Results
import Subject
import SubjectProtocol
import Support
import SystemPackage

/// `chunkwise recommend`
struct RecommendCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recommend",
        abstract: "Recommends a measured configuration within given budgets, with the reasons.",
        discussion: helpText(
            """
            RESULTS come from run, sweep or measure: a folder, or its results.jsonl. Each result gets its own answer;
            figures of different machines or runs are never mixed.

            recommend chooses a format that detects changes. It also prints how much a format without this would save,
            and how the file must be protected then; --integrity none chooses among all formats. Random reads, including
            seek, are ranked by the median latency of a read, everything else by throughput. A rule that gives every
            chunk the same IV is chosen only if --strategy names it, or if nothing else was measured.

            Among the configurations within all budgets, recommend keeps those for which it is shown, with 95 %
            confidence for all together, that no other is more than 5 % faster. Among these it takes the one with the
            least memory, then the earliest first byte, then the smallest window. The runner-up is the best
            configuration that differs in more than the window.

            Memory is the rise of the process's peak above its memory when the object was open. First byte is the median
            time to open the object and make the first read. Amplification is ciphertext bytes fetched per plaintext
            byte delivered. A configuration without a figure is never within a budget for it.

            A workload may be an everyday name: download, playback, seek. The output names the workload that stands for
            it. Files that are not in the page cache, and remote stores, are considered only with --cold and --remote.

            EXAMPLES
              chunkwise recommend reports/reference
              chunkwise recommend reports/reference --memory 64MiB --throughput 1GB/s --workload playback
              chunkwise recommend reports/reference --workload random:64KiB --amplification 1.1
              chunkwise recommend reports/reference --strategy ctr --threads 1 --throughput 1GB/s --format json

            EXIT CODES
              0 a choice; 1 nothing fits, and the output says which budget to raise; 2 nothing to choose from; 65 a file
              is damaged or of another schema; 66 a file is missing
            """))

    @Argument(
        help: "The results: a folder, or its results.jsonl; each gets its own answer.", completion: .file())
    var results: [String]

    @OptionGroup var budgets: BudgetOptions

    @Option(
        help: "download, playback, seek, or a measured one: sequential, random:64KiB, trace:avplayer.",
        completion: .workloadNames)
    var workload: String?

    @OptionGroup var filters: ConfigurationFilters

    @Option(help: .taking("demand", "Require a format that detects changes, or accept any format."))
    var integrity = IntegrityDemand.noticed

    @Option(help: .taking("format", "The output format."))
    var format = RecommendationFormat.text

    func run() throws {
        let request = try request()
        var recommendations: [RunRecommendation] = []
        var failures: [(name: String, error: RecommendationError)] = []
        for name in results {
            let results = try ResultFiles(name, requiringCells: false).results
            do throws(RecommendationError) {
                recommendations.append(try RunRecommendation(results, named: name, request: request))
            } catch {
                failures.append((name, error))
            }
        }
        if !recommendations.isEmpty { write(recommendations) }
        if let first = failures.first {
            throw CommandFailure(
                .init(first.error), failures.map { "\($0.name): \($0.error)" }.joined(separator: "; "))
        }
        let unfit = recommendations.filter { !$0.hasChoice }
        try require(
            unfit.isEmpty, .no,
            unfit.map { "\($0.name): \($0.reasons.prefix(2).joined(separator: " "))" }.joined(separator: "; "))
    }

    private func write(_ recommendations: [RunRecommendation]) {
        switch format {
        case .text: print(recommendations.map(\.text).joined(separator: "\n\n\n"))
        case .markdown: print(recommendations.map(\.markdown).joined(separator: "\n\n"))
        case .json:
            // One object, unless several answers were asked for.
            let json = results.count == 1 ? recommendations[0].json : RunRecommendation.json(recommendations)
            print(json.text)
        }
    }

    private func request() throws -> RecommendationRequest {
        var request = try filters.request()
        request.budgets = try budgets.budgets()
        request.integrity = integrity
        if let workload {
            guard let name = WorkloadAlias(rawValue: workload)?.rawValue ?? CellWorkload(workload)?.description else {
                let names = WorkloadAlias.allCases.map(\.rawValue).joined(separator: ", ")
                throw CommandFailure(
                    .usage, "--workload \"\(workload)\": expected \(names), or \(CellWorkload.expectation)")
            }
            request.workload = name
        }
        return request
    }
}

extension IntegrityDemand: ExpressibleByArgument {}

/// The output format of `chunkwise recommend`.
enum RecommendationFormat: String, CaseIterable, ExpressibleByArgument {
    case text
    case json
    case markdown
}

/// The budgets for a configuration.
struct BudgetOptions: ParsableArguments {
    @Option(help: .taking("size", "Maximum memory growth, such as 64MiB."))
    var memory: String?

    @Option(help: .taking("time", "Maximum time to the first byte, such as 5ms or 20us."))
    var firstByte: String?

    @Option(help: .taking("ratio", "Maximum ciphertext bytes fetched per plaintext byte, such as 1.1."))
    var amplification: String?

    @Option(help: .taking("rate", "Minimum throughput in plaintext bytes per second, such as 1GB/s."))
    var throughput: String?

    /// Parses the options.
    func budgets() throws -> Budgets {
        Budgets(
            memoryByteCount: try value(
                memory, "--memory", "a size above 0 with its unit, such as 64KiB, 16MB or 100MiB"
            ) { text in
                // Elsewhere, a number without a unit is in bytes. In a budget, the user forgot the unit.
                text.last?.isNumber == true ? nil : ByteSize(text).flatMap { $0.byteCount > 0 ? $0.byteCount : nil }
            },
            firstByteNanoseconds: try value(
                firstByte, "--first-byte", "a duration above 0 such as 20us, 2.5ms or 1s"
            ) { text in
                TimeText.nanoseconds(text).flatMap { $0 > 0 && $0 <= TimeText.Unit.days.nanoseconds ? $0 : nil }
            },
            amplification: try value(amplification, "--amplification", "a ratio above 0 such as 1.1") { text in
                let digits = text.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") }
                return digits ? Double(text).flatMap { $0 > 0 && $0 < 1e15 ? $0 : nil } : nil
            },
            bytesPerSecond: try value(
                throughput, "--throughput", TimeText.bandwidthExpectation, TimeText.bytesPerSecond))
    }

    private func value<Value>(
        _ text: String?, _ name: String, _ expected: String, _ read: (String) -> Value?
    ) throws -> Value? {
        guard let text else { return nil }
        guard let value = read(text) else { throw CommandFailure(.usage, "\(name) \"\(text)\": expected \(expected)") }
        return value
    }
}

/// The filters for measured configurations. An option that is not given allows any value.
struct ConfigurationFilters: ParsableArguments {
    @Option(help: "Only this crypto library.", completion: .backends)
    var backend: String?

    @Option(
        help:
            """
            Only this format, such as cbc-chunked, or only this strategy with its parameters, such as \
            cbc-chunked:chunk=64KiB.
            """, completion: .strategies)
    var strategy: String?

    @Option(
        help: .taking("size", "Only this chunk size, such as 16MB."), completion: .sizes,
        transform: ByteSize.argument)
    var chunkSize: ByteSize?

    @Option(help: "Only this access.")
    var access: AccessPolicy?

    @Option(help: "Only this number of threads.")
    var threads: Int?

    @Option(help: "Only this key size in bits: 128, 192 or 256.", completion: .list(["128", "192", "256"]))
    var keySize: Int?

    @Option(help: "Only this source, such as file or mmap.", completion: .list(ObjectKind.allCases.map(\.rawValue)))
    var source: String?

    @Option(help: .taking("size", "Only objects of this size, such as 200MiB."), transform: ByteSize.argument)
    var objectSize: ByteSize?

    @Flag(help: "Consider files that were not in the page cache.")
    var cold = false

    @Flag(help: "Consider objects behind a simulated remote store.")
    var remote = false

    /// The text of a strategy as it is in cells. A name without parameters stays the same.
    private static func text(_ written: String) throws -> String {
        let word = String(written.prefix { $0 != ":" })
        guard let format = try FormatFiles.described(word) ?? (try? Format.measured(word)) else { return written }
        if word == written { return format.reference }
        return try attempt("--strategy \(written)") {
            try Strategy(measured: format, written: written.dropFirst(word.count)).text
        }
    }

    /// Parses the options.
    func request() throws -> RecommendationRequest {
        var request = RecommendationRequest()
        request.backend = backend
        request.strategy = try strategy.map(Self.text)
        request.chunkByteCount = chunkSize?.byteCount
        request.access = access
        if let threads { request.threads = try Validated.threads(threads) }
        if let keySize {
            try require([128, 192, 256].contains(keySize), "--key-size \(keySize): expected 128, 192 or 256")
            request.keyByteCount = keySize / 8
        }
        request.source = source
        request.objectByteCount = objectSize?.byteCount
        request.isCold = cold
        request.isRemote = remote
        return request
    }
}
