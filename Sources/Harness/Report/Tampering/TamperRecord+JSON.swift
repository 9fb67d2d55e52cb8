package import Results
package import Support

extension TamperRecord {
    /// Records as one JSON object, as `data/schemas/tamper.json` has it: all cases of all subjects.
    package static func json(_ records: [TamperRecord]) -> JSONValue {
        [
            "schema": .string(currentSchema),
            "executed": JSONValue(count: records.reduce(0) { $0 + $1.executed }),
            "failed": JSONValue(count: records.reduce(0) { $0 + $1.failed }),
            "subjects": .array(records.map { $0.json { _ in true } }),
        ]
    }

    /// The record with those of its cases that are asked for.
    func json(listing isListed: (Case) -> Bool) -> JSONValue {
        [
            "name": .string(subject), "executed": JSONValue(count: executed), "failed": JSONValue(count: failed),
            "rows": .array(rows.map { $0.json(listing: isListed) }),
        ]
    }
}

extension TamperRecord.Row {
    fileprivate func json(listing isListed: (TamperRecord.Case) -> Bool) -> JSONValue {
        [
            "strategy": .string(strategy), "isAuthenticated": .bool(isAuthenticated), "state": .string(state.rawValue),
            "plaintextByteCount": .integer(plaintextByteCount), "ciphertextByteCount": .integer(ciphertextByteCount),
            "windowByteCount": .integer(windowByteCount),
            "kinds": .array(
                Self.kinds.map { kind in
                    let counts = counts(kind: kind)
                    return [
                        "kind": .string(kind), "cases": JSONValue(count: counts.cases),
                        "detected": JSONValue(count: counts.detected),
                        "detectedAtOpen": JSONValue(count: counts.detectedAtOpen),
                        "detectedAtRead": JSONValue(count: counts.detectedAtRead),
                        "wrongByteCount": .integer(counts.wrongByteCount),
                        "missingByteCount": .integer(counts.missingByteCount),
                        "extraByteCount": .integer(counts.extraByteCount), "failed": JSONValue(count: counts.failed),
                    ]
                }),
            "cases": .array(cases.filter(isListed).map(\.json)),
        ]
    }
}

extension TamperRecord.Case {
    fileprivate var json: JSONValue {
        [
            "kind": .string(kind), "place": .string(place), "openingErrors": JSONValue(strings: openingErrors),
            "sequential": sequential.json, "touching": touching.json, "failure": JSONValue(failure),
        ]
    }
}

extension TamperRecord.Outcome {
    fileprivate var json: JSONValue {
        [
            "state": .string(state.rawValue), "error": JSONValue(error), "read": JSONValue(read.map { UInt64($0) }),
            "offset": JSONValue(offset), "readCount": JSONValue(count: readCount),
            "wrongByteCount": .integer(wrongByteCount), "missingByteCount": .integer(missingByteCount),
            "extraByteCount": .integer(extraByteCount), "releasedByteCount": .integer(releasedByteCount),
        ]
    }
}
