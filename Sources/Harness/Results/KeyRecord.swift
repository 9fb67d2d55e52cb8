import FoundationEssentials
package import Support

/// A file of results on keys.
package protocol KeyRecord: Codable, Sendable {
    /// The version of the format.
    static var currentSchema: String { get }

    /// What cannot be in such a file, or `nil`.
    var fault: String? { get }
}

extension KeyRecord {
    /// Reads a file.
    ///
    /// - Parameter bytes: All of it.
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

/// As much of a file as every schema has.
private struct AnySchema: Decodable {
    var schema: String
}

/// Why a file of results on keys could not be understood.
public enum KeyResultsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It names another schema.
    case unknownSchema(String, expected: String)
    /// It is not what its schema says.
    case damaged(String, expected: String)

    /// What failed, the value, what was expected.
    public var description: String {
        switch self {
        case .unknownSchema(let schema, let expected): "unknown schema \"\(schema)\": expected \(expected)"
        case .damaged(let reason, let expected): "\(reason): expected a record of schema \(expected)"
        }
    }
}

extension KeyResultsError: ExitStatusProviding {
    /// A result file is an input.
    package var exitStatus: ExitStatus { .badData }
}

/// What a folder of results holds on keys.
public struct KeyResults: Codable, Hashable, Sendable {
    /// How long players waited.
    public var waits: KeyWaitsRecord?
    /// What clients asked of a key server.
    public var load: KeyLoadRecord?
    /// The same of few clients, simulated and run.
    public var loopback: KeyLoadRecord?

    /// Creates results.
    public init(waits: KeyWaitsRecord? = nil, load: KeyLoadRecord? = nil, loopback: KeyLoadRecord? = nil) {
        self.waits = waits
        self.load = load
        self.loopback = loopback
    }

    /// Whether there are no figures.
    public var isEmpty: Bool {
        (waits?.cells ?? []).isEmpty && (load?.cells ?? []).isEmpty && (loopback?.cells ?? []).isEmpty
    }
}

extension KeyWaitsRecord {
    /// The record as its file has it.
    package var json: JSONValue {
        [
            "schema": .string(schema), "command": JSONValue(strings: command), "host": host.json,
            "seed": .integer(seed), "rounds": .integer(rounds), "keys": .integer(keyCount),
            "segmentByteCount": .integer(segmentByteCount), "backend": .string(backend),
            "cells": .array(cells.map(\.json)),
        ]
    }
}

extension KeyWaitsRecord.Cell {
    fileprivate var json: JSONValue {
        [
            "way": .string(way.rawValue), "delayMilliseconds": .integer(delayMilliseconds),
            "requests": .integer(requestCount), "medianNanoseconds": .number(medianNanoseconds),
            "ratioToLocal": [
                "low": .number(ratioToLocal.low), "estimate": .number(ratioToLocal.estimate),
                "high": .number(ratioToLocal.high),
            ],
            "samplesNanoseconds": .array(samplesNanoseconds.map(JSONValue.integer)),
        ]
    }
}

extension KeyLoadRecord {
    /// The record as its file has it.
    package var json: JSONValue {
        [
            "schema": .string(schema), "command": JSONValue(strings: command), "clients": .integer(clientCount),
            "windowSeconds": .integer(windowSeconds), "announcedSeconds": .integer(announcedSeconds),
            "refreshSeconds": .integer(refreshSeconds), "capacityPerSecond": .integer(capacityPerSecond),
            "roundTripMilliseconds": .integer(roundTripMilliseconds), "seed": .integer(seed),
            "speed": JSONValue(speed), "idealPerSecond": idealPerSecond.map(JSONValue.number) ?? .null,
            "cells": .array(cells.map(json)),
        ]
    }

    private func json(_ cell: Cell) -> JSONValue {
        [
            "way": .string(cell.way.rawValue), "simulated": json(cell.simulated),
            "run": cell.run.map(json) ?? .null, "agrees": cell.agrees.map(JSONValue.bool) ?? .null,
            "lagNanoseconds": JSONValue(cell.lagNanoseconds),
        ]
    }

    private func json(_ figures: Figures) -> JSONValue {
        [
            "peakPerSecond": .integer(figures.peakPerSecond),
            "peakToIdeal": peakToIdeal(figures).map(JSONValue.number) ?? .null,
            "requests": .integer(figures.requestCount), "retries": .integer(figures.retryCount),
            "answered": .integer(figures.answeredCount), "late": .integer(figures.lateCount),
            "gaveUp": .integer(figures.gaveUpCount), "p50Nanoseconds": JSONValue(figures.p50Nanoseconds),
            "p99Nanoseconds": JSONValue(figures.p99Nanoseconds),
            "p999Nanoseconds": JSONValue(figures.p999Nanoseconds),
            "secondsPerPoint": .integer(figures.secondsPerPoint),
            "requestsPerSecond": .array(figures.requestsPerSecond.map(JSONValue.integer)),
        ]
    }
}

extension RunHeader.Host {
    /// The host as JSON.
    package var json: JSONValue {
        JSONValue(encoding: self, nullable: ["transparentHugePages", "frequencyGovernor", "isTurboOn"])
    }
}

extension KeyWaitsRecord: KeyRecord {
    /// What cannot be in such a file, or `nil`.
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
    /// What cannot be in such a file, or `nil`.
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
