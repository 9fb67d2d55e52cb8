import Results
import Statistics
package import Support

extension SelfTestSummary {
    /// The rates as one object; shares are parts of one, times are in seconds.
    package var json: JSONValue {
        .object([
            "schema": .string(header.schema), "programVersion": .string(header.programVersion),
            "startedAt": .string(header.startedAt), "cpuModel": .string(header.host.cpuModel),
            "cpuCount": JSONValue(count: header.host.cpuCount), "baseline": .string(header.baseline),
            "tolerance": .number(header.tolerance), "secondsPerCell": .number(header.secondsPerCell),
            "isBusy": .bool(header.isBusy), "seed": .integer(header.seed), "isComplete": .bool(isComplete),
            "cells": JSONValue(strings: header.cells.map(\.gateName)),
            "calibrations": .array(
                calibrations.map { ["large": Self.json($0.large), "small": Self.json($0.small)] }),
            "groups": .array(groups.map(json)),
            "coverage": [
                "freshBlocks": JSONValue(count: coverage.freshBlockCount), "fresh": Self.json(coverage.fresh),
                "resampledBlocks": JSONValue(count: IntervalCoverage.drawnBlockCount),
                // Draws share blocks, so that their count has no such interval.
                "resampled": coverage.resampled.map { found -> JSONValue in
                    [
                        "count": JSONValue(count: found.successCount), "of": JSONValue(count: found.trialCount),
                        "rate": .number(found.rate),
                    ]
                } ?? .null,
            ],
        ])
    }

    private func json(_ group: SelfTestGroup) -> JSONValue {
        let seconds = group.decisionSeconds
        let pooled = group.pooledSlowdown
        return .object([
            "planted": .number(group.planted), "runs": JSONValue(count: group.runs.count),
            "rates": .object(
                Dictionary(uniqueKeysWithValues: GateVerdict.allCases.map { ($0.rawValue, Self.json(group.rate($0))) })),
            "slowerBound": group.bound(.slower).map { .number($0) } ?? .null,
            "foundWithin": .object(
                Dictionary(
                    uniqueKeysWithValues: Self.limits.map {
                        ("\(Int($0))", JSONValue(count: group.detectionCount(within: $0)))
                    })),
            "slowdown": pooled.map { .number($0.estimate) } ?? .null,
            "slowdownLow": pooled.map { .number($0.low) } ?? .null,
            "slowdownHigh": pooled.map { .number($0.high) } ?? .null,
            "contradictsCalibrations": contradictsCalibrations(group).map { .bool($0) } ?? .null,
            "decisionSecondsMedian": percentile(tenthsOfPercent: 500, ofSorted: seconds).map { .number($0) } ?? .null,
            "decisionSecondsMost": seconds.last.map { .number($0) } ?? .null,
            "gateSecondsMost": group.runs.map(\.seconds).max().map { .number($0) } ?? .null,
        ])
    }

    private static func json(_ point: SelfTestCalibration.Point) -> JSONValue {
        [
            "extraWork": .number(point.extraWork), "cell": .string(point.cell), "slowdown": .number(point.slowdown),
            "low": .number(point.low), "high": .number(point.high), "blocks": JSONValue(count: point.blockCount),
        ]
    }

    private static func json(_ rate: BinomialInterval?) -> JSONValue {
        guard let rate else { return .null }
        return [
            "count": JSONValue(count: rate.successCount), "of": JSONValue(count: rate.trialCount),
            "rate": .number(rate.rate), "low": .number(rate.low), "high": .number(rate.high),
        ]
    }
}
