import ArgumentParser
import BackendRegistry
import Conformance
import JSON
import RandomAccess
import Results
import Vectors

/// `chunkwise verify`
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Runs range-read vectors against the backends.",
        discussion: """
            Known answers of NIST SP 800-38A, and generated ranges at every kind of edge, whose expected bytes come from an
            oracle that shares no code with what is tested. Bytes, errors, and the ciphertext that was fetched are judged.

            EXAMPLES
              chunkwise verify
              chunkwise verify --backend openssl --backend libgcrypt --format json
              chunkwise verify --vectors data/vectors/sp800-38a.json
              chunkwise verify --mutants
              chunkwise verify --memory --subject 'python3 Examples/subjects/python_cryptography.py'
              chunkwise verify --search 1m --seed 7
              chunkwise verify --subject 'python3 Examples/subjects/python_cryptography.py'
              chunkwise verify --cpu-masks
              chunkwise verify --vectors aes_cbc_pkcs5_test.json --vectors CBCMMT128.rsp

            EXIT CODES
              0 all passed; 1 something failed, survived or differed; 2 nothing was executed
            """)

    @Option(help: "A backend to test; may stand several times. (default: all)")
    var backend: [String] = []

    @Option(
        help: ArgumentHelp(
            "A vector file to run instead of the default set: of this project, of Wycheproof, or a NIST .rsp file.",
            valueName: "file"))
    var vectors: [String] = []

    @Option(help: "How many threads share the work.")
    var threads = 2

    @Flag(help: "Test the vectors: put readers with planted faults to them, each of which must be noticed.")
    var mutants = false

    @Flag(help: "Check memory instead: declared bounds, objects of any size, files in a row.")
    var memory = false

    @Option(
        help: ArgumentHelp("Compare with the oracle at random for so long, such as 10s or 2m.", valueName: "duration"))
    var search: String?

    @Option(help: "What the search draws from; the same seed draws the same cases.")
    var seed: UInt64 = 1

    @Option(name: .customLong("case"), help: "The number of the search's first case.")
    var firstCase = 0

    @Option(
        help: ArgumentHelp(
            "Run only the group that this vector belongs to; may stand several times.", valueName: "id"))
    var only: [String] = []

    @OptionGroup var foreign: ForeignOptions

    @Flag(help: "Repeat the vectors in fresh processes, with the libraries' CPU features switched off step by step.")
    var cpuMasks = false

    @Option(
        help: ArgumentHelp(
            "A folder for the evidence: HTML, Markdown, JSON and JUnit, with the kill matrix, which takes a minute.",
            valueName: "folder"))
    var evidence: String?

    @OptionGroup var output: FormatOptions

    func run() throws {
        let threadCount = try Validated.threads(threads)
        let searchDuration = try search.map(SearchVerification.duration)
        guard !foreign.isAsked || backend.isEmpty && !cpuMasks && !mutants else {
            throw CommandFailure(
                .usage,
                "--subject beside --backend, --cpu-masks or --mutants: expected it alone, for these are about backends"
            )
        }
        guard firstCase >= 0 else { throw CommandFailure(.usage, "--case \(firstCase): expected 0 or more") }
        guard [mutants, search != nil, memory].filter(\.self).count < 2 else {
            throw CommandFailure(.usage, "--mutants, --search and --memory: expected one of them")
        }
        let backends = try backend.isEmpty ? Backends.available() : backend.map(Validated.backend)
        if memory {
            return try MemoryVerification.run(backends: backends, foreign: foreign, format: output.format)
        }
        if mutants, let first = backends.first {
            return try MutantVerification.run(backend: first, threadCount: threadCount, format: output.format)
        }
        if let searchDuration {
            let subjects = try foreign.isAsked ? foreign.searchSubjects() : Backends.subjects(backends)
            return try SearchVerification.run(
                DifferentialSearch(subjects: subjects, seed: seed, firstNumber: firstCase), commands: foreign.subject,
                duration: searchDuration, format: output.format)
        }
        if let evidence { try EvidenceWriting.prepare(evidence) }
        let files = try vectors.map { path in try attempt { try VectorFile(path: path) } }
        let groups = try chosen(files.isEmpty ? DefaultVectors.groups() : files.flatMap(\.groups))
        var records: [ConformanceRecord]
        if cpuMasks {
            records = try CPUMasks.verify(backend.isEmpty ? backends.map(\.name) : backend, vectors: vectors)
        } else if foreign.isAsked {
            records = try foreign.verify(groups)
        } else {
            records = Backends.verify(backends, groups: groups, threadCount: threadCount, all: foreign.all)
            if backend.isEmpty { records += Backends.notRun(groups: groups) }
        }
        let unsupportedCount = files.reduce(0) { $0 + $1.unsupported.count }
        for index in records.indices where !cpuMasks { records[index].unsupported += unsupportedCount }
        if let evidence {
            let matrix = try MutantVerification.matrix(backend: backends[0], threadCount: threadCount)
            try EvidenceWriting.write(
                records, vectorFiles: vectors, mutants: matrix.outcomes.map(\.evidence), to: evidence)
        }
        switch output.format {
        case .json: print(Self.json(records).text)
        case .text: print(Self.text(records))
        }
        let executed = records.reduce(0) { $0 + $1.passed + $1.failed }
        if records.contains(where: { $0.failed > 0 }) { throw ExitCode(CommandFailure.Code.no.rawValue) }
        guard executed > 0 else {
            throw CommandFailure(.noAnswer, "no vector was executed: expected at least one")
        }
        // A subject that only ever says "unsupported" has shown nothing.
        if let silent = records.first(where: { $0.passed == 0 && $0.unsupported > 0 }) {
            throw CommandFailure(
                .noAnswer, "\(silent.subject) executed no vector: expected at least one that it supports")
        }
    }

    /// The groups that are asked for.
    private func chosen(_ groups: [VectorGroup]) throws -> [VectorGroup] {
        guard !only.isEmpty else { return groups }
        let chosen = groups.having(only)
        // Checks of the protocol have identifiers that no group has, and are always run.
        let isOfProtocol = only.allSatisfy { $0.hasPrefix("protocol/") || $0.hasPrefix("order/") }
        guard !chosen.isEmpty || foreign.isAsked && isOfProtocol else {
            throw CommandFailure(
                .usage, "--only \(only.joined(separator: " ")): expected the identifier of a vector or group")
        }
        return chosen
    }

    private static func text(_ records: [ConformanceRecord]) -> String {
        var rows = [["subject", "passed", "failed", "unsupported", "not run"]]
        for record in records {
            rows.append(
                [record.subject] + [record.passed, record.failed, record.unsupported, record.notRun].map(String.init))
        }
        let flags = records.flatMap { record in
            (record.flags ?? []).filter { $0.failed > 0 }.map {
                "\(record.subject): \($0.flag): \($0.failed) of \($0.passed + $0.failed) failed"
            }
        }
        let failures = records.flatMap { record in
            record.failures.map {
                "FAILED \(record.subject): \($0.id) [\($0.flags.joined(separator: " "))]: \($0.reason)"
            }
        }
        return ([table(rows, rightAligned: [1, 2, 3, 4])] + flags + failures).joined(separator: "\n")
    }

    private static func json(_ records: [ConformanceRecord]) -> JSONValue {
        func counts(_ records: [ConformanceRecord]) -> [String: JSONValue] {
            [
                "passed": JSONValue(count: records.reduce(0) { $0 + $1.passed }),
                "failed": JSONValue(count: records.reduce(0) { $0 + $1.failed }),
                "unsupported": JSONValue(count: records.reduce(0) { $0 + $1.unsupported }),
                "notRun": JSONValue(count: records.reduce(0) { $0 + $1.notRun }),
            ]
        }
        let subjects = records.map { record -> JSONValue in
            var members = counts([record])
            members["name"] = .string(record.subject)
            members["failures"] = .array(
                record.failures.map {
                    ["id": .string($0.id), "flags": JSONValue(strings: $0.flags), "reason": .string($0.reason)]
                })
            return .object(members)
        }
        return .object(counts(records).merging(["subjects": .array(subjects)]) { $1 })
    }
}
