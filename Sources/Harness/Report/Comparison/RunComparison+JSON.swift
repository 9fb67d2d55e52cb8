import Results
package import Support

extension RunComparison {
    /// The comparison as one object; ratios are throughput of B ÷ throughput of A.
    package var json: JSONValue {
        .object([
            "a": Self.json(nameA, headerA, isCompleteA),
            "b": Self.json(nameB, headerB, isCompleteB),
            "differences": .array(
                differences.map {
                    .object([
                        "name": .string($0.name), "a": .string($0.a), "b": .string($0.b),
                        "isOfHost": .bool($0.isOfHost),
                    ])
                }),
            "isSameHost": .bool(isSameHost),
            "warnings": JSONValue(strings: warnings),
            "common": JSONValue(count: pairs.count),
            "within5Percent": JSONValue(count: within5PercentCount),
            "faster": JSONValue(count: count(.faster)),
            "slower": JSONValue(count: count(.slower)),
            "undecided": JSONValue(count: count(.undecided)),
            "cells": .array(pairs.map(json)),
            "onlyInA": JSONValue(strings: onlyInA.map(\.id)),
            "onlyInB": JSONValue(strings: onlyInB.map(\.id)),
            "withoutFigures": .array(
                withoutFigures.map {
                    .object(["name": .string($0.cell.id), "a": JSONValue($0.a), "b": JSONValue($0.b)])
                }),
        ])
    }

    private static func json(_ name: String, _ header: RunHeader, _ isComplete: Bool) -> JSONValue {
        .object([
            "name": .string(name), "programVersion": .string(header.programVersion),
            "startedAt": .string(header.startedAt), "host": .string(header.host.name), "seed": .integer(header.seed),
            "isComplete": .bool(isComplete),
        ])
    }

    private func json(_ pair: CellPair) -> JSONValue {
        .object([
            "name": .string(pair.cell.id),
            "ratio": .number(pair.ratio.ratio),
            "low": pair.hasInterval ? .number(pair.ratio.low) : .null,
            "high": pair.hasInterval ? .number(pair.ratio.high) : .null,
            "relation": .string(relation(pair).rawValue),
            "isWithin5Percent": .bool(pair.isWithin5Percent),
            "isSamePlaintext": .bool(pair.isSamePlaintext),
            "a": Self.json(pair.a), "b": Self.json(pair.b),
        ])
    }

    private static func json(_ summary: CellSummary) -> JSONValue {
        .object([
            "bytesPerSecond": JSONValue(summary.speed?.bytesPerSecond),
            "bytesPerSecondLow": JSONValue(summary.speed?.bytesPerSecondLow),
            "bytesPerSecondHigh": JSONValue(summary.speed?.bytesPerSecondHigh),
            "processes": JSONValue(count: summary.speed?.processCount ?? 0),
            "peakByteCount": JSONValue(summary.memory?.peakByteCount),
            "growthByteCount": JSONValue(summary.memory?.growthByteCount),
        ])
    }
}
