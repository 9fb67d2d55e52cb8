package import JSON

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension GateResult {
    /// The whole record as JSON. Members that scripts rely on are always there, as `null` where there is no figure.
    package var json: JSONValue {
        guard case .object(var members) = Self.encoded(self) else { return .null }
        members["reason"] = JSONValue(reason)
        members["comparisons"] = JSONValue(count: comparisonCount)
        members["cells"] = .array(cells.map(\.json))
        members["control"] = control?.json ?? .null
        members["memory"] = members["memory"] ?? .null
        return .object(members)
    }

    /// The record without blocks, as `--format json` prints it.
    package var summary: JSONValue {
        var short = self
        for index in short.cells.indices { short.cells[index].phases = [] }
        short.control?.phases = []
        return short.json
    }

    /// Reads a record.
    ///
    /// - Returns: `nil` if the text is none, or of another schema.
    package static func parse(_ text: [UInt8]) -> GateResult? {
        guard let result = try? JSONDecoder().decode(GateResult.self, from: Data(text)) else { return nil }
        return result.schema == currentSchema ? result : nil
    }

    fileprivate static func encoded(_ value: some Encodable) -> JSONValue {
        // Only infinite numbers cannot be encoded, and records have none.
        (try? JSONEncoder().encode(value)).flatMap { JSONValue.parse(Array($0)) } ?? .null
    }
}

extension GateCell {
    /// The cell as JSON; see ``GateResult/json``.
    fileprivate var json: JSONValue {
        guard case .object(var members) = GateResult.encoded(self) else { return .null }
        for name in ["slowdown", "low", "high", "reason", "secondsToSettle"] where members[name] == nil {
            members[name] = .null
        }
        members["blocks"] = JSONValue(count: blockCount)
        return .object(members)
    }
}
