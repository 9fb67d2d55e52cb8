import Results
import Support

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
