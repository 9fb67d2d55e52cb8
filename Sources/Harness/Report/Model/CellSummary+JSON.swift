import Results
package import Support

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
