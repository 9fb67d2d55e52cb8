import Results
import Support

extension RunSummary {
    /// The cells as comma-separated values: a header, and one row per cell in the order of the results.
    ///
    /// A missing figure is an empty field. Lines end with CR LF. No field is a formula: see ``MarkupText/csv(_:)``.
    /// - Source: RFC 4180.
    var csvParts: @Sendable (([UInt8]) throws -> Void) throws -> Void {
        { part in
            try part(Self.csvLine(Self.csvColumns.map(\.name)))
            try writeCSVRows(to: part)
        }
    }

    static var csvHeads: [String] { csvColumns.map(\.name) }

    /// Writes the rows without the header, each with the given fields in front.
    func writeCSVRows(after first: [String] = [], to part: ([UInt8]) throws -> Void) rethrows {
        for cell in cells {
            try part(Self.csvLine(first + Self.csvColumns.map { $0.value(cell) ?? "" }))
        }
    }

    static func csvLine(_ fields: [String]) -> [UInt8] {
        var line: [UInt8] = []
        for (index, field) in fields.enumerated() {
            if index > 0 { line.append(UInt8(ascii: ",")) }
            appendCSVField(MarkupText.csv(field), to: &line)
        }
        line.append(0x0D)
        line.append(0x0A)
        return line
    }

    private typealias CSVColumn = (name: String, value: @Sendable (CellSummary) -> String?)

    private static let csvColumns = configurationColumns + speedColumns + otherColumns

    private static let speedColumns: [CSVColumn] = [
        ("status", { $0.status }),
        ("bytesPerSecond", { text($0.speed?.bytesPerSecond) }),
        ("bytesPerSecondLow", { text($0.speed?.interval?.lowerBound) }),
        ("bytesPerSecondHigh", { text($0.speed?.interval?.upperBound) }),
        ("limitShare", { $0.limit.map { "\($0.share)" } }),
        ("limit", { $0.limit?.kind.rawValue }),
        ("rounds", { String($0.rounds.count) }),
        ("samples", { String($0.rounds.reduce(0) { $0 + $1.count }) }),
    ]

    private static let otherColumns: [CSVColumn] = [
        ("latencyP50", { text($0.latency?.p50) }),
        ("latencyP50Low", { text($0.latencySample?.interval?.low) }),
        ("latencyP50High", { text($0.latencySample?.interval?.high) }),
        ("latencyP90", { text($0.latency?.p90) }),
        ("latencyP99", { text($0.latency?.p99) }),
        ("latencyP999", { text($0.latency?.p999) }),
        ("latencyMax", { text($0.latency?.max) }),
        ("userNanoseconds", { text($0.usage?.userNanoseconds) }),
        ("systemNanoseconds", { text($0.usage?.systemNanoseconds) }),
        ("minorFaults", { text($0.usage?.minorFaults) }),
        ("majorFaults", { text($0.usage?.majorFaults) }),
        ("voluntarySwitches", { text($0.usage?.voluntarySwitches) }),
        ("involuntarySwitches", { text($0.usage?.involuntarySwitches) }),
        ("instructions", { text($0.usage?.instructions) }),
        ("cycles", { text($0.usage?.cycles) }),
        ("firstByteP50", { text($0.firstByte?.p50) }),
        ("firstByteP50Low", { text($0.firstByteSample?.interval?.low) }),
        ("firstByteP50High", { text($0.firstByteSample?.interval?.high) }),
        ("firstByteP90", { text($0.firstByte?.p90) }),
        ("firstByteMax", { text($0.firstByte?.max) }),
        ("baselineByteCount", { text($0.memory?.baselineByteCount) }),
        ("peakByteCount", { text($0.memory?.peakByteCount) }),
        ("growthByteCount", { text($0.memory?.growthByteCount) }),
        ("growthByteCountLow", { text($0.memorySample?.interval?.low) }),
        ("growthByteCountHigh", { text($0.memorySample?.interval?.high) }),
        ("boundByteCount", { text($0.memory?.boundByteCount) }),
        ("processPeakByteCount", { text($0.memory?.processPeakByteCount) }),
        ("cgroupPeakByteCount", { text($0.memory?.cgroup?.peakByteCount) }),
        ("amplificationFetched", { $0.amplification.map { "\($0.fetched)" } }),
        ("amplificationDecrypted", { $0.amplification?.decrypted.map { "\($0)" } }),
        ("requestsPerRead", { $0.amplification?.requestsPerRead.map { "\($0)" } }),
        ("workingSetByteCount", { text($0.workingSetByteCount) }),
        ("inCache", { $0.workingSetByteCount == nil ? nil : $0.isInCache ? "true" : "false" }),
        ("playbackBitsPerSecond", { text($0.playback?.bitsPerSecond) }),
        ("playbackFirstByteNanoseconds", { text($0.playback?.firstByteNanoseconds) }),
        ("playbackStartNanoseconds", { text($0.playback?.startNanoseconds) }),
        ("playbackStallCount", { $0.playback.map { String($0.stallCount) } }),
        ("playbackStallNanoseconds", { text($0.playback?.stallNanoseconds) }),
        ("digest", { $0.digest }),
        ("failure", { $0.missingReason }),
    ]

    private static let configurationColumns: [CSVColumn] = [
        ("backend", { $0.cell.backend }),
        ("strategy", { $0.cell.strategy }),
        ("chunkByteCount", { text($0.cell.chunkByteCount) }),
        ("windowByteCount", { String($0.cell.windowByteCount) }),
        ("workload", { $0.cell.workload }),
        ("access", { $0.cell.access }),
        ("threads", { String($0.cell.threads) }),
        ("keyByteCount", { String($0.cell.keyByteCount) }),
        ("objectByteCount", { String($0.cell.objectByteCount) }),
        ("source", { $0.cell.sourceName }),
        ("cold", { $0.cell.isCold == true ? "true" : "false" }),
        ("remoteLatencyNanoseconds", { text($0.cell.remoteLatencyNanoseconds) }),
        ("remoteBytesPerSecond", { text($0.cell.remoteBytesPerSecond) }),
        ("remoteClient", { $0.cell.remoteClient }),
        ("label", { $0.cell.label }),
    ]

    private static func text(_ number: UInt64?) -> String? {
        number.map { String($0) }
    }

    /// A figure of at least 0, as a whole number.
    private static func text(_ number: Double?) -> String? {
        number.map { String(UInt64(nearest: $0)) }
    }

    private static func appendCSVField(_ field: String, to line: inout [UInt8]) {
        let isPlain = field.utf8.allSatisfy { $0 != 0x22 && $0 != 0x2C && $0 != 0x0D && $0 != 0x0A }
        guard !isPlain else {
            line += field.utf8
            return
        }
        line.append(0x22)
        for byte in field.utf8 {
            if byte == 0x22 { line.append(byte) }
            line.append(byte)
        }
        line.append(0x22)
    }
}
