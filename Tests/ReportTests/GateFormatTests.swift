import Foundation
import Report
import Results
import Support
import Testing

@Suite("a gate's result where CI looks")
struct GateFormatTests {
    private static let folder = GoldenFolder("GoldenGate")

    @Test("every format is the same as ever, byte for byte", arguments: GateFixture.all.indices)
    func golden(index: Int) throws {
        let (name, result) = GateFixture.all[index]
        try Self.folder.expect(Array(result.junit(allowsInconclusive: false).utf8), in: "\(name).xml")
        try Self.folder.expect(Array(result.githubAnnotations.utf8), in: "\(name).github.txt")
        #expect(try Self.folder.names.count == 2 * GateFixture.all.count + 1)
    }

    @Test("Markdown is the same as ever where everything is in it; elsewhere it has the verdict and the reason")
    func verdicts() throws {
        try Self.folder.expect(Array(GateFixture.slower.markdown.utf8), in: "slower.md")
        for (result, parts) in [
            (GateFixture.same, ["same\n", "| 2 · cbc-continuous | faster | −3.00 % | −4.00 % to −2.10 % | 12 |"]),
            (GateFixture.unfit, ["noisy host\n", " | not seen | +2.00 % | −3.00 % to +7.00 % | 12 |"]),
            (GateFixture.inconclusive, ["inconclusive\n", "- ctr window=256KiB: 3 blocks are too few"]),
            (GateFixture.nothing, ["inconclusive\n", "- ctr: the candidate does not support it: no"]),
        ] {
            let text = result.markdown
            #expect(text.hasPrefix("### Gate: " + parts[0]) && text.contains(parts[1]), "\(parts)")
        }
    }

    @Test("annotations are lines that a runner reads as they were meant", arguments: GateFixture.all.indices)
    func annotations(index: Int) {
        let text = GateFixture.all[index].1.githubAnnotations
        #expect(!text.unicodeScalars.contains("\r"))
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let match = line.wholeMatch(of: /::(error|warning|notice) title=([^:,]*)::(.*)/)
            #expect(match != nil, "\(line)")
            // Every percent sign is one that was escaped, or escapes something.
            let rest = (match?.3 ?? "").replacing(/%(25|0D|0A)/, with: "")
            #expect(!rest.contains("%"), "\(line)")
        }
    }

    @Test("a runner gets back the text that went in")
    func escaping() {
        let text = GateFixture.slower.githubAnnotations
        #expect(text.contains("title=wrong%3A trace%3Aa|b%2C <c>%3A 100%25::"))
        #expect(text.contains("\"50 %25 done\"%0D%0A::error::not mine"))
    }

    @Test("who is blamed: the slower, the wrong and the grown; neither on a noisy host")
    func levels() {
        func lines(_ result: GateResult, _ level: String) -> Int {
            result.githubAnnotations.split(separator: "\n").count { $0.hasPrefix("::\(level) ") }
        }
        #expect(lines(GateFixture.slower, "error") == 3 && lines(GateFixture.slower, "warning") == 2)
        #expect(lines(GateFixture.unfit, "error") == 0 && lines(GateFixture.unfit, "warning") == 1)
        #expect(lines(GateFixture.same, "error") == 0 && lines(GateFixture.same, "warning") == 0)
        #expect(lines(GateFixture.nothing, "warning") == 1)
        for (name, result) in GateFixture.all { #expect(lines(result, "notice") == 1, "\(name)") }
    }

    @Test("of a hundred slower cells ten are annotations, the last of which counts the rest; all are in the document")
    func many() {
        let cells = (0..<300).map { GateFixture.cell("cell \($0)", $0 < 100 ? .slower : .same, 0.05, 0.04, 0.06) }
        let result = GateFixture.result(.slower, cells)
        let lines = result.githubAnnotations.split(separator: "\n")
        #expect(lines.count == 11 && lines[9].contains("and 91 more"))
        #expect(result.markdown.utf8.count < 65_536)
        #expect(result.markdown.contains("| 100 · cell 99 |") && result.markdown.contains("200 more cells not shown"))
    }

    @Test("Markdown names the verdict, each cell, its figures, and the command that repeats it")
    func markdown() {
        let text = GateFixture.slower.markdown
        for part in [
            "Gate: wrong, and more memory", "+3.10 %", "+2.40 % to +3.90 %",
            "chunkwise gate --baseline 'old/chunkwise subject'",
            "| control: 3 % injected |", "├", "hls-aes128", "--seed 7",
        ] {
            #expect(text.contains(part), "\(part)")
        }
        // What a subject says is text, and stays in its place.
        #expect(!text.contains("<gone>") && !text.contains("\n::error"))
    }

    @Test("the text has the same facts in 80 columns, and no line that a runner takes orders from")
    func text() {
        for (name, result) in GateFixture.all {
            let lines = result.text(isRecording: false).split(separator: "\n")
            #expect(lines.allSatisfy { $0.count <= 80 && !$0.hasPrefix("::") && !$0.contains("\u{1B}") }, "\(name)")
            #expect(lines.last?.hasSuffix("--seed 7") == true, "\(name)")
        }
        let words = GateFixture.slower.text(isRecording: false).split { $0.isWhitespace }.joined(separator: " ")
        for part in [
            "wrong: 1 of 5 cells: trace:a|b, <c>: 100%", "slower +3.10 % +2.40 % to +3.90 % 12 3.0 s",
            "seen +3.00 %", "--seconds 41 would settle it", "hls-aes128: the baseline does not support it",
            "grew 10.0 MiB 20.0 MiB 512 KiB", "├─●──┤",
        ] {
            #expect(words.contains(part), "\(part)")
        }
        #expect(GateFixture.same.text(isRecording: true).hasPrefix("Recorded: 2 cells\n"))
    }

    @Test("a forest plot's rows lie within its axis, in the order of the table")
    func forest() throws {
        let rows = GateFixture.slower.forestPlot.split(separator: "\n")
        #expect(rows.count == 1 + 4 + 1)
        #expect(rows.allSatisfy { $0.count <= 9 + 49 })
        let slower = try #require(rows[1].firstIndex(of: "├")), tolerance = try #require(rows[1].lastIndex(of: ":"))
        #expect(slower > tolerance, "the interval lies beyond the tolerance: \(rows[1])")
        #expect(rows[4].contains("<"), "an interval beyond the axis says so: \(rows[4])")
    }
}

