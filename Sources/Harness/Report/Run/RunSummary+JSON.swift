import Results
package import Support

extension RunSummary {
    /// The whole run as one JSON object: what the records say, the figures computed from them, and the verdict.
    ///
    /// Cells are made one after the other, since there may be many, with millions of samples.
    ///
    /// - Parameters:
    ///   - verdict: The verdict's lines.
    ///   - keys: What lies beside it on keys.
    /// - Returns: What writes the object, part by part.
    func jsonParts(verdict: [String], keys: KeyResults) -> @Sendable (([UInt8]) throws -> Void) throws -> Void {
        { part in
            try JSONValue.write(
                jsonMembers(verdict: verdict).merging(keys.jsonMembers) { $1 }, list: "cells", count: cells.count,
                elements: { Parallel.map(Array(cells[$0])) { $0.json.elementText } },
                to: part)
        }
    }

    /// What the object says beside the cells.
    func jsonMembers(verdict: [String]) -> [String: JSONValue] {
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
            "backends": .array(header.backends.map(Self.json)),
            "conformance": .array(results.conformance.map(Self.json)),
            "mutants": mutantsJSON,
            "warnings": warningsJSON,
            "verdict": JSONValue(strings: verdict),
            "leftOut": [
                "cutByteCount": JSONValue(count: results.leftOut.cutByteCount),
                "orphanRecordCount": JSONValue(count: results.leftOut.orphanRecordCount),
                "repeatedRecordCount": JSONValue(count: results.leftOut.repeatedRecordCount),
            ],
        ]
    }

    static func json(_ backend: RunHeader.Backend) -> JSONValue {
        .object([
            "name": .string(backend.name),
            "version": .string(backend.version),
            "cpuFeatures": JSONValue(strings: backend.cpuFeatures),
        ])
    }

    static func json(_ record: ConformanceRecord) -> JSONValue {
        let failures = record.failures.map { failure in
            JSONValue.object([
                "id": .string(failure.id),
                "flags": JSONValue(strings: failure.flags),
                "reason": .string(failure.reason),
            ])
        }
        return .object([
            "subject": .string(record.subject),
            "passed": JSONValue(count: record.passed),
            "failed": JSONValue(count: record.failed),
            "unsupported": JSONValue(count: record.unsupported),
            "notRun": JSONValue(count: record.notRun),
            "failures": .array(failures),
            "flags": record.flags.map { .array($0.map(json)) } ?? .null,
        ])
    }

    private static func json(_ outcome: ConformanceRecord.FlagOutcome) -> JSONValue {
        .object([
            "flag": .string(outcome.flag),
            "passed": JSONValue(count: outcome.passed),
            "failed": JSONValue(count: outcome.failed),
            "unsupported": JSONValue(count: outcome.unsupported),
            "notRun": JSONValue(count: outcome.notRun),
        ])
    }
}

extension RunSummary {
    /// The planted faults as JSON, or `null` if they were not part of the run.
    var mutantsJSON: JSONValue {
        guard let mutants = results.mutants else { return .null }
        let outcomes = mutants.outcomes.map { outcome -> JSONValue in
            [
                "name": .string(outcome.name), "flag": .string(outcome.flag),
                "killedBy": JSONValue(strings: outcome.killedBy),
            ]
        }
        return [
            "backend": .string(mutants.backend),
            "planted": JSONValue(count: mutants.outcomes.count),
            "killed": JSONValue(count: mutants.outcomes.count - mutants.survivors.count),
            "survivors": JSONValue(strings: mutants.survivors.map(\.name)),
            "mutants": .array(outcomes),
        ]
    }

    var warningsJSON: JSONValue {
        .array(
            Warning.all(in: self).map { warning in
                [
                    "title": .string(warning.title), "message": .string(warning.message),
                    "advice": .string(warning.advice), "isSerious": .bool(warning.isSerious),
                ]
            })
    }
}

