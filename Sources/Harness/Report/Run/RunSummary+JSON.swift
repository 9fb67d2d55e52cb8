import Results
package import Support

extension RunSummary {
    /// Returns a function that writes the whole run as one JSON object: the records, the figures computed from them,
    /// and the verdict.
    ///
    /// Cells are written one after the other, since there may be many of them, with millions of samples.
    ///
    /// - Parameters:
    ///   - verdict: The verdict's lines.
    ///   - warnings: Warnings about the figures.
    ///   - keys: The key results stored beside it.
    /// - Returns: A function that writes the object, part by part.
    func jsonParts(
        _ verdict: [String], _ warnings: [Warning], _ keys: KeyResults
    ) -> @Sendable (([UInt8]) throws -> Void) throws -> Void {
        { part in
            try JSONValue.write(
                jsonMembers(verdict, warnings).merging(keys.jsonMembers) { $1 }, list: "cells",
                count: cells.count, atOnce: 64,
                elements: { Parallel.map(Array(cells[$0])) { $0.json.elementText } },
                to: part)
        }
    }

    /// Returns the members of the object other than the cells.
    func jsonMembers(_ verdict: [String], _ warnings: [Warning]) -> [String: JSONValue] {
        let header = results.header
        return [
            "schema": .string("chunkwise-report-1"),
            "resultSchema": .string(header.schema),
            "programVersion": .string(header.programVersion),
            "command": JSONValue(strings: header.command),
            "startedAt": .string(header.startedAt),
            "seed": .integer(header.seed),
            "plan": JSONValue(header.plan),
            "isComplete": .bool(results.isComplete),
            "host": header.host.json,
            "backends": JSONValue(encoding: header.backends),
            "conformance": .array(results.conformance.map(\.json)),
            "mutants": mutantsJSON,
            "warnings": JSONValue(encoding: warnings),
            "verdict": JSONValue(strings: verdict),
            "leftOut": JSONValue(encoding: results.omitted),
        ]
    }
}

extension ConformanceRecord {
    var json: JSONValue { JSONValue(encoding: self, nullable: ["flags"]) }
}

extension RunSummary {
    /// The injected faults as JSON, or `null` if they were not part of the run.
    var mutantsJSON: JSONValue {
        guard let mutants = results.mutants else { return .null }
        return [
            "backend": .string(mutants.backend),
            "injected": JSONValue(count: mutants.outcomes.count),
            "killed": JSONValue(count: mutants.outcomes.count - mutants.survivors.count),
            "survivors": JSONValue(strings: mutants.survivors.map(\.name)),
            "mutants": JSONValue(encoding: mutants.outcomes),
        ]
    }
}

extension CellSummary {
    /// The cell as JSON: the members that scripts rely on, and those that tell it from other cells of its run.
    ///
    /// Figures that were not measured are `null`; a cell without trusted figures has no samples either.
    package var json: JSONValue {
        let records: [String: JSONValue] = [
            "nanoseconds": .array(rounds.joined().map(JSONValue.integer)),
            "nanosecondsByRound": .array(rounds.map { .array($0.map(JSONValue.integer)) }),
            "latency": JSONValue(encoding: latency),
            "firstByte": JSONValue(encoding: firstByte),
            "usage": JSONValue(encoding: usage, nullable: .all),
            "memory": JSONValue(
                encoding: memory,
                nullable: [
                    "boundByteCount", "anonymousGrowthByteCount", "fileGrowthByteCount", "processPeakByteCount",
                    "cgroup",
                ]),
            "amplification": amplification.map {
                JSONValue(members: [
                    "fetched": $0.fetched, "decrypted": $0.decrypted, "requestsPerRead": $0.requestsPerRead,
                ])
            } ?? .null,
        ]
        var members = Self.jsonFigures.members(self).merging(records) { figure, _ in figure }
        if cell.isCold == true { members["isCachedBelow"] = .bool(passesCachedBelow != nil) }
        if let playback { members["playback"] = JSONValue(encoding: playback) }
        if !cell.tlsAllowances.isEmpty { members["tlsAllowances"] = JSONValue(strings: cell.tlsAllowances) }
        return .object(members)
    }

    private static let jsonFigures = [Figure].shown(in: .json)
}
