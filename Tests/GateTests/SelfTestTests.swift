import CLinux
import Foundation
import Gate
import Glibc
import Measurement
import Results
import Statistics
import SystemPackage
import TestSupport
import Testing

/// Blocks' log-ratios with noise from a seed: heavier tails than a normal distribution has.
private func noise(_ count: Int, using generator: inout SplitMix64, center: Double = 0) -> [Double] {
    func uniform() -> Double { Double(generator.next() >> 11) / Double(1 << 53) - 0.5 }
    return (0..<count).map { _ in
        let sum = (0..<4).reduce(0.0) { sum, _ in sum + uniform() }
        return center + 0.01 * sum * (generator.next() % 10 == 0 ? 5 : 1)
    }
}

private func cell(_ verdict: GateVerdict, seconds: Double = 3, _ logRatios: [Double] = []) -> [String: Any] {
    ["name": "c", "verdict": verdict.rawValue, "seconds": seconds, "logRatios": [logRatios]]
}

private func run(
    _ injected: Double, _ verdict: GateVerdict, seconds: Double = 3, _ logRatios: [Double] = []
) throws -> SelfTestRun {
    let members: [String: Any] = [
        "injected": injected, "extraWork": injected * 2, "seed": 1, "verdict": verdict.rawValue, "seconds": 2 * seconds,
        "cells": [cell(verdict, seconds: seconds, logRatios)],
    ]
    return try JSONDecoder().decode(SelfTestRun.self, from: JSONSerialization.data(withJSONObject: members))
}

@Suite("self-test of the gate")
struct SelfTestTests {
    @Test("rates are those of the runs, by what was injected")
    func groups() throws {
        var runs = try (0..<98).map { _ in try run(0, .same) }
        runs += [try run(0, .slower), try run(0, .noisyHost)]
        runs += try [2.0, 4, 6, 12].map { try run(0.03, .slower, seconds: $0) }
        runs.append(try run(0.03, .inconclusive, seconds: 20))
        let groups = SelfTestGroup.groups(of: runs.map { .run($0) })
        #expect(groups.map(\.injected) == [0, 0.03])
        #expect(groups[0].runs.count == 100 && groups[0].count(.slower) == 1 && groups[0].count(.noisyHost) == 1)
        let rate = try #require(groups[0].rate(.slower))
        #expect(abs(rate.low - 0.000253) < 1e-6 && abs(rate.high - 0.054459) < 1e-6)
        #expect(groups[1].count(.slower) == 4)
        #expect(groups[1].detectionCount(within: 5) == 2 && groups[1].detectionCount(within: 10) == 3)
        #expect(groups[1].decisionSeconds == [2, 4, 6, 12])
    }

    @Test("300 runs without a false alarm bound its rate by 1 %")
    func bound() throws {
        let runs = try (0..<300).map { _ in SelfTestRecord.run(try run(0, .same)) }
        let bound = try #require(SelfTestGroup.groups(of: runs).first?.bound(.slower))
        #expect(bound < 0.01 && bound > 0.0099)
    }

    @Test("all blocks of a group together show what was injected")
    func pooled() throws {
        var generator = SplitMix64(seed: 3)
        let runs = try (0..<60).map { _ in
            try run(0.03, .slower, noise(40, using: &generator, center: log(1.03)))
        }
        let pooled = try #require(SelfTestGroup.groups(of: runs.map { .run($0) }).first?.pooledSlowdown)
        #expect(pooled.low < 1.03 && pooled.high > 1.03 && pooled.high - pooled.low < 0.003)
    }

    @Test("intervals of unchanged runs hold no change in at least 93 of 100 runs")
    func coverage() throws {
        var generator = SplitMix64(seed: 4)
        let runs = try (0..<1000).map { _ in
            try run(0, .same, noise(8 + Int(generator.next() % 20), using: &generator))
        }
        let found = IntervalCoverage(runs)
        let share = try #require(found.share)
        #expect(found.blockCount == 8 && share.trialCount == 1000 && share.rate >= 0.93)
    }