/// Results of gates in which every verdict occurs.
enum GateFixture {
    /// A cell; its ends and its slowdown are changes, such as 0.03.
    static func cell(
        _ name: String, _ verdict: GateVerdict, _ slowdown: Double? = nil, _ low: Double? = nil, _ high: Double? = nil,
        reason: String? = nil, settles: Double? = nil, blocks: Int = 12, injected: Double? = nil
    ) -> JSONValue {
        func ratio(_ change: Double?) -> JSONValue { change.map { .number(1 + $0) } ?? .null }
        let block: JSONValue = [
            "first": "baseline", "order": "A", "iterationCount": 1, "baseline": [1, 1], "candidate": [1, 1],
            "logRatio": 0,
        ]
        return [
            "name": .string(name), "verdict": .string(verdict.rawValue), "slowdown": ratio(slowdown), "low": ratio(low),
            "high": ratio(high), "reason": JSONValue(reason), "seconds": .number(Double(blocks) * 0.25),
            "secondsToSettle": settles.map { .number($0) } ?? .null, "injected": injected.map { .number($0) } ?? .null,
            "cell": [
                "backend": "any", "strategy": "ctr", "windowByteCount": 262_144, "workload": "sequential",
                "access": "block", "threads": 1, "keyByteCount": 16, "objectByteCount": 4_194_304, "source": "file",
            ],
            "phases": [
                [
                    "seed": 1, "plannedBlockCount": 100, "looks": [], "seconds": 3,
                    "blocks": .array(Array(repeating: block, count: blocks)),
                ]
            ],
        ]
    }

