package import Support

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
        [
            "name": .string(name), "cpuModel": .string(cpuModel), "cpuCount": JSONValue(count: cpuCount),
            "cpuFlags": JSONValue(strings: cpuFlags), "memoryByteCount": .integer(memoryByteCount),
            "kernel": .string(kernel), "cacheByteCounts": .array(cacheByteCounts.map(JSONValue.integer)),
            "transparentHugePages": JSONValue(transparentHugePages),
            "frequencyGovernor": JSONValue(frequencyGovernor), "isTurboOn": isTurboOn.map(JSONValue.bool) ?? .null,
        ]
    }
}
