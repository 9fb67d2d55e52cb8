package import RandomAccess
import Results
internal import Support

/// A reader of plans in YAML.
///
/// It checks every value in its place, so that an error names the line. An unknown key is an error, because it is
/// usually a mistake.
package struct PlanReader {
    private let file: String
    let knownBackends: [String]
    let missingBackends: [String: String]
    let lacks: (_ backend: String, Strategy) -> String?
    let isForeign: (String) -> Bool
    let addedBackends: [String]
    let defaultBackend: String?
    let object: PlanObject?
    let trace: (String) throws -> PlayerTrace?
    let describedFormat: (String) throws -> Format?

    /// The maximum number of cells of a plan, including duplicates. More would take days to measure.
    private static let maxCells = 10_000
    /// The maximum length of a plan in bytes, and the maximum number of values in it.
    private static let (maxByteCount, maxNodeCount) = (128 << 10, 1 << 16)

    /// - Parameters:
    ///   - file: The plan's name in errors.
    ///   - knownBackends: The possible names for `backend`.
    ///   - missingBackends: The reasons for which this machine lacks backends, by backend name.
    ///   - addedBackends: The backends to measure in addition to those of each entry. A program is added only to cells
    ///     that it can measure.
    ///   - defaultBackend: The backend of an entry without one; `nil` if each entry must name one.
    ///   - object: The object for all cells; `nil` to generate objects.
    ///   - trace: Returns a player trace by its name; `nil` if there is none.
    ///   - describedFormat: Returns the user's format at a path; `nil` for a word that is not a path.
    ///   - lacks: Returns what a backend lacks for a strategy; `nil` if it has all that the strategy needs.
    ///   - isForeign: Returns whether another name is that of a backend that a subject loads.
    package init(
        file: String, knownBackends: [String], missingBackends: [String: String] = [:],
        addedBackends: [String] = [], defaultBackend: String? = nil, object: PlanObject? = nil,
        trace: @escaping (String) throws -> PlayerTrace? = { _ in nil },
        describedFormat: @escaping (String) throws -> Format? = { _ in nil },
        lacks: @escaping (_ backend: String, Strategy) -> String? = { _, _ in nil },
        isForeign: @escaping (String) -> Bool = { _ in false }
    ) {
        (self.file, self.object, self.trace) = (file, object, trace)
        (self.knownBackends, self.missingBackends, self.isForeign) = (knownBackends, missingBackends, isForeign)
        (self.addedBackends, self.defaultBackend) = (addedBackends, defaultBackend)
        (self.describedFormat, self.lacks) = (describedFormat, lacks)
    }

    /// Reads a plan.
    ///
    /// - Parameter text: YAML.
    /// - Returns: The plan, with at least one cell.
    /// - Throws: `PlanError`.
    package func read(_ text: String) throws(PlanError) -> Plan {
        let root: YAMLNode
        do throws(DescriptionError) {
            root = try YAMLNode(Array(text.utf8), maxByteCount: Self.maxByteCount, maxNodeCount: Self.maxNodeCount)
        } catch {
            throw PlanError(file: file, error)
        }
        let top = try PlanMapping(root, file: file, expected: "a mapping with the key cells")
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

    /// The precision in the plan; `nil` if it has none.
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

    /// The traces that an entry's workloads name. The entry's own reader reports unknown names.
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
}
