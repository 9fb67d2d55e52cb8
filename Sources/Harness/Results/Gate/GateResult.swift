import FoundationEssentials
package import Support

/// All that a gate found.
package struct GateResult: Codable, Hashable, Sendable {
    /// The version of the format.
    package static let currentSchema = "chunkwise-gate-1"

    /// The schema of this record.
    package var schema = currentSchema
    /// The version of `chunkwise` that measured.
    package var programVersion: String
    /// The command line that repeats the run, its seed included.
    package var command: [String]
    /// When the run started, in ISO 8601.
    package var startedAt: String
    /// The machine.
    package var host: RunHeader.Host
    /// What was compared with.
    package var baseline: GateSide
    /// What was judged.
    package var candidate: GateSide
    /// How much slower the candidate may be: 0.02 for 2 %.
    package var tolerance: Double
    /// How often all intervals of a phase together hold the truth, at least.
    package var confidence: Double
    /// How long a cell could be measured, in seconds.
    package var secondsPerCell: Double
    /// The seed.
    package var seed: UInt64
    /// The verdict on everything.
    package var verdict: GateVerdict
    /// Why, where the cells do not say it.
    package var reason: String?
    /// The cells that were compared.
    package var cells: [GateCell]
    /// The baseline against a copy of itself in which a slowdown was planted; `nil` if nothing was timed.
    package var control: GateCell?
    /// The cells that were not compared, since a side does not support them.
    package var notCompared: [NotCompared]
    /// Peak memory, where it was asked for.
    package var memory: GateMemory?
    /// Counts that repeat, where they were asked for.
    package var counts: GateCounts?
    /// The builds of each side; `nil` where there is one.
    package var buildCount: Int?
    /// The same candidate against older programs, each with a budget for its tolerance; `nil` where there is none.
    package var anchors: [GateResult]?
    /// What became of the vectors that the candidate was put to first; `nil` where it was put to none.
    package var vectors: ConformanceRecord?
    /// How long the run took, in seconds.
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
        /// Why.
        package var reason: String

        package init(
            name: String, reason: String
        ) {
            self.name = name
            self.reason = reason
        }
    }

    /// A part of one in percent, to a thousandth: `2 %`, `0.5 %`.
    package static func percent(_ share: Double) -> String {
        // A number of thousandths is written with as many digits as it needs.
        var digits = "\((min(abs(share), 1e9) * 100_000).rounded() / 1000)"
        if digits.hasSuffix(".0") { digits.removeLast(2) }
        return (share < 0 && digits != "0" ? "−" : "") + digits + " %"
    }

    /// The number of cells that were compared.
    package var comparisonCount: Int { cells.count }

    /// Whether its ratios may be kept: something was compared, all of it right.
    package var isFitToRecord: Bool { !cells.isEmpty && !verdict.isBroken }

    /// By how much the layout of a build may move its time: what lies within is not blamed on a program that does the
    /// same, as its counts show. Source: docs/lab/gate-builds-2026-11-24.md.
    package static let layoutShare = 0.005

    /// Takes back that cells are slower by time alone, where they do the same work and a layout explains the rest.
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

    /// Takes back that cells are the same, on a host where a planted slowdown was not seen.
    package mutating func distrust(_ reason: String) {
        for index in cells.indices where cells[index].verdict == .same {
            (cells[index].verdict, cells[index].reason) = (.noisyHost, reason)
        }
    }

    /// Whether the candidate passes.
    ///
    /// - Parameter allowsInconclusive: Whether one that nothing can be said of passes.
    /// - Returns: The answer.
    package func answer(allowsInconclusive: Bool) -> GateAnswer {
        if verdict.isBroken || counts?.verdict == .grew { return .no }
        // A budget is kept where that is shown, whatever else may pass.
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

    /// The whole record as JSON. Members that scripts rely on are always there, as `null` where there is no figure.
    package var json: JSONValue { json(withPhases: true) }

    /// The record without looks and blocks, as `--format json` prints it.
    package var summary: JSONValue { json(withPhases: false) }

    private func json(withPhases: Bool) -> JSONValue {
        JSONValue(
            encoding: self, nullable: ["reason", "memory", "vectors"],
            adding: [
                "comparisons": JSONValue(count: comparisonCount),
                "answer": .string(answer(allowsInconclusive: false).rawValue),
                "cells": .array(cells.map { $0.json(withPhases: withPhases) }),
                "control": control?.json(withPhases: withPhases) ?? .null,
                "anchors": anchors.map { .array($0.map { $0.json(withPhases: withPhases) }) } ?? .null,
            ])
    }

    /// Reads a record.
    ///
    /// - Returns: `nil` if the text is none, or of another schema.
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
            adding: ["blocks": JSONValue(count: blockCount)])
        guard !withPhases, case .object(var members) = json else { return json }
        members["phases"] = nil
        return .object(members)
    }
}

/// What a gate says of a cell, and of everything.
package enum GateVerdict: RawRepresentable, Codable, CaseIterable, Hashable, Sendable {
    /// The candidate takes less time, by more than the tolerance.
    case faster
    /// The candidate takes no more time than the tolerance allows.
    case same
    /// The candidate takes more time, by more than the tolerance.
    case slower
    /// The data do not tell.
    case inconclusive
    /// A slowdown that was planted in a copy of the baseline was not seen here, so that nothing is the same.
    case noisyHost
    /// One side delivered wrong bytes.
    case wrong
    /// One side ended, did not answer, or broke the protocol.
    case failed

    /// Whether a side did not do what it was asked to, so that times mean nothing.
    package var isBroken: Bool { self == .wrong || self == .failed }

    /// Reads a verdict; `hostUnfit` is what version 0.1.0 and before wrote for ``noisyHost``.
    package init?(rawValue: String) {
        let name = rawValue == "hostUnfit" ? "noisyHost" : rawValue
        guard let verdict = Self.allCases.first(where: { $0.rawValue == name }) else { return nil }
        self = verdict
    }

    package var rawValue: String { "\(self)" }

    /// The verdict on several cells: the first that occurs of wrong, failed, slower, noisyHost, inconclusive, same, faster.
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

/// Whether a gate lets something pass; the command line has an exit code for each.
package enum GateAnswer: String, Hashable, Sendable {
    /// It does.
    case yes
    /// Something is slower, wrong, or takes more memory.
    case no
    /// There is no answer.
    case none
}

/// One of the two programs that a gate compares, as it describes itself.
package struct GateSide: Codable, Hashable, Sendable {
    /// Which one.
    package enum Role: String, Codable, Hashable, Sendable {
        /// What is compared with.
        case baseline
        /// What is judged.
        case candidate
    }

    /// Which one it is.
    package var role: Role
    /// Its command line, for `/bin/sh -c`.
    package var command: String
    /// Its name, as it says.
    package var name: String
    /// Its version, as it says.
    package var version: String
    /// The names of the strategies that it has.
    package var strategies: [String]
    /// The AES key lengths that it takes, in bytes.
    package var keyByteCounts: [Int]
    /// Where it reads ciphertext from: `path`, `served`.
    package var sources: [String]

    /// Whether it opens files by itself.
    package var readsFiles: Bool { sources.contains("path") }

    /// Whether it takes ciphertext from this program.
    package var isServed: Bool { sources.contains("served") || !readsFiles }

    /// Reads an answer to `hello`.
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
