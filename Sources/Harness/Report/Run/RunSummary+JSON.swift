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
                jsonMembers(verdict, warnings).merging(keys.jsonMembers) { $1 }, list: "cells", count: cells.count,
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
            "warnings": .array(warnings.map(\.json)),
            "verdict": JSONValue(strings: verdict),
            "leftOut": [
                "cutByteCount": JSONValue(count: results.leftOut.cutByteCount),
                "orphanRecordCount": JSONValue(count: results.leftOut.orphanRecordCount),
                "repeatedRecordCount": JSONValue(count: results.leftOut.repeatedRecordCount),
            ],
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
            "planted": JSONValue(count: mutants.outcomes.count),
            "killed": JSONValue(count: mutants.outcomes.count - mutants.survivors.count),
            "survivors": JSONValue(strings: mutants.survivors.map(\.name)),
            "mutants": JSONValue(encoding: mutants.outcomes),
        ]
    }
}

extension Warning {
    fileprivate var json: JSONValue {
        [
            "title": .string(title), "message": .string(message), "advice": .string(advice),
            "isSerious": .bool(isSerious),
        ]
    }
}

extension CellSummary {
    /// The cell as JSON: the members that scripts rely on, and those that tell it from other cells of its run.
    ///
    /// Figures that were not measured are `null`; a cell without trusted figures has no samples either.
    package var json: JSONValue {
        var members: [String: JSONValue] = [
            "bytesPerSecond": JSONValue(speed?.bytesPerSecond),
            "bytesPerSecondLow": JSONValue(speed?.interval?.lowerBound),
            "bytesPerSecondHigh": JSONValue(speed?.interval?.upperBound),
            "nanoseconds": .array(rounds.joined().map(JSONValue.integer)),
            "nanosecondsByRound": .array(rounds.map { .array($0.map(JSONValue.integer)) }),
            "latency": latency.map { JSONValue(encoding: $0) } ?? .null,
            "firstByte": firstByte.map { JSONValue(encoding: $0) } ?? .null,
            "usage": usage.map {
                JSONValue(
                    encoding: $0, nullable: ["voluntarySwitches", "involuntarySwitches", "instructions", "cycles"])
            } ?? .null,
            "residentByteCount": JSONValue(residentByteCount),
            "memory": memory.map {
                JSONValue(
                    encoding: $0,
                    nullable: [
                        "boundByteCount", "anonymousGrowthByteCount", "fileGrowthByteCount", "processPeakByteCount",
                        "cgroup",
                    ])
            } ?? .null,
            "amplification": amplification.map {
                .object([
                    "fetched": .number($0.fetched), "decrypted": $0.decrypted.map { .number($0) } ?? .null,
                    "requestsPerRead": $0.requestsPerRead.map { .number($0) } ?? .null,
                ])
            } ?? .null,
            "digest": JSONValue(digest),
            "workingSetByteCount": JSONValue(workingSetByteCount),
            "isInCache": .bool(isInCache),
            "limitShare": limit.map { .number($0.share) } ?? .null,
            "limit": JSONValue(limit?.kind.rawValue),
            "limitBytesPerSecond": JSONValue(limit?.bytesPerSecond),
            "status": .string(status),
            "failure": JSONValue(missingReason),
        ]
        if cell.isCold == true { members["isCachedBelow"] = .bool(passesCachedBelow != nil) }
        if let playback { members["playback"] = JSONValue(encoding: playback) }
        if !cell.tlsAllowances.isEmpty { members["tlsAllowances"] = JSONValue(strings: cell.tlsAllowances) }
        members.merge(configurationJSON) { figure, _ in figure }
        return .object(members)
    }

    private var configurationJSON: [String: JSONValue] {
        [
            "name": .string(cell.id),
            "backend": .string(cell.backend),
            "strategy": .string(cell.strategy),
            "chunkByteCount": JSONValue(cell.chunkByteCount),
            "windowByteCount": .integer(cell.windowByteCount),
            "workload": .string(cell.workload),
            "readCount": cell.readCount.map { JSONValue(count: $0) } ?? .null,
            "access": .string(cell.access),
            "threads": JSONValue(count: cell.threads),
            "keyByteCount": JSONValue(count: cell.keyByteCount),
            "objectByteCount": .integer(cell.objectByteCount),
            "source": .string(cell.sourceName),
            "cold": .bool(cell.isCold == true),
            "remoteLatencyNanoseconds": JSONValue(cell.remoteLatencyNanoseconds),
            "remoteBytesPerSecond": JSONValue(cell.remoteBytesPerSecond),
            "remoteClient": JSONValue(cell.remoteClient),
            "label": JSONValue(cell.label),
        ]
    }
}
