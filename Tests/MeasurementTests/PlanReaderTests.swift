import Foundation
import Measurement
import RandomAccess
import Results
import SubjectProtocol
import Support
import SystemPackage
import TestSupport
import Testing

private func read(_ text: String) throws(PlanError) -> Plan {
    let backends = [
        "openssl", "libgcrypt", "boringssl", "nettle", "sodium", "swift-reference", "swift-bitsliced", "af-alg",
    ]
    let film = PlayerTrace(
        name: "film", source: "", minByteCount: 100,
        requests: [.init(offset: 0, count: 2), .init(offset: 50, count: nil)])
    return try PlanReader(file: "p.yml", knownBackends: backends, missingBackends: ["af-alg": "no AF_ALG"]) {
        try $0 == "film" ? film : projectTrace($0)
    }.read(
        text)
}

private func projectTrace(_ name: String) throws -> PlayerTrace? {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../data/traces/\(name).json")
    guard let bytes = try? Data(contentsOf: file) else { return nil }
    return try PlayerTrace(JSONValue.parse(Array(bytes)), file: name)
}

/// A list of as many equal values.
private func list(_ value: String, _ count: Int) -> String {
    "[\([String](repeating: value, count: count).joined(separator: ","))]"
}

@Suite("plans")
struct PlanReaderTests {
    @Test("a backend that is not there is left out beside others, with the reason")
    func missingBackend() throws {
        let plan = try read("cells:\n- backend: [openssl, af-alg]\n  window: 4KiB")
        #expect(plan.cells.map(\.cell.backend) == ["openssl"])
        #expect(plan.missingBackends == ["af-alg": "no AF_ALG"])
    }

