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
              chunkwise verify --subject 'python3 Examples/subjects/python_cryptography.py'
              chunkwise verify --cpu-masks
              chunkwise verify --vectors aes_cbc_pkcs5_test.json --vectors CBCMMT128.rsp

            EXIT CODES
              0 all passed; 1 something failed; 2 nothing was executed
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

    @OptionGroup var foreign: ForeignOptions

    @Flag(help: "Repeat the vectors in fresh processes, with the libraries' CPU features switched off step by step.")
    var cpuMasks = false

    @Option(
        help: ArgumentHelp("A folder for the evidence: HTML, Markdown, JSON and JUnit.", valueName: "folder"))
    var evidence: String?

    @OptionGroup var output: FormatOptions

    func run() throws {
        let threadCount = try Validated.threads(threads)
        let backends = try backend.isEmpty ? Backends.available() : backend.map(Validated.backend)
        let files = try vectors.map { path in try attempt { try VectorFile(path: path) } }
        let groups = try files.isEmpty ? DefaultVectors.groups() : files.flatMap(\.groups)
        var records: [ConformanceRecord]
        if cpuMasks {
            records = try CPUMasks.verify(backend.isEmpty ? backends.map(\.name) : backend, vectors: vectors)
        } else if foreign.isAsked {
            records = try foreign.verify(groups)
        } else {
            records = Backends.verify(backends, groups: groups, threadCount: threadCount)
            if backend.isEmpty { records += Backends.notRun(groups: groups) }
        }
        let unsupportedCount = files.reduce(0) { $0 + $1.unsupported.count }
        for index in records.indices where !cpuMasks { records[index].unsupported += unsupportedCount }
        if let evidence {
            try EvidenceWriting.write(
                records, vectorFiles: vectors.isEmpty ? DefaultVectors.files : vectors, mutants: nil, to: evidence)
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
