import FoundationEssentials
package import Support

/// All results of a gate.
package struct GateResult: Codable, Hashable, Sendable {
    /// The version of the format.
    package static let currentSchema = "chunkwise-gate-1"

    /// The schema of this record.
    package var schema = currentSchema
    /// The version of `chunkwise` that measured.
    package var programVersion: String
    /// The command line that repeats the run, its seed included.
    package var command: [String]
    /// The start of the run, in ISO 8601.
    package var startedAt: String
    /// The machine.
    package var host: RunHeader.Host
    /// The program that the candidate is compared with.
    package var baseline: GateSide
    /// The program under test.
    package var candidate: GateSide
    /// The max slowdown of the candidate that is allowed: 0.02 for 2 %.
    package var tolerance: Double
    /// The min probability that all intervals of a phase together hold the truth.
    package var confidence: Double
    /// The max time to measure a cell in each phase, in seconds.
    package var secondsPerCell: Double
    /// The seed of all orders and random reads.
    package var seed: UInt64
    /// The verdict on the whole run.
    package var verdict: GateVerdict
    /// The reason for the verdict, if the cells do not give it.
    package var reason: String?
    /// The cells that were compared.
    package var cells: [GateCell]
    /// The baseline against a copy of itself with an injected slowdown; `nil` if nothing was timed.
    package var control: GateCell?
    /// The cells that were not compared, because a side does not support them.
    package var notCompared: [NotCompared]
    /// The comparison of peak memory; `nil` if the user did not ask for it.
    package var memory: GateMemory?
    /// The comparison of counts that repeat; `nil` if the user did not ask for it.
    package var counts: GateCounts?
    /// The number of builds of each side; `nil` for a single build.
    package var buildCount: Int?
    /// The results of the same candidate against older programs, each with a budget as its tolerance; `nil` without
    /// them.
    package var anchors: [GateResult]?
    /// The candidate's results in the vectors, which run first; `nil` if no vectors were run.
    package var vectors: ConformanceRecord?
    /// The duration of the run in seconds.
    package var seconds: Double

    package init(
        programVersion: String, command: [String], startedAt: String, host: RunHeader.Host,
        baseline: GateSide, candidate: GateSide, tolerance: Double, confidence: Double,
        secondsPerCell: Double, seed: UInt64, verdict: GateVerdict, reason: String? = nil, cells: [GateCell],
        control: GateCell? = nil, notCompared: [NotCompared], memory: GateMemory? = nil, seconds: Double
    ) {
        self.programVersion = programVersion
        self.command = command
        self.startedAt = startedAt
        self.host = host
        self.baseline = baseline
        self.candidate = candidate
        self.tolerance = tolerance
        self.confidence = confidence
        self.secondsPerCell = secondsPerCell
        self.seed = seed
        self.verdict = verdict
        self.reason = reason
        self.cells = cells
        self.control = control
        self.notCompared = notCompared
        self.memory = memory
        self.seconds = seconds
    }

    /// A cell that was left out.
    package struct NotCompared: Codable, Hashable, Sendable {
        /// The cell's name.
        package var name: String
        /// The reason.
        package var reason: String

        package init(
            name: String, reason: String
        ) {
            self.name = name
            self.reason = reason
        }
    }

    /// Returns a fraction in percent, to a thousandth of a percent: `2 %`, `0.5 %`.
    package static func percent(_ share: Double) -> String {
        // The number of thousandths is whole, and gets as many digits as it needs.
        var digits = "\((min(abs(share), 1e9) * 100_000).rounded() / 1000)"
        if digits.hasSuffix(".0") { digits.removeLast(2) }
        return (share < 0 && digits != "0" ? "−" : "") + digits + " %"
    }

    /// The number of cells that were compared.
    package var comparisonCount: Int { cells.count }

    /// True if the ratios may be recorded: cells were compared, and none was wrong or failed.
    package var isFitToRecord: Bool { !cells.isEmpty && !verdict.isBroken }

    /// The share of its time by which a build may differ through its layout alone. A program whose counts are the same
    /// is not blamed for a slowdown within this share. Source: docs/lab/gate-builds-2026-11-24.md.
    package static let layoutShare = 0.005

    /// Makes a cell inconclusive that is slower by time alone: its counts are the same, and a build's layout may
    /// explain the excess over the tolerance.
    package mutating func doubtTimeAlone(_ counts: GateCounts) {
        for index in cells.indices where cells[index].verdict == .slower {
            let cell = cells[index]
            guard counts.cells.contains(where: { $0.name == cell.name && $0.verdict == .same }),
                (cell.low ?? 1) - 1 <= tolerance + Self.layoutShare
            else { continue }
            cells[index].verdict = .inconclusive
            cells[index].reason =
                "slower by time alone: all counts are the same, and another layout of the same code may take up to "
                + "\(Self.percent(Self.layoutShare)) more: --builds tells"
        }
    }

    /// Replaces the verdict `same` by `noisyHost`, for a host on which the gate did not see the injected slowdown.
    package mutating func distrust(_ reason: String) {
        for index in cells.indices where cells[index].verdict == .same {
            (cells[index].verdict, cells[index].reason) = (.noisyHost, reason)
        }
    }

    /// Returns whether the candidate passes.
    ///
    /// - Parameter allowsInconclusive: Whether an inconclusive candidate passes.
    /// - Returns: The answer.
    package func answer(allowsInconclusive: Bool) -> GateAnswer {
        if verdict.isBroken || counts?.verdict == .grew { return .no }
        // A budget is kept only if that is shown, even if an inconclusive candidate may pass.
        for answer in (anchors ?? []).map({ $0.answer(allowsInconclusive: false) }) where answer != .yes {
            return answer
        }
        guard !cells.isEmpty else { return memory?.verdict == .grew ? .no : .none }
        if verdict == .slower || memory?.verdict == .grew { return .no }
        if verdict == .noisyHost { return .none }
        if verdict == .inconclusive || memory?.verdict == .inconclusive || counts?.verdict == .inconclusive {
            return allowsInconclusive ? .yes : .none
        }
        return .yes
    }

    /// The whole record as JSON. Members that scripts rely on are always present, with `null` for a missing figure.
    package var json: JSONValue { json(withPhases: true) }

    /// The record without looks and blocks, as `--format json` prints it.
    package var summary: JSONValue { json(withPhases: false) }

    private func json(withPhases: Bool) -> JSONValue {
        JSONValue(
            encoding: self, nullable: ["reason", "memory", "vectors"],
            adding: [
                "comparisons": comparisonCount, "answer": answer(allowsInconclusive: false).rawValue,
                "cells": cells.map { $0.json(withPhases: withPhases) },
                "control": control?.json(withPhases: withPhases),
                "anchors": anchors?.map { $0.json(withPhases: withPhases) },
            ])
    }

    /// Reads a record.
    ///
    /// - Returns: `nil` if the text is not a record, or has another schema.
    package static func parse(_ text: [UInt8]) -> GateResult? {
        guard let result = try? JSONDecoder().decode(GateResult.self, from: Data(text)) else { return nil }
        return result.schema == currentSchema ? result : nil
    }
}