    @Test("blocks that lean to one side are noticed: their intervals miss the truth")
    func leaning() throws {
        var generator = SplitMix64(seed: 5)
        let runs = try (0..<100).map { _ in try run(0, .same, noise(12, using: &generator, center: 0.02)) }
        #expect((IntervalCoverage(runs).share?.rate ?? 1) < 0.5)
    }

    @Test("runs that injected something, and too few blocks, give no coverage")
    func noCoverage() throws {
        var generator = SplitMix64(seed: 6)
        #expect(IntervalCoverage([try run(0.03, .slower, noise(12, using: &generator))]).share == nil)
        #expect(IntervalCoverage([try run(0, .same, noise(5, using: &generator))]).share == nil)
        #expect(IntervalCoverage([]).share == nil)
    }
}

@Suite("calibration of injected slowdowns")
struct SelfTestCalibrationTests {
    private func point(_ extraWork: Double, _ slowdown: Double, error: Double = 0.001) -> SelfTestCalibration.Point {
        .init(
            extraWork: extraWork, cell: "c", slowdown: slowdown, low: slowdown - error, high: slowdown + error,
            blockCount: 50)
    }

    @Test("the work for a slowdown lies on the line through both points", arguments: [0.03, 0.04, 0.07, 0.2])
    func line(injected: Double) {
        // A call costs 0.002 whatever its length, a share of work 0.55 of it.
        let calibration = SelfTestCalibration(large: point(0.3, 1.167), small: point(0.06, 1.035))
        let extraWork = calibration.extraWork(for: injected)
        #expect(abs(0.002 + 0.55 * extraWork - injected) < 1e-6)
        #expect(extraWork == (extraWork * 1e6).rounded() / 1e6, "a subject takes millionths")
    }

    @Test("an injected slowdown is as uncertain as the point near it, and more beyond both")
    func range() {
        let calibration = SelfTestCalibration(
            large: point(0.3, 1.2, error: 0.002), small: point(0.06, 1.03, error: 0.001))
        func width(_ injected: Double) -> Double {
            let range = calibration.range(of: injected)
            #expect(abs((range.lowerBound + range.upperBound) / 2 - injected) < 1e-12)
            return range.upperBound - range.lowerBound
        }
        #expect(abs(width(0.03) - 0.002) < 1e-9 && abs(width(0.2) - 0.004) < 1e-9)
        #expect(width(0.01) > width(0.03) && width(0.4) > width(0.2))
    }

    @Test("work that slows nothing down is no calibration")
    func implausible() {
        #expect(point(0.3, 1.17).isPlausible)
        #expect(!point(0.3, 1.0005).isPlausible && !point(0.3, 1.02).isPlausible && !point(0, 1.2).isPlausible)
    }
}

@Suite("a self-test's file")
struct SelfTestRecordTests {
    private static func header(tolerance: Double = 0.02, isBusy: Bool = false) -> SelfTestHeader {
        var gate = GateSettings(baseline: "a", candidate: "a", cells: [ScriptedSubject.cell], seed: 5)
        gate.tolerance = tolerance
        return SelfTestHeader(
            settings: SelfTestSettings(gate: gate, runCount: 1, slowdowns: [], isBusy: isBusy), baseline: "a",
            programVersion: "1", command: ["chunkwise"], startedAt: "2026-01-01T00:00:00Z",
            host: .init(name: "h", cpuModel: "CPU", cpuCount: 1, cpuFlags: [], memoryByteCount: 1, kernel: "k"))
    }

    private static let calibration: SelfTestCalibration = {
        let point = SelfTestCalibration.Point(
            extraWork: 0.3, cell: "c", slowdown: 1.2, low: 1.19, high: 1.21, blockCount: 9)
        return SelfTestCalibration(large: point, small: point)
    }()

    private static let bytes = SelfTestRecord.header(header()).line + SelfTestRecord.calibration(calibration).line