extension CellSummary {
    /// The cell with the members that scripts rely on, and those that tell it from other cells of its run.
    ///
    /// Figures that were not measured are `null`; a cell without trusted figures has no samples either.
    package var json: JSONValue {
        var members: [String: JSONValue] = [
            "bytesPerSecond": JSONValue(speed?.bytesPerSecond),
            "bytesPerSecondLow": JSONValue(speed?.bytesPerSecondLow),
            "bytesPerSecondHigh": JSONValue(speed?.bytesPerSecondHigh),
            "nanoseconds": .array(rounds.joined().map(JSONValue.integer)),
            "nanosecondsByRound": .array(rounds.map { .array($0.map(JSONValue.integer)) }),
            "latency": Self.json(latency),
            "firstByte": Self.json(firstByte),
            "usage": usageJSON,
            "residentByteCount": JSONValue(residentByteCount),
            "memory": memoryJSON,
            "amplification": amplification.map {
                .object(["fetched": .number($0.fetched), "decrypted": .number($0.decrypted)])
            } ?? .null,
            "digest": JSONValue(digest),
            "limitShare": limit.map { .number($0.share) } ?? .null,
            "limit": JSONValue(limit?.kind.rawValue),
            "limitBytesPerSecond": JSONValue(limit?.bytesPerSecond),
            "status": .string(status),
            "failure": JSONValue(missingReason),
        ]
        if let playback { members["playback"] = Self.json(playback) }
        if !cell.tlsAllowances.isEmpty { members["tlsAllowances"] = JSONValue(strings: cell.tlsAllowances) }
        members.merge(configurationJSON) { figure, _ in figure }
        return .object(members)
    }

    private var configurationJSON: [String: JSONValue] {
        [
            "name": .string(cell.id),
            "backend": .string(cell.backend),
            "strategy": .string(cell.strategy),
            "ivRule": JSONValue(cell.ivRule),
            "padding": JSONValue(cell.padding),
            "chunkByteCount": JSONValue(cell.chunkByteCount),
            "windowByteCount": .integer(cell.windowByteCount),
            "workload": .string(cell.workload),
            "readCount": cell.readCount.map { JSONValue(count: $0) } ?? .null,
            "access": .string(cell.access),
            "threads": JSONValue(count: cell.threads),
            "keyByteCount": JSONValue(count: cell.keyByteCount),
            "objectByteCount": .integer(cell.objectByteCount),
            "source": .string(cell.source),
            "cold": .bool(cell.isCold == true),
            "remoteLatencyNanoseconds": JSONValue(cell.remoteLatencyNanoseconds),
            "remoteBytesPerSecond": JSONValue(cell.remoteBytesPerSecond),
            "label": JSONValue(cell.label),
        ]
    }

    private static func json(_ latency: LatencyRecord.Latency?) -> JSONValue {
        guard let latency else { return .null }
        return .object([
            "readCount": JSONValue(count: latency.readCount),
            "p50": .integer(latency.p50),
            "p90": .integer(latency.p90),
            "p99": .integer(latency.p99),
            "p999": .integer(latency.p999),
            "max": .integer(latency.max),
        ])
    }

    private static func json(_ playback: LatencyRecord.Playback) -> JSONValue {
        .object([
            "bitsPerSecond": .integer(playback.bitsPerSecond),
            "firstByteNanoseconds": .integer(playback.firstByteNanoseconds),
            "startNanoseconds": .integer(playback.startNanoseconds),
            "stallCount": JSONValue(count: playback.stallCount),
            "stallNanoseconds": .integer(playback.stallNanoseconds),
        ])
    }

    private var usageJSON: JSONValue {
        guard let usage else { return .null }
        return .object([
            "userNanoseconds": .integer(usage.userNanoseconds),
            "systemNanoseconds": .integer(usage.systemNanoseconds),
            "minorFaults": .integer(usage.minorFaults),
            "majorFaults": .integer(usage.majorFaults),
            "voluntarySwitches": JSONValue(usage.voluntarySwitches),
            "involuntarySwitches": JSONValue(usage.involuntarySwitches),
            "instructions": JSONValue(usage.instructions),
            "cycles": JSONValue(usage.cycles),
        ])
    }

    private var memoryJSON: JSONValue {
        guard let memory else { return .null }
        return .object([
            "baselineByteCount": .integer(memory.baselineByteCount),
            "peakByteCount": .integer(memory.peakByteCount),
            "boundByteCount": JSONValue(memory.boundByteCount),
            "anonymousGrowthByteCount": JSONValue(memory.anonymousGrowthByteCount),
            "fileGrowthByteCount": JSONValue(memory.fileGrowthByteCount),
        ])
    }
}
