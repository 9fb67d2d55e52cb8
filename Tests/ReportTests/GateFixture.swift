import Results
import Support

/// Results of gates in which every verdict occurs.
enum GateFixture {
    /// A cell; its ends and its slowdown are changes, such as 0.03.
    static func cell(
        _ name: String, _ verdict: GateVerdict, _ slowdown: Double? = nil, _ low: Double? = nil, _ high: Double? = nil,
        reason: String? = nil, settles: Double? = nil, blocks: Int = 12
    ) -> JSONValue {
        func ratio(_ change: Double?) -> JSONValue { change.map { .number(1 + $0) } ?? .null }
        let block: JSONValue = [
            "first": "baseline", "order": "A", "iterationCount": 1, "baseline": [1, 1], "candidate": [1, 1],
            "logRatio": 0,
        ]
        return [
            "name": .string(name), "verdict": .string(verdict.rawValue), "slowdown": ratio(slowdown), "low": ratio(low),
            "high": ratio(high), "reason": JSONValue(reason), "seconds": .number(Double(blocks) * 0.25),
            "secondsToSettle": settles.map { .number($0) } ?? .null,
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
        control: JSONValue? = cell("control: ctr", .same, 0.001, -0.004, 0.006),
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
                "cbc-chunked chunk=64KiB", .inconclusive, 0.019, 0.004, 0.034,
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
                "ctr window=256KiB", .noisyHost, 0.05, 0.04, 0.06,
                reason: "two copies differ; by itself the cell is slower")
        ],
        control: cell("control: ctr window=256KiB", .noisyHost, 0.04, 0.03, 0.05, reason: "two copies differ"))

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
