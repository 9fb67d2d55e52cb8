package import RandomAccess
import Results
internal import Support
import Yams

/// Reads a plan from YAML.
///
/// Every value is checked where it stands, so that an error names its line; an unknown key is an error, since it is
/// more often a slip than a wish.
package struct PlanReader {
    private let file: String
    let knownBackends: [String]
    let missingBackends: [String: String]
    let isForeign: (String) -> Bool
    let addedBackends: [String]
    let defaultBackend: String?
    let object: PlanObject?
    let trace: (String) throws -> PlayerTrace?
    let describedFormat: (String) throws -> Format?

    /// The max cells of a plan, those that stand twice counted twice: they would take days to measure.
    private static let maxCells = 10_000
    /// The max length of a plan, and its max aliases. What aliases stand for is read once for each of them, and again
    /// where one stands within another: as few as these make at most some hundred times as much of a text.
    private static let (maxByteCount, maxAliases) = (128 << 10, 16)

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - file: What errors call the plan.
    ///   - knownBackends: The names that `backend` may have.
    ///   - missingBackends: Why a name is none that this machine has.
    ///   - addedBackends: What is measured beside the backends that an entry names; a program only where it can be.
    ///   - defaultBackend: The backend of an entry that names none, or `nil` if each must.
    ///   - object: What all cells are measured on; `nil` for objects that they ask for.
    ///   - trace: Finds a player trace by its name; `nil` if there is none.
    ///   - describedFormat: Finds the format of the user's that a path names; `nil` for a word that is no path.
    ///   - isForeign: Whether another name is of a backend that a subject loads.
    package init(
        file: String, knownBackends: [String], missingBackends: [String: String] = [:],
        addedBackends: [String] = [], defaultBackend: String? = nil, object: PlanObject? = nil,
        trace: @escaping (String) throws -> PlayerTrace? = { _ in nil },
        describedFormat: @escaping (String) throws -> Format? = { _ in nil },
        isForeign: @escaping (String) -> Bool = { _ in false }
    ) {
        (self.file, self.object, self.trace) = (file, object, trace)
        (self.knownBackends, self.missingBackends, self.isForeign) = (knownBackends, missingBackends, isForeign)
        (self.addedBackends, self.defaultBackend) = (addedBackends, defaultBackend)
        self.describedFormat = describedFormat
    }

    /// Reads a plan.
    ///
    /// - Parameter text: YAML.
    /// - Returns: The plan, with at least one cell.
    /// - Throws: `PlanError`.
    package func read(_ text: String) throws(PlanError) -> Plan {
        try requireSmall(text)
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch let error as YamlError {
            throw PlanError(file: file, line: Self.line(of: error), message: Self.noYAML(error))
        } catch {
            throw PlanError(file: file, line: nil, message: Self.noYAML(error))
        }
        guard let root, let top = PlanMapping(root, file: file) else {
            throw PlanError(file: file, line: 1, message: "expected a mapping with the key cells")
        }
        try top.allow([
            "name", "seed", "rounds", "time", "object-size", "bit-rate", "precision", "max-rounds", "max-time", "cells",
        ])
        let rounds = try top.integer("rounds", default: 3, 1...1000)
        if object != nil { try top.refuse(PlanObject.keys, "of an object that is given") }
        let objectByteCount = try top.size("object-size", default: 64 << 20, minimum: 0)
        guard let entries = try top.mappings("cells"), !entries.isEmpty else {
            throw PlanError(file: file, line: top.line, message: "no cells: expected a list under the key cells")
        }
        var cells: [PlannedCell] = []
        var known: Set<String> = []
        var traces: [String: PlayerTrace] = [:]
        var leftOut: [String: String] = [:]
        var strategies: [String: Strategy] = [:]
        var cellCount = 0
        for entry in entries {
            for trace in try entryTraces(entry) { traces[trace.name] = trace }
            let reader = PlanEntryReader(
                entry: entry, reader: self, traces: traces, parameters: try entry.mapping("parameters"))
            cellCount += try reader.cellCount(atMost: Self.maxCells)
            guard cellCount <= Self.maxCells else {
                throw PlanError(
                    file: file, line: entry.line, message: "too many cells: expected at most \(Self.maxCells) in a plan"
                )
            }
            let found = try reader.cells(
                defaultObjectByteCount: objectByteCount, leftOut: &leftOut, strategies: &strategies)
            for cell in found where known.insert(cell.id).inserted {
                cells.append(
                    PlannedCell(
                        cell: cell, rounds: try entry.integer("rounds", default: rounds, 1...1000),
                        objectLine: entry.line(of: "object-size") ?? top.line(of: "object-size") ?? entry.line))
            }
        }
        var plan = Plan(
            text: text, seed: UInt64(try top.integer("seed", default: 1, 0...Int.max >> 10)),
            roundNanoseconds: try top.duration("time", default: 200_000_000), cells: cells, traces: traces)
        plan.missingBackends = leftOut
        plan.strategies = strategies
        plan.precision = try precision(top)
        if let text = try top.text("bit-rate") {
            guard let rate = TimeText.bitsPerSecond(text) else {
                throw top.error("bit-rate", "bit-rate \(text): expected \(TimeText.bitRateExpectation)")
            }
            plan.bitsPerSecond = rate
        }
        return plan
    }

    /// How precise the plan wants its figures; `nil` if it does not say.
    private func precision(_ top: PlanMapping) throws(PlanError) -> Plan.Precision? {
        guard let text = try top.text("precision") else {
            try top.refuse(["max-rounds", "max-time"], "without precision")
            return nil
        }
        guard text.hasSuffix("%"), let percent = Double(text.dropLast().filter { $0 != " " }), percent >= 0.1,
            percent <= 100
        else { throw top.error("precision", "precision \(text): expected a percentage from 0.1% to 100%, such as 2%") }
        return Plan.Precision(
            halfWidth: percent / 100, maxRounds: try top.integer("max-rounds", default: 40, 3...1000),
            maxNanoseconds: try top.text("max-time") == nil ? .max : try top.duration("max-time", default: 0))
    }

    /// Refuses what would take memory and time without end before a cell of it is known.
    private func requireSmall(_ text: String) throws(PlanError) {
        guard text.utf8.count <= Self.maxByteCount else {
            throw PlanError(
                file: file, line: nil,
                message: "a plan of \(text.utf8.count) bytes: expected at most \(Self.maxByteCount)")
        }
        // Wherever an asterisk stands but in a line that is a comment: a few too many are counted, and none too few.
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"))
        let aliasCount = lines.reduce(0) { sum, line in
            let isComment =
                line.first { $0 != UInt8(ascii: " ") } == UInt8(ascii: "#")
                && line.dropLast().allSatisfy { $0 < 0x80 && $0 != UInt8(ascii: "\r") }
            return sum + (isComment ? 0 : line.count { $0 == UInt8(ascii: "*") })
        }
        guard aliasCount <= Self.maxAliases else {
            throw PlanError(
                file: file, line: nil,
                message: "\(aliasCount) aliases (asterisks): expected at most \(Self.maxAliases) in a plan")
        }
    }

    /// The traces that an entry's workloads name; a name that is none is left to the entry's own reader.
    private func entryTraces(_ entry: PlanMapping) throws(PlanError) -> [PlayerTrace] {
        var traces: [PlayerTrace] = []
        for case .trace(let name)? in (try entry.texts("workload") ?? []).map(CellWorkload.init) {
            do {
                if let found = try trace(name) { traces.append(found) }
            } catch {
                throw entry.error("workload", "workload trace:\(name): \(error)")
            }
        }
        return traces
    }

    private static func noYAML(_ error: any Error) -> String {
        "this is not YAML: expected a mapping with the key cells, found \("\(error)".firstLine)"
    }

    private static func line(of error: YamlError) -> Int? {
        switch error {
        case .scanner(_, _, let mark, _), .parser(_, _, let mark, _), .composer(_, _, let mark, _): mark.line
        case .duplicatedKeysInMapping(_, let context): context.mark.line
        default: nil
        }
    }
}

extension String {
    /// The text up to its first line's end.
    fileprivate var firstLine: String { split(separator: "\n").first.map(String.init) ?? self }
}