    @Test("what was written is read again, and a last line without an end was not")
    func roundTrip() throws {
        let (records, byteCount) = try SelfTestRecord.read(Self.bytes + Array("{\"run\":{\"pl".utf8), file: "f")
        #expect(byteCount == Self.bytes.count && records.count == 2)
        guard case .header(let header) = records[0], case .calibration(let calibration) = records[1] else {
            Issue.record("other records than were written")
            return
        }
        #expect(header == Self.header() && calibration == Self.calibration)
    }

    @Test("a log goes on after its last whole line")
    func log() throws {
        let folder = try TemporaryFolder()
        let path = FilePath(try folder.file("log", Self.bytes + Array("{\"run".utf8)))
        do {
            let log = try SelfTestLog(path: path)
            #expect(log.earlierRecords.count == 2)
            try log.append(.calibration(Self.calibration))
        }
        #expect(folder.bytes("log") == Self.bytes + SelfTestRecord.calibration(Self.calibration).line)
    }

    @Test(
        "what is no self-test's file is refused",
        arguments: ["{}\n", "x\n", "{\"header\":{\"schema\":1}}\n", "{\"header\":1}\n"])
    func garbage(text: String) {
        #expect(throws: GateError.self) { try SelfTestRecord.read(Array(text.utf8), file: "f") }
    }

    @Test("a file without a header, or of another schema, is refused by name")
    func schema() {
        let error = #expect(throws: GateError.self) {
            try SelfTestRecord.read(SelfTestRecord.calibration(Self.calibration).line, file: "f")
        }
        #expect("\(error ?? .interrupted)".contains("header"))
        var header = Self.header()
        header.schema = "chunkwise-gate-self-test-9"
        let other = #expect(throws: GateError.self) {
            try SelfTestRecord.read(SelfTestRecord.header(header).line, file: "f")
        }
        #expect("\(other ?? .interrupted)".contains("self-test-9"))
    }

    @Test("self-tests that differ in what they measure are two")
    func differences() {
        var later = Self.header()
        later.startedAt = "2027-01-01T00:00:00Z"
        later.seed = 9
        #expect(Self.header().difference(from: later) == nil)
        #expect(Self.header().difference(from: Self.header(tolerance: 0.05))?.contains("tolerance") == true)
        #expect(Self.header().difference(from: Self.header(isBusy: true))?.contains("busy") == true)
    }
}

@Suite("cores that are kept busy")
struct BusyCoresTests {
    /// The CPUs that this process may run on: a container's set may be smaller than the machine's.
    private static var allowed: [Int32] { (0..<chunkwise_cpu_count()).filter(chunkwise_is_allowed) }

    @Test("there is a thread for each CPU but one, and all of them end")
    func count() {
        let busy = BusyCores()
        #expect(busy.threadCount >= Self.allowed.count - 1 && busy.threadCount < Int(chunkwise_cpu_count()))
    }

    @Test("a thread of a process that is kept to one CPU keeps the others busy, and not that one")
    func affinity() throws {
        let own = try #require(Self.allowed.last)
        let others = Self.allowed.count - 1
        let box = ThreadBox()
        var thread = pthread_t()
        let argument = Unmanaged.passUnretained(box).toOpaque()
        try #require(chunkwise_start_on(own, &thread, ThreadBox.count, argument))
        pthread_join(thread, nil)
        // The CPUs that the thread was kept from got threads of their own; those that the process is kept from did not.
        #expect(box.allowed == [own] && box.threadCount >= others)
    }

    @Test("there is no CPU beyond the last one")
    func limits() {
        #expect(!chunkwise_is_allowed(-1) && !chunkwise_is_allowed(.max))
        var thread = pthread_t()
        #expect(!chunkwise_start_on(.max, &thread, { $0 }, nil))
    }
}

/// The values that a thread on one CPU sees.
private final class ThreadBox {
    var allowed: [Int32] = []
    var threadCount = 0

    static let count: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
        guard let argument else { return nil }
        let box = Unmanaged<ThreadBox>.fromOpaque(argument).takeUnretainedValue()
        box.allowed = (0..<chunkwise_cpu_count()).filter(chunkwise_is_allowed)
        box.threadCount = BusyCores().threadCount
        return nil
    }
}
