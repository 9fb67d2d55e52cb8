import Results
package import Support

extension History {
    /// The history as one object.
    package var json: JSONValue {
        .object([
            "schema": "chunkwise-trend-1",
            "reference": JSONValue(reference),
            "method": JSONValue(strings: Self.method),
            "findings": JSONValue(strings: findings),
            "hosts": .array(hosts.map(Self.json)),
            "skipped": .array(skipped.map { ["path": .string($0.path), "reason": .string($0.reason)] }),
        ])
    }

    private static func json(_ host: HostHistory) -> JSONValue {
        .object([
            "host": host.host.json,
            "anchor": JSONValue(host.anchor?.id),
            "runs": .array(
                host.runs.map {
                    [
                        "path": .string($0.path), "startedAt": .string($0.header.startedAt),
                        "programVersion": .string($0.header.programVersion), "isComplete": .bool($0.isComplete),
                    ]
                }),
            "cells": .array(host.cells.map { json($0, host) }),
        ])
    }

    private static func json(_ cell: CellHistory, _ host: HostHistory) -> JSONValue {
        .object([
            "name": .string(cell.cell.id),
            "reference": .string(cell.reference.id),
            "ratios": .array(cell.ratios.map { $0.map(JSONValue.number) ?? .null }),
            "changes": .array(
                cell.changes.map { change in
                    .object([
                        "run": JSONValue(count: change.run),
                        "path": .string(host.runs[change.run].path),
                        "startedAt": .string(host.runs[change.run].header.startedAt),
                        "before": .number(change.before), "after": .number(change.after),
                        "factor": .number(change.factor), "probability": .number(change.probability),
                        "differences": .array(
                            change.differences.map {
                                ["name": .string($0.name), "before": .string($0.a), "after": .string($0.b)]
                            }),
                    ])
                }),
        ])
    }
}
