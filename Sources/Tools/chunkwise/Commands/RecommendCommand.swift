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
        abstract: "Says which measured configuration to take under given budgets, and why.",
        discussion: helpText(
            """
            RESULTS are those of run, sweep or measure: a folder, or its results.jsonl. Each is answered on its own: figures of
            different machines or runs are never mixed.

            Of formats that notice changes one is taken, and it is said what doing without would save, and what must guard
            the file then; --integrity none chooses among all. Random reads, and so seek, are ranked by the median latency
            of a read, all else by throughput. A rule that gives every chunk one IV is taken only where --iv-rule names it.

            Of the configurations that keep all budgets, those are looked at of which it is shown, with 95 % confidence for
            all together, that none is more than 5 % faster. Of these the one with the least memory is taken, then the
            soonest first byte, then the smallest window. The runner-up is the best that differs in more than the window.

            Memory is how far the process's peak rises above what it held when the object was open. First byte is the median
            time to open the object and make the first read. Amplification is ciphertext bytes fetched per plaintext byte
            delivered. A configuration without a figure keeps no budget on it.

            Workloads may have the names that people use: download, playback, seek. What stands for them is said. Files that
            are not in the page cache, and remote stores, are chosen from only with --cold and --remote.

            EXAMPLES
              chunkwise recommend reports/2026-11-27-vm
              chunkwise recommend reports/2026-11-27-vm --memory 64MiB --throughput 1GB/s --workload playback
              chunkwise recommend reports/2026-11-27-vm --workload random:64KiB --amplification 1.1
              chunkwise recommend reports/2026-11-27-vm --strategy ctr --threads 1 --throughput 1GB/s --format json

            EXIT CODES
              0 a choice; 1 nothing fits, and what to raise is said; 2 nothing to choose from; 65 a file is damaged or of
              another schema; 66 a file is missing
            """))

    @Argument(
        help: "The results: a folder, or its results.jsonl; several are answered one by one.", completion: .file())
    var results: [String]

    @OptionGroup var budgets: BudgetOptions

    @Option(
        help: "download, playback, seek, or a measured one: sequential, random:64KiB, trace:avplayer.",
        completion: .workloadNames)
    var workload: String?

    @OptionGroup var filters: ConfigurationFilters

    @Option(help: .taking("demand", "Whether the format must notice changes, or something else guards the file."))
    var integrity = IntegrityDemand.noticed

    @Option(help: .taking("format", "How to print the result."))
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

/// How `chunkwise recommend` prints its result.
enum RecommendationFormat: String, CaseIterable, ExpressibleByArgument {
    case text
    case json
    case markdown
}

/// What a configuration must keep.
struct BudgetOptions: ParsableArguments {
    @Option(help: .taking("size", "The max rise of memory, such as 64MiB."))
    var memory: String?

    @Option(help: .taking("time", "The longest time to the first byte, such as 5ms or 20us."))
    var firstByte: String?

    @Option(help: .taking("ratio", "The max ciphertext bytes fetched per plaintext byte, such as 1.1."))
    var amplification: String?

    @Option(help: .taking("rate", "The least plaintext bytes per second, such as 1GB/s."))
    var throughput: String?

    /// Reads the options.
    func budgets() throws -> Budgets {
        Budgets(
            memoryByteCount: try value(
                memory, "--memory", "a size above 0 with its unit, such as 64KiB, 16MB or 100MiB"
            ) { text in
                // A number alone is bytes elsewhere; as a budget it is a unit that was forgotten.
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

/// Which of the measured configurations may be taken; what is not given may be anything.
struct ConfigurationFilters: ParsableArguments {
    @Option(help: "Only this crypto library.", completion: .backends)
    var backend: String?

    @Option(
        help:
            "Only this format, such as cbc-chunked, or only this strategy with its parameters, such as cbc-chunked:chunk=64KiB.",
        completion: .strategies)
    var strategy: String?

    @Option(
        help: .taking("size", "Only chunks of this length, such as 16MB."), completion: .sizes,
        transform: ByteSize.argument)
    var chunkSize: ByteSize?

    @Option(help: "Only this access.")
    var access: AccessPolicy?

    @Option(help: "Only this many threads.")
    var threads: Int?

    @Option(help: "Only keys of this many bits: 128, 192 or 256.", completion: .list(["128", "192", "256"]))
    var keySize: Int?

    @Option(help: "Only this source, such as file or mmap.", completion: .list(ObjectKind.allCases.map(\.rawValue)))
    var source: String?

    @Option(help: .taking("size", "Only objects of this length, such as 200MiB."), transform: ByteSize.argument)
    var objectSize: ByteSize?

    @Flag(help: "Choose from files that were not in the page cache.")
    var cold = false

    @Flag(help: "Choose from objects behind a simulated remote store.")
    var remote = false

    /// The text of a strategy as cells have it; a name without parameters stays what it is.
    private static func text(_ written: String) throws -> String {
        let word = String(written.prefix { $0 != ":" })
        guard let format = try FormatFiles.described(word) ?? (try? Format.measured(word)) else { return written }
        if word == written { return format.reference }
        return try attempt("--strategy \(written)") {
            try Strategy(measured: format, written: written.dropFirst(word.count)).text
        }
    }

    /// Reads the options.
    func request() throws -> RecommendationRequest {
        var request = RecommendationRequest()
        request.backend = backend
        request.strategy = try strategy.map(Self.text)
        request.chunkByteCount = chunkSize?.byteCount
        request.access = access?.rawValue
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
