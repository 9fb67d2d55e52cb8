import Foundation
import TestSupport
import Testing

/// Sizes and durations have one textual form in all commands.
@Suite("options as texts")
struct OptionTextTests {
    /// Command lines, with `VALUE` for the option's value, that go on to another end once it is read; values that are
    /// taken; and that end.
    static let commands: [(line: String, values: [String], status: Int32)] = [
        ("keys play --window VALUE missing out", ["256KiB", "1000"], 66),
        ("keys play --validity VALUE missing out", ["60", "60s", "0.5", "12h"], 66),
        ("keys play --pause VALUE missing out", ["5", "5ms", "2s"], 66),
        ("keys play --storage VALUE missing out", ["60", "30d"], 66),
        ("keys play --playback VALUE missing out", ["60", "2d"], 66),
        ("keys load --clients 0 --window VALUE", ["60", "60s", "2m"], 64),
        ("keys load --clients 0 --announced VALUE", ["60", "60s", "2m"], 64),
        ("keys load --clients 0 --refresh VALUE", ["60", "60s", "2m"], 64),
        ("keys load --clients 0 --round-trip VALUE", ["50", "50ms", "1s"], 64),
        ("keys measure --rounds 1 --delays VALUE", ["5", "5ms", "5,2s,300"], 64),
        ("keys scenarios missing --subject x --timeout VALUE", ["5", "5s", "500ms"], 66),
        ("keys fetch x --server http://127.0.0.1:1/ --token-file missing --seconds VALUE", ["5", "5s", "500ms"], 66),
        ("verify --vectors missing --timeout VALUE", ["5", "5s", "500ms"], 66),
        ("verify search --backend none --time VALUE", ["5ms", "0.01s", "2m"], 64),
        ("decrypt --key-file missing --iv IV --idle-timeout VALUE a b", ["5", "5s", "500ms"], 66),
        ("decrypt --key-file missing --iv IV --deadline VALUE a b", ["5", "5s", "500ms"], 66),
        ("gate --baseline a --candidate b --plan missing --seconds VALUE", ["5", "5s", "500ms"], 66),
        ("gate --baseline a --candidate b --plan missing --timeout VALUE", ["5", "5s", "500ms"], 66),
        ("measure --input a --key-file missing --iv IV --milliseconds VALUE", ["5", "5ms", "2s"], 66),
        ("serve --key-file missing --iv IV --idle-seconds VALUE a", ["5", "5s", "500ms"], 66),
        ("key-server --keys missing --answer-seconds VALUE", ["5", "5s", "500ms"], 66),
        ("key-server --keys missing --validity VALUE", ["5", "12h"], 66),
        ("key-server --keys missing --storage VALUE", ["5", "12h"], 66),
        ("key-server --keys missing --playback VALUE", ["5", "12h"], 66),
        ("key-server --keys missing --delay VALUE", ["5", "5ms"], 66),
        ("tls-check no-port --seconds VALUE", ["5", "5s", "500ms"], 64),
    ]

    private func run(_ line: String, _ value: String, in folder: TemporaryFolder) throws -> CommandRun {
        let words = line.split(separator: " ").map { $0 == "VALUE" ? value : $0 == "IV" ? Chunkwise.ivHex : String($0) }
        return try Chunkwise.run(words, in: folder.path)
    }

    @Test("values with a unit and in the documented unit are taken", arguments: commands.indices)
    func taken(index: Int) throws {
        let (line, values, status) = Self.commands[index]
        let option = try #require(line.split(separator: " ").last { line.contains("\($0) VALUE") })
        let folder = try TemporaryFolder()
        for value in values {
            let run = try run(line, value, in: folder)
            #expect(run.status == status, "\(line) with \(value): \(run.status) \(run.errorLines)")
            #expect(!run.errorLines.contains { $0.contains("\(option) ") }, "\(line) with \(value): \(run.errorLines)")
        }
    }

    @Test("other values are refused with the option, the value and what was expected", arguments: commands.indices)
    func refused(index: Int) throws {
        let line = Self.commands[index].line
        let option = try #require(line.split(separator: " ").last { line.contains("\($0) VALUE") })
        let folder = try TemporaryFolder()
        for value in ["5x", "many"] {
            let run = try run(line, value, in: folder)
            Chunkwise.expectFailure(run, 64, String(option), line)
            #expect(run.errorLines.first?.contains(value) == true, "\(run.errorLines)")
        }
    }

    @Test(
        "what the parser refuses is one sentence with the value and what was expected",
        arguments: [
            ("verify --threads many", "--threads \"many\": expected a number"),
            ("verify --threads 2.5", "--threads \"2.5\": expected a whole number"),
            ("verify --threads 99999999999999999999", "--threads \"99999999999999999999\": expected a smaller number"),
            (
                "gate --timeout 5x",
                "--timeout \"5x\": expected 0.1 to 3600 seconds, or with a unit such as 500ms, 10s or 2m"
            ),
            ("backends --format xml", "--format \"xml\": expected text or json"),
            (
                "report x --format xml",
                "--format \"xml\": expected html, full-markdown, markdown, json, csv, junit, hyperfine, criterion, "
                    + "bencher or asv"
            ),
            (
                "measure --reps 5",
                "unknown option --reps: expected --reads, or another that chunkwise measure --help lists"
            ),
            ("measure --frobnicate", "unknown option --frobnicate: expected one that chunkwise measure --help lists"),
            ("measure --window", "--window without a value: expected --window <size>"),
            ("measure --window big", "--window \"big\": expected a size such as 64KiB, 16MB or 100MiB"),
            ("sweep --output o", "no --plan <file>: expected the plan, in YAML; Benchmarks/plans has examples"),
            ("encrypt a", "no <output>: expected the encrypted file, or - for standard output"),
            ("backends a", "unexpected argument \"a\": expected no more than chunkwise backends --help says"),
            ("backends a b", "2 unexpected arguments 'a', 'b': expected no more than chunkwise backends --help says"),
            ("verify --all=x", "--all \"x\": expected --all without a value"),
            (
                "gate --write junit",
                "--write \"junit\": expected a format (text, json, junit, github, markdown) and a file, such as "
                    + "junit=gate.xml"
            ),
            (
                "sweep --plan p --output o --ca-file c",
                "--ca-file, --pin and --allow-…: expected them only with a source over https, found a plan, whose cells "
                    + "say it"
            ),
        ])
    func messages(line: String, message: String) throws {
        let run = try Chunkwise.run(line.split(separator: " ").map(String.init))
        #expect(run.status == 64 && run.errorLines == ["chunkwise: " + message], "\(line): \(run.errorLines)")
    }

    @Test("all that a strategy lacks is said at once, in the order of the options")
    func missing() throws {
        let digits = " 32 hexadecimal digits or a file NAME.iv,"
        for (command, option, expected) in [("encrypt", "", ""), ("decrypt", " --iv,", digits)] {
            let run = try Chunkwise.run([command, "--strategy", "cbc-chunked", "a", "b"])
            #expect(
                run.errorLines == [
                    "chunkwise: the strategy cbc-chunked without chunk,\(option) --key-file: expected a size such as "
                        + "64KiB, a positive multiple of 16,\(expected) the key's file"
                ])
            #expect(run.status == 64)
        }
    }

    @Test("a segment that is called a chunk is told how it is called")
    func segment() throws {
        let run = try Chunkwise.run(["measure", "--strategy", "tink-aes-gcm-hkdf:chunk=4KiB"])
        Chunkwise.expectFailure(run, 64, "segment")
    }
}