    @Test("a program of the user's is measured where it can be, and refused where a plan names it for more")
    func programs() throws {
        func read(_ text: String, adding added: [String] = []) throws -> Plan {
            try PlanReader(
                file: "p.yml", knownBackends: ["openssl"], addedBackends: added,
                isForeign: { MeasuredProgram.command(of: $0) != nil }
            ).read(text)
        }
        let entries = ["threads: [1, 2]", "source: mmap", "cold: true", "latency: 20ms", "access: whole-chunk"]
        let plan = try read(
            "cells:\n" + entries.map { "- {backend: openssl, strategy: ctr, \($0)}\n" }.joined(),
            adding: ["subject:a b"])
        let cells = plan.cells.map(\.cell).filter { $0.backend != "openssl" }
        #expect(cells.count == 1 && cells.first?.backend == "subject:a b" && cells.first?.threads == 1)
        #expect(plan.cells.count == entries.count + 2)
        #expect(try read("cells: [{backend: 'subject:a b', strategy: ctr}]").cells.count == 1)
        for entry in entries {
            #expect(throws: PlanError.self, "\(entry)") {
                try read("cells: [{backend: 'subject:a b', strategy: ctr, \(entry)}]")
            }
        }
    }

    @Test(
        "the plans of the project are read",
        arguments: [("default.yml", 94), ("small.yml", 21), ("formats.yml", 312), ("own.yml", 13)])
    func projectPlans(name: String, cellCount: Int) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Benchmarks/plans")
        let plan = try read(String(contentsOf: folder.appending(path: name), encoding: .utf8))
        // How many threads a curve has is the machine's affair.
        let cells = plan.cells.map(\.cell).filter { name != "default.yml" || $0.threads == 1 }
        #expect(cells.count == cellCount && Set(cells.map(\.id)).count == cellCount)
    }

    @Test("a curve of threads goes from one to twice the CPUs, each number once")
    func threadCurve() throws {
        let plan = try read("cells:\n  - {backend: openssl, strategy: ctr, threads: curve}\n")
        let counts = plan.cells.map(\.cell.threads)
        let cpuCount = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        #expect(counts.first == 1 && counts.last == 2 * cpuCount && counts.contains(cpuCount))
        #expect(counts == Set(counts).sorted())
    }

    @Test("a precision has a limit of rounds, and of time where the plan says one")
    func precision() throws {
        let cells = "cells:\n- backend: openssl"
        #expect(try read(cells).precision == nil)
        #expect(
            try read("precision: 2%\n" + cells).precision
                == Plan.Precision(halfWidth: 0.02, maxRounds: 40, maxNanoseconds: .max))
        #expect(
            try read("precision: 0.5 %\nmax-rounds: 7\nmax-time: 2s\n" + cells).precision
                == Plan.Precision(halfWidth: 0.005, maxRounds: 7, maxNanoseconds: 2_000_000_000))
    }

    @Test(
        "what is no precision is refused, in its line",
        arguments: [
            "precision: 2", "precision: two%", "precision: 0%", "precision: 101%", "precision: -1%", "precision: nan%",
            "precision: 2%\nmax-rounds: 2", "precision: 2%\nmax-time: soon", "max-rounds: 9", "max-time: 2s",
        ])
    func badPrecision(text: String) {
        let error = #expect(throws: PlanError.self) { try read(text + "\ncells:\n- backend: openssl") }
        #expect(error?.line == text.split(separator: "\n").count && error?.description.contains("expected") == true)
    }

    @Test("every combination of an entry's values is a cell; what is not said has a default")
    func product() throws {
        let plan = try read(
            "cells:\n- {backend: [openssl, libgcrypt], window: [4KiB, 16MB], threads: [1, 2], workload: [sequential, random:1KiB]}"
        )
        #expect(plan.cells.count == 16 && plan.seed == 1 && plan.roundNanoseconds == 200_000_000)
        let cell = try #require(plan.cells.last?.cell)
        #expect(cell.strategy == "cbc-continuous" && cell.access == .block)
        #expect(cell.objectByteCount == 64 << 20 && cell.keyByteCount == 16 && cell.source == "file")
        #expect(cell.readCount == 256 && cell.windowByteCount == 16_000_000 && cell.threads == 2)
        #expect(plan.cells.allSatisfy { $0.rounds == 3 })
    }

    @Test(
        "a plan that would take memory and time without end is refused by the limit that it passes",
        arguments: [
            // 16 KB of text and 10⁹ cells; then a few too many in several entries.
            (
                "cells:\n- backend: openssl\n  window: \(list("4KiB", 1000))\n  strategy: \(list("ctr", 1000))\n"
                    + "  threads: \(list("1", 1000))", "expected at most 10000"
            ),
            (
                "cells:\n- {backend: openssl, strategy: tink-aes-gcm-hkdf, parameters: {segment: \(list("4KiB", 1000))}, "
                    + "threads: \(list("1", 1000))}", "expected at most 10000"
            ),
            (
                "cells:\n" + String(repeating: "- {backend: openssl}\n", count: 101)
                    + "- {backend: openssl, threads: \(list("1", 9900))}", "expected at most 10000"
            ),
            ("cells: [" + String(repeating: "a,", count: 65000 / 2) + "{", "expected YAML"),
            ("cells: [" + String(repeating: ",", count: 1 << 16) + "]", "expected"),
            ("cells: " + String(repeating: "[", count: 1 << 16), "16 deep"),
            ("cells:\n- &a {backend: openssl}\n- *a", "an anchor or a tag: expected the value alone"),
            ("# " + String(repeating: "x", count: 128 << 10), "expected at most 131072"),
            ("cells:\n- {backend: openssl, window: 256MiB, threads: 65}", "at most 16 GiB"),
        ])
    func limits(text: String, expected: String) {
        let error = #expect(throws: PlanError.self) { try read(text) }
        #expect(error?.message.contains(expected) == true, "\(error?.message ?? "")")
    }

    @Test("cells that stand twice are measured once")
    func duplicates() throws {
        let plan = try read(
            "cells:\n- {backend: openssl, window: [64KiB, 65536]}\n- {backend: [openssl, libgcrypt], window: 64KiB}")
        #expect(plan.cells.map(\.cell.backend) == ["openssl", "libgcrypt"])
    }

    @Test("what stands above the cells holds for all that do not say otherwise")
    func defaults() throws {
        let plan = try read(
            "seed: 7\nrounds: 2\ntime: 2s\nobject-size: 1MiB\ncells:\n- backend: openssl\n- backend: libgcrypt\n  rounds: 9\n  object-size: 16\n  label: x"
        )
        #expect(plan.seed == 7 && plan.roundNanoseconds == 2_000_000_000)
        #expect(plan.cells.map(\.rounds) == [2, 9] && plan.cells.map(\.cell.objectByteCount) == [1 << 20, 16])
        #expect(plan.cells[1].cell.label == "x")
    }

    @Test("traces, cold files and simulated stores are cells of their own")
    func places() throws {
        let plan = try read(
            "object-size: 100\ncells:\n- {backend: openssl, window: 40, workload: [sequential, \"trace:film\"]}\n"
                + "- {backend: openssl, window: 40, cold: yes}\n"
                + "- {backend: openssl, window: 40, latency: 20ms, bandwidth: 100MB/s}\n"
                + "- {backend: openssl, window: 40, bandwidth: 1KiB/s}\n- {backend: openssl, window: 40, cold: no}\n"
                + "- {backend: openssl, window: 40, latency: 20ms, bandwidth: 100MB/s, client: serial}\n"
                + "- {backend: openssl, strategy: hls-aes128, window: 40, latency: 20ms}")
        let cells = plan.cells.map(\.cell)
        #expect(cells.count == 7 && Set(cells.map(\.id)).count == 7)
        #expect(cells[1].workload == "trace:film" && cells[1].readCount == 3 && plan.traces.keys.sorted() == ["film"])
        #expect(cells[2].isCold == true && cells[0].isCold == nil)
        #expect(cells[3].remoteLatencyNanoseconds == 20_000_000 && cells[3].remoteBytesPerSecond == 100_000_000)
        #expect(cells[4].remoteLatencyNanoseconds == 0 && cells[4].remoteBytesPerSecond == 1024)
        #expect(cells.map(\.remoteClient) == [nil, nil, nil, "chunkwise", "chunkwise", "serial", "serial"])
    }

    /// A plan, the line at fault, and what the message must name.
    static let wrong: [(String, Int, String)] = [
        ("", 1, "nothing: expected a document"), ("just text", 1, "cells"), ("- a\n- b", 1, "cells"),
        ("seed: 1", 1, "cells"),
        ("seed: 1\ncells: []", 1, "cells"), ("seed: 1\ncells: 5", 2, "list"), ("cells:\n- 5", 2, "mappings"),
        ("cells:\n- {}", 2, "backend"), ("sed: 1\ncells:\n- backend: openssl", 1, "\"sed\""),
        ("cells:\n- backend: openssl\n  windows: 4KiB", 3, "\"windows\""),
        ("cells:\n- backend: opnssl", 2, "opnssl"), ("cells:\n- window: 4KiB\n  backend: af-alg", 3, "no AF_ALG"),
        ("cells:\n- backend: []", 2, "empty"),
        ("cells:\n- backend: openssl\n  strategy: ecb", 3, "ecb"),
        ("cells:\n- backend: openssl\n  strategy: [ctr, ecb]", 3, "strategy ecb"),
        ("cells:\n- backend: openssl\n  strategy: [ctr, cbc-chunked]", 3, "\"chunk\" of cbc-chunked, which is missing"),
        (
            "cells:\n- backend: openssl\n  strategy: [ctr, cobblestone-128]\n  parameters: {iv-rule: fixed}", 4,
            "iv-rule: expected none for ctr"
        ),
        ("cells:\n- backend: openssl\n  strategy: [ctr, cobblestone-256]\n  key-size: 128", 4, "one of 256"),
        ("cells:\n- backend: openssl\n  key-size: [128, 512]", 3, "512: expected one of 128, 192, 256"),
        ("cells:\n- backend: openssl\n  access: [block, blok]", 3, "blok: expected one of block"),
        ("cells:\n- backend: openssl\n  source: [file, mmap]\n  cold: yes", 4, "source file"),
        ("cells:\n- backend: openssl\n  source: [file, mmap]\n  reuse: yes", 4, "http or https"),
        ("cells:\n- backend: openssl\n  workload: random:4KiB\n  reads: [1, 0]", 4, "reads 0"),
        ("cells:\n- backend: openssl\n  client: serial", 3, "expected it with latency"),
        ("cells:\n- backend: openssl\n  latency: 1ms\n  client: curl", 4, "client curl: expected serial or chunkwise"),
        (
            "cells:\n- backend: openssl\n  strategy: hls-aes128\n  latency: 1ms\n  client: chunkwise", 5,
            "serial with hls"
        ),
        ("cells:\n- backend: openssl\n  strategy: cbc-chunked", 3, "chunk"),
        ("cells:\n- backend: openssl\n  strategy: cbc-chunked\n  parameters: {chunk: 1000}", 4, "multiple of 16"),
        ("cells:\n- backend: openssl\n  strategy: cbc-chunked:chunk=0", 3, "multiple of 16"),
        ("cells:\n- backend: openssl\n  parameters: {chunk: 16MB}", 3, "chunk: expected one of padding"),
        ("cells:\n- backend: openssl\n  parameters: chunk", 3, "a mapping"),
        ("cells:\n- backend: openssl\n  parameters: {iv: 00}", 3, "parameter iv"),
        ("cells:\n- backend: openssl\n  strategy: ctr:skip=16", 3, "nothing around it"),
        ("cells:\n- backend: openssl\n  strategy: cbc-chunked:chunk=16\n  parameters: {chunk: 16}", 3, "given twice"),
        ("cells:\n- backend: openssl\n  strategy: ./mine.yml", 3, "mine.yml"),
        ("cells:\n- backend: openssl\n  parameters: {iv-rule: fixed}", 3, "for cbc-continuous"),
        ("cells:\n- backend: openssl\n  strategy: ctr\n  parameters: {padding: none}", 4, "none for ctr"),
        ("cells:\n- backend: openssl\n  strategy: hls-aes128\n  parameters: {padding: none}", 4, "one of segment"),
        ("cells:\n- backend: openssl\n  strategy: hls-aes128\n  access: chunk-cache", 4, "block"),
        ("cells:\n- backend: openssl\n  strategy: hls-aes128\n  source: mmap", 4, "file or generated"),
        ("cells:\n- backend: openssl\n  strategy: hls-aes128\n  key-size: 256", 4, "128"),
        (
            "cells:\n- backend: openssl\n  strategy: hls-aes128\n  parameters: {segment: 5GiB}", 4,
            "from 1024 to 4294967296"
        ),
        ("cells:\n- backend: openssl\n  strategy: ctr\n  parameters:\n    segment: 4KiB", 5, "none for ctr"),
        ("cells:\n- backend: openssl\n  strategy: cobblestone-128\n  parameters: {chunk: 16KiB}", 4, "one of context"),
        ("cells:\n- backend: openssl\n  strategy: cobblestone-256\n  key-size: 128", 4, "256"),
        ("cells:\n- backend: openssl\n  strategy: cobblestone-128\n  parameters: {context: 0x1}", 4, "hexadecimal"),
        ("cells:\n- backend: openssl\n  strategy: tink-aes-gcm-hkdf\n  parameters: {segment: 16}", 3, "segment"),
        ("cells:\n- backend: openssl\n  strategy: tink-aes-gcm-hkdf\n  key-size: 256", 4, "one of 128"),
        (
            "cells:\n- backend: openssl\n  strategy: tink-aes-gcm-hkdf\n  parameters: {derived-key: 24}", 4,
            "multiple of 16"
        ),
        ("cells:\n- backend: openssl\n  window: 0", 3, "at least 1"),
        ("cells:\n- backend: openssl\n  window: 257MiB", 3, "256MiB"),
        ("cells:\n- backend: openssl\n  window: big", 3, "big"),
        ("cells:\n- backend: openssl\n  window: [4KiB, -1]", 3, "-1"),
        ("cells:\n- backend: openssl\n  threads: 0", 3, "1 to 256"),
        ("cells:\n- backend: openssl\n  threads: 257", 3, "1 to 256"),
        ("cells:\n- backend: openssl\n  object-size: 10\n  workload: random:11", 4, "within"),
        ("cells:\n- backend: openssl\n  workload: randm:4KiB", 3, "randm"),
        ("cells:\n- backend: openssl\n  workload: \"trace:none\"", 3, "data/traces"),
        ("cells:\n- backend: openssl\n  workload: \"trace:../x\"", 3, "expected sequential"),
        ("cells:\n- backend: openssl\n  object-size: 99\n  workload: \"trace:film\"", 4, "at least 100 bytes"),
        ("cells:\n- backend: openssl\n  latency: 20", 3, "20ms"),
        ("cells:\n- backend: openssl\n  latency: 61s", 3, "60s"),
        ("cells:\n- backend: openssl\n  bandwidth: 100MB", 3, "100MB/s"),
        ("cells:\n- backend: openssl\n  bandwidth: 0MB/s", 3, "100MB/s"),
        ("cells:\n- backend: openssl\n  cold: maybe", 3, "yes or no"),
        ("cells:\n- backend: openssl\n  source: generated\n  cold: yes", 4, "source file"),
        ("cells:\n- backend: openssl\n  source: mmap\n  cold: yes", 4, "source file"),
        ("cells:\n- backend: openssl\n  source: mmap\n  latency: 2ms", 4, "file or generated"),
        ("cells:\n- backend: openssl\n  object-size: 17\n  parameters: {padding: none}", 3, "multiple of 16"),
        ("cells:\n- backend: openssl\n  key-size: 512", 3, "512"),
        ("cells:\n- backend: openssl\n  access: blok", 3, "blok"),
        ("cells:\n- backend: openssl\n  source: ftp", 3, "ftp"),
        ("cells:\n- backend: openssl\n  workload: random:4KiB\n  reads: 0", 4, "reads 0"),
        ("time: fast\ncells:\n- backend: openssl", 1, "fast"), ("time: 0s\ncells:\n- backend: openssl", 1, "0s"),
        ("time: -1ms\ncells:\n- backend: openssl", 1, "-1ms"), ("rounds: 0\ncells:\n- backend: openssl", 1, "rounds 0"),
        ("seed: -1\ncells:\n- backend: openssl", 1, "seed -1"),
        ("seed: 9007199254740992\ncells:\n- backend: openssl", 1, "seed"),
        ("cells:\n- backend: openssl\n  window: {a: 1}", 3, "window"),
        ("cells:\n- backend: openssl\n  backend: libgcrypt", 3, "\"backend\" for the second time"),
        ("cells: [\n", 2, "YAML"), ("cells:\n- backend: \"x", 2, "YAML"), ("a: b: c", 1, "YAML"),
        ("\tcells: 1", 1, "YAML"),
    ]

    @Test("everything may be a list, and what a strategy does not have is left out for it")
    func lists() throws {
        let cells = try read(
            "cells:\n- {backend: openssl, strategy: [ctr, cbc-chunked, cobblestone-256, tink-aes-gcm-hkdf], "
                + "key-size: [128, 256], parameters: {chunk: [64KiB, 1MiB], segment: [64KiB, 1MiB], "
                + "derived-key: [16, 32], iv-rule: [fixed, sequence], padding: [pkcs7, none]}, "
                + "object-size: [1MiB, 2MiB], access: [block, chunk-cache], source: [file, mmap], cold: [yes, no]}"
        ).cells.map(\.cell)
        func count(_ strategy: String) -> Int { cells.count { $0.format == strategy } }
        // Objects, accesses, and a file that is cold or not, beside one that is mapped.
        let places = 2 * 2 * 3
        #expect(count("ctr") == 2 * places && count("cobblestone-256") == places)
        #expect(count("cbc-chunked") == 2 * 2 * 2 * 2 * places && count("tink-aes-gcm-hkdf") == 2 * 2 * places)
        #expect(Set(cells.map(\.id)).count == cells.count)
        let tink = cells.filter { $0.format == "tink-aes-gcm-hkdf" }
        #expect(
            Set(tink.map(\.keyByteCount)) == [16, 32] && Set(tink.map(\.chunkByteCount)) == [65520, (1 << 20) - 16])
        #expect(cells.allSatisfy { $0.isCold != true || $0.source == "file" })
        let stores = try read(
            "cells:\n- {backend: openssl, latency: [1ms, 20ms], bandwidth: [1MB/s, 1GB/s], reads: [1, 2], "
                + "workload: [sequential, random:4KiB]}"
        ).cells.map(\.cell)
        #expect(stores.count == 4 * 3 && Set(stores.map(\.readCount)) == [nil, 1, 2])
    }

    @Test("a strategy is one text, whether its parameters stand in it or beside it")
    func texts() throws {
        func cells(_ text: String) throws -> [Cell] {
            try read("cells:\n- {backend: openssl, window: 4KiB, strategy: \(text)}").cells.map(\.cell)
        }
        let tink = try cells("tink-aes-gcm-hkdf, parameters: {segment: [4KiB, 1MiB], derived-key: 32}")
        #expect(tink.map(\.chunkByteCount) == [4080, (1 << 20) - 16] && tink.map(\.keyByteCount) == [32, 32])
        #expect(
            tink.map(\.strategy) == [
                "tink-aes-gcm-hkdf:derived-key=32", "tink-aes-gcm-hkdf:segment=1MiB,derived-key=32",
            ])
        #expect(
            try cells("['tink-aes-gcm-hkdf:derived-key=32', 'tink-aes-gcm-hkdf:derived-key=32,segment=1MiB']") == tink)
        let usual = try cells("tink-aes-gcm-hkdf")
        #expect(usual.map(\.strategy) == ["tink-aes-gcm-hkdf"] && usual.map(\.keyByteCount) == [16])
        #expect(try cells("'hls-aes128:segment=4MiB'").map(\.chunkByteCount) == [4 << 20])
        let bound = try cells("cobblestone-128, parameters: {context: 00FF}")
        #expect(bound.map(\.strategy) == ["cobblestone-128:context=00ff"])
        for name in ["gocryptfs", "rclone-crypt", "dare", "xts-sectors"] {
            let cell = try #require(try cells("\(name), object-size: 64KiB").first)
            #expect(cell.strategy == name && cell.keyByteCount == 32)
        }
    }

    @Test("a description of the user's is named with its digest, and comes with the plan")
    func described() throws {
        let text =
            "mine: {inputs: {key: 16, partByteCount: {min: 1}}, cipher: aes-gcm, chunk: partByteCount, "
            + "layout: [data, {tag: 16}], key: key, nonce: "
        let formats = try ["./a.yml": "'be(i, 12)'}", "./b.yml": "'be(2 * i, 12)'}"].mapValues { end in
            try Format.named("mine", in: Array((text + end).utf8))
        }
        let plan = try PlanReader(file: "p.yml", knownBackends: ["openssl"], describedFormat: { formats[$0] }).read(
            "cells: [{backend: openssl, strategy: [./a.yml, ./b.yml], parameters: {part: [4KiB, 5KiB]}}]")
        let names = plan.cells.map(\.cell.strategy)
        #expect(Set(names).count == 4 && Set(plan.strategies.keys) == Set(names))
        let bytes = try #require(formats["./a.yml"]).text
        #expect(names.first == "mine#\(Hexadecimal.encode(SHAFunction.sha256.hash(bytes).prefix(8))):part=4KiB")
        let facts = try StrategyFacts(try #require(plan.strategies[names[0]]))
        #expect(facts.isTagged && facts.isIndexBound && !facts.isObjectBound && !facts.isFresh && facts.hasOwnNonces)
    }

    @Test("a cell is left out if its backend lacks the strategy's cipher, and refused if no backend has it")
    func lackingCipher() throws {
        let lacks = { (backend: String, strategy: Strategy) in
            (backend == "sodium") == (strategy.name == "ctr") ? "it lacks a cipher" : nil
        }
        func cells(_ entry: String) throws -> [Cell] {
            try PlanReader(file: "p.yml", knownBackends: ["openssl", "sodium"], lacks: lacks)
                .read("cells:\n- {window: 4KiB, \(entry)}").cells.map(\.cell)
        }
        let both = try cells("backend: [openssl, sodium], strategy: [ctr, rclone-crypt]")
        #expect(both.map { "\($0.backend) \($0.strategy)" } == ["openssl ctr", "sodium rclone-crypt"])
        #expect(try cells("backend: [openssl, sodium], strategy: ctr").map(\.backend) == ["openssl"])
        #expect(throws: PlanError.self) { try cells("backend: openssl, strategy: [ctr, rclone-crypt]") }
        #expect(throws: PlanError.self) { try cells("backend: sodium, strategy: ctr") }
    }

    @Test("an object that is given says what cells otherwise ask for, and nothing else may")
    func ownObject() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("object", String(repeating: "0123456789abcdef", count: 4))
        let strategy = Strategy.cbcChunked(
            chunkByteCount: 32, iv: Block(bigEndianValue: 1), ivRule: .fixed, padding: .none)
        let key = try SecretKey([UInt8](repeating: 7, count: 32))
        let object = PlanObject(try .file(FilePath(path), strategy: strategy, key: key), at: nil)
        func read(_ text: String) throws -> Plan {
            try PlanReader(file: "p.yml", knownBackends: ["openssl"], object: object).read(text)
        }
        let cells = try read("cells:\n- {backend: openssl, window: [16, 32], workload: random:16}").cells.map(\.cell)
        #expect(cells.count == 2)
        for cell in cells {
            #expect(cell.strategy == "cbc-chunked:padding=none,iv-rule=fixed,chunk=32" && cell.chunkByteCount == 32)
            #expect(cell.keyByteCount == 32 && cell.objectByteCount == 64)
            #expect(cell.source == "file")
        }
        for key in [
            "strategy: ctr", "parameters: {chunk: 16}", "key-size: 256", "source: file",
        ] {
            let error = #expect(throws: PlanError.self) { try read("cells:\n- backend: openssl\n  \(key)") }
            #expect(error?.line == 3 && error?.message.contains("object that is given") == true, "\(key)")
        }
        let error = #expect(throws: PlanError.self) { try read("object-size: 64\ncells:\n- backend: openssl") }
        #expect(error?.line == 1)
        let long = #expect(throws: PlanError.self) { try read("cells:\n- {backend: openssl, workload: random:65}") }
        #expect(long != nil)
    }

    @Test("what is wrong is named with its line and what was expected", arguments: wrong.indices)
    func errors(index: Int) {
        let (text, line, word) = Self.wrong[index]
        let error = #expect(throws: PlanError.self, "\(text)") { try read(text) }
        guard let error else { return }
        #expect(error.line == line, "\(text): \(error)")
        #expect(error.message.contains(word) && !error.message.contains("\n"), "\(text): \(error)")
        #expect(error.description.hasPrefix("p.yml:\(line): "))
    }
}

@Suite("workloads of cells")
struct CellWorkloadTests {
    @Test(
        "workloads are read and shown", arguments: [("sequential", "sequential"), ("random:4096", "random:4KiB")])
    func workloads(text: String, shown: String) {
        #expect(CellWorkload(text)?.description == shown)
    }

    @Test(
        "what is no workload is none",
        arguments: [
            "", "Sequential", "random", "random:", "random:0", "random:257MiB", "random:-1", "random:4KiB,8KiB",
        ])
    func badWorkloads(text: String) {
        #expect(CellWorkload(text) == nil)
        #expect(CellWorkload.maxRangeByteCount == Workload.largestRead)
    }
}
