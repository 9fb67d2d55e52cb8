import Gate
import Report
import Results
import Support
import Testing

@Suite("a self-test's rates, as they are shown")
struct SelfTestSummaryTests {
    private static let header: JSONValue = [
        "schema": .string(SelfTestHeader.currentSchema), "programVersion": "0.1.0", "command": ["chunkwise"],
        "startedAt": "2026-11-20T12:00:00Z", "baseline": "chunkwise subject", "cells": [], "tolerance": .number(0.02),
        "confidence": .number(0.95), "secondsPerCell": 10, "isBusy": true, "seed": 7,
        "host": [
            "name": "bench-1", "cpuModel": "Example CPU @ 3.00GHz", "cpuCount": 8, "cpuFlags": ["aes"],
            "memoryByteCount": 1024, "kernel": "Linux 6.12.1", "cacheByteCounts": [],
        ],
    ]

    private static func point(_ extraWork: Double, _ slowdown: Double) -> JSONValue {
        [
            "extraWork": .number(extraWork), "cell": "ctr window=256KiB", "slowdown": .number(slowdown),
            "low": .number(slowdown - 0.001), "high": .number(slowdown + 0.001), "blockCount": 60,
        ]
    }

    private static func run(
        _ injected: Double, _ verdict: GateVerdict, _ number: Int, shown: Double? = nil
    ) -> JSONValue {
        // Blocks that lie evenly around what was injected, or what they are to show instead.
        let center = shown ?? injected
        let logRatios = (0..<14).map { JSONValue.number(center + (Double(($0 * 5 + number) % 14) - 6.5) / 1000) }
        let cell: JSONValue = [
            "name": "ctr window=256KiB", "verdict": .string(verdict.rawValue),
            "seconds": .number(1.5 + Double(number) / 2),
            "logRatios": [.array(logRatios)],
        ]
        return [
            "run": [
                "injected": .number(injected), "extraWork": .number(injected * 1.8), "seed": .integer(UInt64(number)),
                "verdict": .string(verdict.rawValue), "seconds": .number(4 + Double(number)), "cells": [cell],
                "control": cell,
            ]
        ]
    }

    private static func summary(
        _ runs: [JSONValue], isComplete: Bool = true, isCalibrated: Bool = true
    ) throws -> SelfTestSummary {
        let calibration: JSONValue = ["calibration": ["large": point(0.3, 1.167), "small": point(0.06, 1.035)]]
        let lines: [JSONValue] = [["header": header]] + (isCalibrated ? [calibration] : []) + runs
        let records = try SelfTestRecord.read(lines.flatMap(\.line), file: "f").0
        return try #require(SelfTestSummary(records, isComplete: isComplete))
    }

    private static let runs: [JSONValue] =
        (0..<18).map { run(0, .same, $0) } + [run(0, .inconclusive, 18), run(0, .noisyHost, 19)]
        + (0..<19).map { run(0.03, .slower, $0) } + [run(0.03, .faster, 19)]

    @Test("rates are the same as ever, byte for byte")
    func golden() throws {
        let summary = try Self.summary(Self.runs)
        try GoldenFolder("GoldenSelfTest").expect(Array(summary.json.text.utf8), in: "self-test.json")
        expectText(
            summary.text,
            has: [
                "extra work 0.3 makes ctr window=256KiB slower by +16.70 %, interval +16.60 % to +16.80 %, 60 blocks",
                "false alarms at most 13.911 % of runs",
                "all blocks together show +3.05 %, interval +2.99 % to +3.10 %",
                "found in 19 of 20: 8 within 5 s, 18 within 10 s, 19 within 60 s a cell", "20 of 20 (100 %, interval",
                "a whole gate takes 13.0 s (median), 23.0 s (longest)",
            ])
    }

    @Test("the figures are those of the runs")
    func figures() throws {
        let json = try Self.summary(Self.runs).json
        let (unchanged, injected) = (try #require(json["groups"]?.array?[0]), try #require(json["groups"]?.array?[1]))
        #expect(unchanged["runs"] == 20 && unchanged["rates"]?["slower"]?["count"] == 0)
        #expect(unchanged["rates"]?["inconclusive"]?["count"] == 1 && unchanged["rates"]?["noisyHost"]?["count"] == 1)
        #expect(injected["rates"]?["slower"]?["count"] == 19 && injected["rates"]?["faster"]?["count"] == 1)
        #expect(injected["foundWithin"]?["5"] == 8 && injected["foundWithin"]?["10"] == 18)
        #expect(json["coverage"]?["share"]?["of"] == 20)
    }

    @Test("what was stopped says so, and what has nothing unchanged says nothing of coverage")
    func parts() throws {
        let text = try Self.summary([Self.run(0.03, .slower, 1)], isComplete: false).text
        #expect(text.contains("stopped before the end") && !text.contains("hold no change"))
        #expect(!(try Self.summary(Self.runs).text.contains("stopped")))
    }

    @Test("runs that show another slowdown than the calibration says are noticed, and none without a calibration")
    func disagreement() throws {
        func text(shown: Double, isCalibrated: Bool = true) throws -> String {
            let runs = (0..<20).map { Self.run(0.03, .slower, $0, shown: shown) }
            return try Self.summary(runs, isCalibrated: isCalibrated).text
        }
        #expect(try text(shown: 0.04).contains("the two disagree: the rates are those of +4.08 %"))
        #expect(!(try text(shown: 0.03).contains("disagree")))
        let json = try Self.summary((0..<20).map { Self.run(0.03, .slower, $0, shown: 0.04) }).json
        #expect(json["groups"]?.array?[0]["contradictsCalibrations"] == true)
        #expect(!(try text(shown: 0.04, isCalibrated: false).contains("disagree")))
    }
}
