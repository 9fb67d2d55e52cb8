import Results
internal import Support
import Yams

/// Reads a plan from YAML.
///
/// Every value is checked where it stands, so that an error names its line; an unknown key is an error, since it is
/// more often a slip than a wish.
package struct PlanReader {
    private let file: String
    private let knownBackends: [String]
    private let missingBackends: [String: String]
    private let defaultBackend: String?
    private let object: PlanObject?
    private let trace: (String) throws -> PlayerTrace?

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - file: What errors call the plan.
    ///   - knownBackends: The names that `backend` may have.
    ///   - missingBackends: Why a name is none that this machine has.
    ///   - defaultBackend: The backend of an entry that names none, or `nil` if each must.
    ///   - object: What all cells are measured on; `nil` for objects that they ask for.
    ///   - trace: Finds a player trace by its name; `nil` if there is none.
    package init(
        file: String, knownBackends: [String], missingBackends: [String: String] = [:],
        defaultBackend: String? = nil, object: PlanObject? = nil,
        trace: @escaping (String) throws -> PlayerTrace? = { _ in nil }
    ) {
        self.file = file
        self.knownBackends = knownBackends
        self.missingBackends = missingBackends
        self.defaultBackend = defaultBackend
        self.object = object
        self.trace = trace
    }

    /// Reads a plan.
    ///
    /// - Parameter text: YAML.
    /// - Returns: The plan, with at least one cell.
    /// - Throws: `PlanError`.
    package func read(_ text: String) throws(PlanError) -> Plan {
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
        try top.allow(["name", "seed", "rounds", "time", "object-size", "bit-rate", "cells"])
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
        for entry in entries {
            for trace in try entryTraces(entry) { traces[trace.name] = trace }
            let reader = PlanEntryReader(
                entry: entry, knownBackends: knownBackends, missingBackends: missingBackends,
                defaultBackend: defaultBackend, object: object, traces: traces)
            let found = try reader.cells(defaultObjectByteCount: objectByteCount, leftOut: &leftOut)
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
        if let text = try top.text("bit-rate") {
            guard let rate = TimeText.bitsPerSecond(text) else {
                throw top.error("bit-rate", "bit-rate \(text): expected \(TimeText.bitRateExpectation)")
            }
            plan.bitsPerSecond = rate
        }
        return plan
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
