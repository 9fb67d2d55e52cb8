import Foundation
import Support
import TestSupport
import Testing

@Suite("gate, on the command line") struct GateCommandTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    static let own = "'\(Programs.chunkwise)' subject --backend openssl"

    /// A short cell, of little work.
    func plan() throws -> String {
        try folder.file("plan.yml", "object-size: 256KiB\ncells:\n- {window: 64KiB}\n")
    }

    func run(_ arguments: [String]) throws -> CommandRun { try Chunkwise.run(["gate"] + arguments, in: folder.path) }

    @Test(
        "what cannot be a gate is refused, with what was expected",
        arguments: [
            (["--candidate", "true"], 64, "--baseline"), (["--baseline", "true"], 64, "--candidate"),
            (["--baseline", "a", "--candidate", "b", "--tolerance", "0"], 64, "2%"),
            (["--baseline", "a", "--candidate", "b", "--tolerance", "much"], 64, "2%"),
            (["--baseline", "a", "--candidate", "b", "--max-memory-growth", "lots"], 64, "4MiB"),
            (["--baseline", "a", "--candidate", "b", "--seconds", "0"], 64, "--seconds"),
            (["--baseline", "a", "--candidate", "b", "--seed", "9007199254740992"], 64, "--seed"),
            (["--baseline", "a", "--candidate", "b", "--timeout", "0"], 64, "--timeout"),
            (["--baseline", "a", "--candidate", "b", "--reference", "c"], 64, "--reference"),
            (["--baseline", "a", "--candidate", "b", "--record", "r"], 64, "--baseline"),
            (["--candidate", "b", "--record", "r", "--against", "r"], 64, "--against"),
            (["--candidate", "b", "--record", "r", "--format", "github"], 64, "--record"),
            (["--candidate", "b", "--record", "r", "--write", "json=f"], 64, "--record"),
            (["--candidate", "b", "--record", "r", "--max-memory-growth", "1MiB"], 64, "--max-memory-growth"),
            (["--candidate", "b", "--against", "r", "--max-memory-growth", "1MiB"], 64, "--max-memory-growth"),
            (["--baseline", "a", "--candidate", "b", "--output", "none/gate.json"], 74, "none/gate.json"),
            (["--baseline", "a", "--candidate", "b", "--write", "junit=none/gate.xml"], 74, "none/gate.xml"),
            (["--candidate", "b", "--against", "missing.json"], 66, "missing.json"),
            (["--baseline", "a", "--candidate", "b", "--plan", "missing.yml"], 66, "missing.yml"),
            (["--baseline", "exit 1", "--candidate", own], 66, "did not start"),
            (["--baseline", own, "--candidate", "/no/such/program"], 66, "did not start"),
            (["--baseline", own, "--candidate", "\(own) --mutant iv-zero"], 2, "measures"),
        ] as [([String], Int32, String)])
    func refused(arguments: [String], status: Int32, word: String) throws {
        Chunkwise.expectFailure(try run(arguments), status, word, arguments.joined(separator: " "))
    }

    @Test(
        "a plan without cells, and results of another schema, are bad data",
        arguments: [
            ("--plan", "cells: []\n"), ("--plan", "seed: 1\n"), ("--plan", "cells:\n- {window: 0}\n"),
            ("--against", #"{"schema":"chunkwise-results-1"}"#), ("--against", "no JSON"), ("--against", "{}"),
        ])
    func badData(option: String, text: String) throws {
        let file = try folder.file("input", text)
        let baseline = option == "--plan" ? ["--baseline", Self.own] : []
        let run = try run(baseline + ["--candidate", Self.own, option, file])
        Chunkwise.expectFailure(run, 65, "input", text)
    }

    @Test("a gate of a program against itself prints one object with the members that scripts rely on")
    func json() throws {
        let run = try run([
            "--baseline", Self.own, "--candidate", Self.own, "--plan", try plan(), "--seconds", "1", "--format", "json",
            "--output", "gate.json", "--tolerance", "100%", "--seed", "5",
        ])
        #expect(run.status == Chunkwise.status(ofGate: run.output), "\(run.errorLines)")
        let json = try #require(JSONValue.parse(run.output))
        #expect(json["verdict"]?.string != nil && json["seed"]?.integer == 5)
        let cell = try #require(json["cells"]?.array?.first)
        #expect(cell["name"]?.string == "cbc-continuous window=64KiB object=256KiB")
        for member in ["verdict", "slowdown", "low", "high", "seconds"] { #expect(cell[member] != nil, "\(member)") }
        let record = try #require(folder.bytes("gate.json").flatMap(JSONValue.parse))
        let blocks = record["cells"]?.array?.first?["phases"]?.array?.first?["blocks"]?.array
        #expect(record["schema"]?.string == "chunkwise-gate-1" && blocks?.isEmpty == false)
    }

    @Test("what a subject says becomes no line of its own, from which a runner would take orders")
    func injection() throws {
        let lines = ["\n", "\r", "\r\n", "\u{85}", "\u{2028}"].map { "x\($0)::error title=x::y" }
        for message in lines {
            let message = JSONValue.string(message).text
            let subject = try folder.file(
                "subject",
                """
                while IFS= read -r line; do case "$line" in
                *'"op":"hello"'*) echo '{"ok":true,"protocol":1,"name":\(message),"version":"1","strategies":["ctr"],"keyByteCounts":[16],"sources":["path"],"granularity":"block","measures":true}';;
                *) printf '%s\\n' '{"ok":false,"error":"unsupported","message":\(message)}';;
                esac; done
                """)
            for format in ["text", "github"] {
                let run = try run([
                    "--baseline", "sh '\(subject)'", "--candidate", "sh '\(subject)'", "--format", format,
                    "--no-verify",
                ])
                let text = String(decoding: run.output, as: UTF8.self) + "\n" + run.errorLines.joined(separator: "\n")
                let lines = text.unicodeScalars.split { [0x0A, 0x0D, 0x85, 0x2028].contains($0.value) }
                #expect(!lines.contains { String($0).hasPrefix("::error") }, "\(text)")
                #expect(run.status == 2)
            }
        }
    }

    @Test("vectors of descriptions that a plan names by their paths are chosen from too")
    func described() throws {
        let subject = try folder.file(
            "subject",
            """
            while IFS= read -r line; do case "$line" in
            *'"op":"hello"'*) echo '{"ok":true,"protocol":1,"name":"none","version":"1","strategies":["described"],"keyByteCounts":[16],"sources":["path"],"granularity":"block","measures":true}';;
            *) echo '{"ok":false,"error":"unsupported","message":"no"}';;
            esac; done
            """)
        for name in ["mine", "other"] {
            let rules = "cipher: aes-gcm\n  chunk: 64\n  layout: [data, {tag: 16}]\n  key: key\n  nonce: be(i, 12)"
            try folder.file("\(name).yml", "\(name):\n  inputs: {key: 16}\n  \(rules)\n")
        }
        let counts = try ["ctr", "./mine.yml", "[./mine.yml, ./other.yml]"].map { strategy -> UInt64 in
            try folder.file(
                "plan.yml", "object-size: 64KiB\ncells:\n- {backend: openssl, strategy: \(strategy)}\n")
            let run = try run([
                "--baseline", "sh '\(subject)'", "--candidate", "sh '\(subject)'", "--plan", "plan.yml", "--format",
                "json",
            ])
            let choice = JSONValue.parse(run.output)?["vectors"]?["choice"]
            return try #require(choice?["allCount"]?.integer, "\(run.errorLines)")
        }
        // Both descriptions differ in their names alone, and have as many vectors.
        #expect(counts[0] > 1000 && counts[1] > 100 && counts[2] == 2 * counts[1], "\(counts)")
    }

    @Test("ratios that were recorded are read again, and the file appears only with them")
    func record() throws {
        let options = ["--candidate", Self.own, "--seconds", "0.5", "--tolerance", "1"]
        let recorded = try run(options + ["--record", "r.json", "--plan", try plan()])
        #expect(recorded.status == 0, "\(recorded.errorLines)")
        let ratios = try #require(folder.bytes("r.json").flatMap(JSONValue.parse))
        #expect(ratios["schema"]?.string == "chunkwise-gate-ratios-1" && ratios["ratios"]?.array?.count == 1)
        let compared = try run(options + ["--against", "r.json", "--format", "json"])
        #expect(compared.status == Chunkwise.status(ofGate: compared.output), "\(compared.errorLines)")
        #expect(JSONValue.parse(compared.output)?["cells"]?.array?.first?["stored"] != nil)
        let failed = try run(["--candidate", "exit 1", "--record", "none.json"])
        #expect(failed.status == 66 && folder.bytes("none.json") == nil)
    }
}
