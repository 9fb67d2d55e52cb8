import FoundationEssentials
package import Support

/// A file of results on keys.
package protocol KeyRecord: Codable, Sendable {
    /// The version of the format.
    static var currentSchema: String { get }

    /// The first impossible value in the file; `nil` if all values are possible.
    var fault: String? { get }
}

extension KeyRecord {
    /// Reads a file.
    ///
    /// - Parameter bytes: The whole file.
    /// - Throws: `KeyResultsError`.
    package init(file bytes: [UInt8]) throws(KeyResultsError) {
        let data = Data(bytes)
        let decoder = JSONDecoder()
        guard let named = try? decoder.decode(AnySchema.self, from: data) else {
            throw .damaged("no JSON object with a schema", expected: Self.currentSchema)
        }
        guard named.schema == Self.currentSchema else {
            throw .unknownSchema(named.schema, expected: Self.currentSchema)
        }
        do {
            self = try decoder.decode(Self.self, from: data)
        } catch {
            throw .damaged(Self.reason(error), expected: Self.currentSchema)
        }
        if let fault { throw .damaged(fault, expected: Self.currentSchema) }
    }

    private static func reason(_ error: any Error) -> String {
        func path(_ path: [any CodingKey]) -> String {
            path.map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }.joined()
        }
        switch error {
        case DecodingError.keyNotFound(let key, let context): return "no \(path(context.codingPath + [key]))"
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context):
            return "\(path(context.codingPath)) is of another kind"
        default: return "it cannot be read"
        }
    }
}

/// The part of a file that every schema has.
private struct AnySchema: Decodable {
    var schema: String
}

/// The reasons why a file of results on keys cannot be read.
public enum KeyResultsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file has another schema.
    case unknownSchema(String, expected: String)
    /// The file is not what its schema requires.
    case damaged(String, expected: String)

    /// The message: what failed, the value, and what was expected.
    public var description: String {
        switch self {
        case .unknownSchema(let schema, let expected): "unknown schema \"\(schema)\": expected \(expected)"
        case .damaged(let reason, let expected): "\(reason): expected a record of schema \(expected)"
        }
    }
}

extension KeyResultsError: ExitStatusProviding {}

/// The results on keys in a folder of results.
public struct KeyResults: Codable, Hashable, Sendable {
    /// The times that players waited for keys.
    public var waits: KeyWaitsRecord?
    /// The load on a key server.
    public var load: KeyLoadRecord?
    /// The load of fewer clients, simulated and run.
    public var loopback: KeyLoadRecord?

    /// The records of a folder; `nil` for a missing file.
    public init(waits: KeyWaitsRecord? = nil, load: KeyLoadRecord? = nil, loopback: KeyLoadRecord? = nil) {
        self.waits = waits
        self.load = load
        self.loopback = loopback
    }

    /// True if there are no figures.
    public var isEmpty: Bool {
        (waits?.cells ?? []).isEmpty && (load?.cells ?? []).isEmpty && (loopback?.cells ?? []).isEmpty
    }
}

extension KeyWaitsRecord {
    /// The record as JSON, as in its file.
    package var json: JSONValue {
        let cells = cells.map { cell in
            let ratio = cell.ratioToLocal
            return JSONValue(
                encoding: cell,
                adding: [
                    "medianNanoseconds": cell.medianNanoseconds,
                    "ratioToLocal": JSONValue(members: [
                        "low": ratio.low, "estimate": ratio.estimate, "high": ratio.high,
                    ]),
                ])
        }
        return JSONValue(encoding: self, adding: ["host": host.json, "cells": cells])
    }
}

extension KeyLoadRecord {
    /// The record as JSON, as in its file.
    package var json: JSONValue {
        func json(_ figures: Figures) -> JSONValue {
            JSONValue(encoding: figures, nullable: .all, adding: ["peakToIdeal": peakToIdeal(figures)])
        }
        let cells = cells.map { cell in
            JSONValue(
                encoding: cell, nullable: .all,
                adding: ["simulated": json(cell.simulated), "run": cell.run.map(json)])
        }
        return JSONValue(encoding: self, nullable: .all, adding: ["idealPerSecond": idealPerSecond, "cells": cells])
    }
}

extension RunHeader.Host {
    /// The host as JSON.
    package var json: JSONValue {
        JSONValue(encoding: self, nullable: ["transparentHugePages", "frequencyGovernor", "isTurboOn"])
    }
}

extension KeyWaitsRecord: KeyRecord {
    /// The first impossible value in the file; `nil` if all values are possible.
    package var fault: String? {
        guard cells.count <= 1000 else { return "\(cells.count) cells" }
        for (index, cell) in cells.enumerated() {
            let ratio = cell.ratioToLocal
            if cell.samplesNanoseconds.isEmpty { return ".cells[\(index)] has no samples" }
            if !(0..<1e18).contains(cell.medianNanoseconds) { return ".cells[\(index)].medianNanoseconds" }
            if !(0 <= ratio.low && ratio.low <= ratio.estimate && ratio.estimate <= ratio.high && ratio.high < 1e18) {
                return ".cells[\(index)].ratioToLocal is no interval"
            }
        }
        return nil
    }
}

extension KeyLoadRecord: KeyRecord {
    /// The first impossible value in the file; `nil` if all values are possible.
    package var fault: String? {
        guard cells.count <= 100 else { return "\(cells.count) cells" }
        for (index, cell) in cells.enumerated() {
            for figures in [cell.simulated, cell.run].compactMap({ $0 }) {
                if figures.requestsPerSecond.count > Figures.maxPoints {
                    return ".cells[\(index)] has \(figures.requestsPerSecond.count) points"
                }
                if !(1...86_400).contains(figures.secondsPerPoint) { return ".cells[\(index)].secondsPerPoint" }
            }
            if (cell.run == nil) != (cell.agrees == nil) { return ".cells[\(index)] has half a run" }
        }
        return nil
    }
}