extension GateCell {
    /// The cell as JSON; see ``GateResult/json``.
    fileprivate func json(withPhases: Bool) -> JSONValue {
        let json = JSONValue(
            encoding: self, nullable: ["slowdown", "low", "high", "reason", "secondsToSettle"],
            adding: ["blocks": blockCount])
        guard !withPhases, case .object(var members) = json else { return json }
        members["phases"] = nil
        return .object(members)
    }
}

/// The verdict of a gate on a cell, or on the whole run.
package enum GateVerdict: String, Codable, CaseIterable, Hashable, Sendable {
    /// The candidate takes less time, by more than the tolerance.
    case faster
    /// The candidate takes no more time than the tolerance allows.
    case same
    /// The candidate takes more time, by more than the tolerance.
    case slower
    /// The data do not allow a verdict.
    case inconclusive
    /// The gate did not see an injected slowdown in a copy of the baseline on this host, so it calls no cell the same.
    case noisyHost
    /// One side delivered wrong bytes.
    case wrong
    /// One side exited, did not answer, or broke the protocol.
    case failed

    /// True if a side did not do its work, so that times mean nothing.
    package var isBroken: Bool { self == .wrong || self == .failed }

    /// Returns the verdict on several cells: the first that occurs of wrong, failed, slower, noisyHost, inconclusive,
    /// same, faster.
    ///
    /// - Returns: `nil` for no cells.
    package static func overall(_ verdicts: some Sequence<GateVerdict>) -> GateVerdict? {
        verdicts.min { $0.rank < $1.rank }
    }

    private var rank: Int {
        switch self {
        case .wrong: 0
        case .failed: 1
        case .slower: 2
        case .noisyHost: 3
        case .inconclusive: 4
        case .same: 5
        case .faster: 6
        }
    }
}

/// The answer of a gate: the candidate passes or not. The command line has an exit code for each case.
package enum GateAnswer: String, Hashable, Sendable {
    /// The candidate passes.
    case yes
    /// The candidate is slower, wrong, does more work, or takes more memory.
    case no
    /// The gate has no answer.
    case none
}

/// One of the two programs that a gate compares, as it describes itself.
package struct GateSide: Codable, Hashable, Sendable {
    /// The program's role.
    package enum Role: String, Codable, Hashable, Sendable {
        /// The program to compare with.
        case baseline
        /// The program under test.
        case candidate
    }

    /// The program's role.
    package var role: Role
    /// Its command line, for `/bin/sh -c`.
    package var command: String
    /// The name that the program reports.
    package var name: String
    /// The version that the program reports.
    package var version: String
    /// The names of the strategies that the program supports.
    package var strategies: [String]
    /// The AES key lengths that the program supports, in bytes.
    package var keyByteCounts: [Int]
    /// The sources from which the program reads ciphertext: `path`, `served`.
    package var sources: [String]

    /// True if the program opens files by itself.
    package var readsFiles: Bool { sources.contains("path") }

    /// True if the program reads ciphertext from this one.
    package var isServed: Bool { sources.contains("served") || !readsFiles }

    /// Reads the answer to `hello`.
    package init(role: Role, command: String, hello: JSONValue) {
        self.role = role
        self.command = command
        name = hello["name"]?.string ?? ""
        version = hello["version"]?.string ?? ""
        strategies = (hello["strategies"]?.array ?? []).compactMap(\.string)
        keyByteCounts = (hello["keyByteCounts"]?.array ?? []).compactMap(\.integer).map { Int(clamping: $0) }
        sources = (hello["sources"]?.array ?? []).compactMap(\.string)
    }
}