    static func result(
        _ verdict: GateVerdict, _ cells: [JSONValue],
        control: JSONValue? = cell("control: 3 % injected", .slower, 0.03, 0.024, 0.036, injected: 0.03),
        memory: JSONValue = .null, notCompared: [JSONValue] = [], reason: String? = nil
    ) -> GateResult {
        func side(_ role: String, _ command: String) -> JSONValue {
            [
                "role": .string(role), "command": .string(command), "name": "chunkwise/openssl", "version": "0.1.0",
                "strategies": ["ctr"], "keyByteCounts": [16], "sources": ["path"],
            ]
        }
        let record: JSONValue = [
            "schema": .string(GateResult.currentSchema), "programVersion": "0.1.0",
            "command": [
                "chunkwise", "gate", "--baseline", "old/chunkwise subject", "--candidate", "new", "--seed", "7",
            ],
            "startedAt": "2026-11-20T12:00:00Z",
            "host": [
                "name": "bench-1", "cpuModel": "Example CPU @ 3.00GHz", "cpuCount": 8, "cpuFlags": ["aes"],
                "memoryByteCount": 1024, "kernel": "Linux 6.12.1", "cacheByteCounts": [],
            ],
            "baseline": side("baseline", "old/chunkwise subject"), "candidate": side("candidate", "new"),
            "tolerance": .number(0.02), "confidence": .number(0.95), "secondsPerCell": 10, "seed": 7,
            "verdict": .string(verdict.rawValue), "reason": JSONValue(reason), "cells": .array(cells),
            "control": control ?? .null, "notCompared": .array(notCompared), "memory": memory, "seconds": .number(12.5),
        ]
        guard let result = GateResult.parse(record.line) else { preconditionFailure("the fixture is no record") }
        return result
    }

    static let memory: JSONValue = [
        "verdict": "grew", "limit": ["share": ["_0": .number(0.05)]],
        "cells": [
            [
                "name": "ctr window=256KiB", "verdict": "grew", "limitByteCount": 524_288,
                "baseline": ["byteCounts": [10_485_760, 10_747_904, 10_485_760]],
                "candidate": ["byteCounts": [20_971_520, 20_971_520, 21_233_664]],
            ],
            [
                "name": "ctr window=64KiB", "verdict": "inconclusive", "reason": "the spreads overlap the limit",
                "limitByteCount": 524_288, "baseline": ["byteCounts": [10_485_760]],
                "candidate": ["byteCounts": [11_010_048]],
            ],
        ],
    ]

    /// All verdicts that can stand side by side, with texts that every format must escape.
    static let slower = result(
        .wrong,
        [
            cell("cbc-continuous window=256KiB", .slower, 0.031, 0.024, 0.039),
            cell("ctr window=256KiB", .same, 0.0004, -0.0051, 0.006),
            cell(
                "cbc-chunked:chunk=64KiB", .inconclusive, 0.019, 0.004, 0.034,
                reason: "the tolerance lies within the interval", settles: 41),
            cell("random:4KiB reads=256", .faster, -0.24, -0.26, -0.22),
            cell(
                "trace:a|b, <c>: 100%", .wrong,
                reason: "the candidate died: \"50 % done\"\r\n::error::not mine\u{1B}[31m & <gone>"),
        ], memory: memory,
        notCompared: [["name": "hls-aes128", "reason": "the baseline does not support it: no such strategy"]])

    static let same = result(
        .same,
        [
            cell("ctr window=256KiB", .same, 0.0004, -0.0051, 0.006),
            cell("cbc-continuous", .faster, -0.03, -0.04, -0.021),
        ])

    static let unfit = result(
        .noisyHost,
        [
            cell(
                "ctr window=256KiB", .noisyHost, 0.01, -0.04, 0.02,
                reason: "cannot see 3 % here: injected in a copy of the baseline, it showed as 2 %")
        ],
        control: cell(
            "control: 3 % injected", .inconclusive, 0.02, -0.03, 0.07,
            reason: "cannot see 3 % here: injected in a copy of the baseline, it showed as 2 %", injected: 0.03))

    static let inconclusive = result(
        .inconclusive,
        [cell("ctr window=256KiB", .inconclusive, 0.02, nil, nil, reason: "3 blocks are too few", blocks: 3)])

    static let nothing = result(
        .inconclusive, [], control: nil,
        notCompared: [["name": "ctr", "reason": "the candidate does not support it: no"]],
        reason: "nothing was compared: expected a cell that both sides support")

    static let all = [
        ("slower", slower), ("same", same), ("unfit", unfit), ("inconclusive", inconclusive), ("nothing", nothing),
    ]
}
