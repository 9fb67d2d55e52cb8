package import Support

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension GateResult {
    /// The whole record as JSON. Members that scripts rely on are always there, as `null` where there is no figure.
    package var json: JSONValue { json(withPhases: true) }

    /// The record without looks and blocks, as `--format json` prints it.
    package var summary: JSONValue { json(withPhases: false) }

    private func json(withPhases: Bool) -> JSONValue {
        guard case .object(var members) = Self.encoded(self) else { return .null }
        members["reason"] = JSONValue(reason)
        members["comparisons"] = JSONValue(count: comparisonCount)
        members["answer"] = .string(answer(allowsInconclusive: false).rawValue)
        members["cells"] = .array(cells.map { $0.json(withPhases: withPhases) })
        members["control"] = control?.json(withPhases: withPhases) ?? .null
        members["memory"] = members["memory"] ?? .null
        return .object(members)
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
    fileprivate func json(withPhases: Bool) -> JSONValue {
        guard case .object(var members) = GateResult.encoded(self) else { return .null }
        for name in ["slowdown", "low", "high", "reason", "secondsToSettle"] where members[name] == nil {
            members[name] = .null
        }
        if !withPhases { members["phases"] = nil }
        members["blocks"] = JSONValue(count: blockCount)
        return .object(members)
    }
}
