import Results
import Statistics
import Support

extension CellSummary {
    /// The figures of one cell, in a few lines for a terminal.
    package var text: String {
        var lines = [cell.name]
        if !cell.tlsAllowances.isEmpty {
            lines.append(
                "WARNING       TLS with \(cell.tlsAllowances.joined(separator: ", ")): the server was not authenticated"
            )
        }
        if let missingReason { lines.append("no figures    \(missingReason)") }
        if let speed {
            let interval = (speed.interval == nil ? "" : "95 %: ") + speed.rangeText
            lines.append(
                "throughput    \(ByteCountText.rate(speed.bytesPerSecond))  (\(interval); \(sampleCount) iterations in "
                    + "\(rounds.count) processes)")
        }
        if let limit {
            lines.append(
                "share         \(RatioText.percent(limit.share)) of what \(limit.kind.text) allow, "
                    + ByteCountText.rate(limit.bytesPerSecond))
        }
        if let latency {
            lines.append("latency       closed loop: \(latency.words)")
        }
        if let firstByte {
            lines.append("first byte    \(firstByte.words)")
        }
        if let playback {
            lines.append(
                "playback      at \(BitRateText.text(playback.bitsPerSecond)): first byte after "
                    + "\(DurationText.text(nanoseconds: playback.firstByteNanoseconds)), start after "
                    + "\(DurationText.text(nanoseconds: playback.startNanoseconds)), "
                    + BitRateText.stalls(playback))
        }
        if let passesCachedBelow {
            let times = passesCachedBelow.map { DurationText.text(nanoseconds: $0) }
            lines.append(
                "not cold      cached below this system: a first pass took \(times[0]), further ones "
                    + times.dropFirst().joined(separator: ", "))
        }
        if let residentByteCount {
            lines.append(
                "cold          at most \(ByteCountText.measured(residentByteCount)) of the file stayed in memory")
        }
        if let usage { lines.append("used          \(usage.text)") }
        for figure in [Figure].shown(in: .terminal) {
            let space = String(repeating: " ", count: max(1, 14 - figure.name.count))
            figure.value(self).map { lines.append(figure.name + space + figure.unit.text($0)) }
        }
        if let memory {
            let bound = memory.boundByteCount.map { ", bound \(ByteCountText.measured($0))" } ?? ""
            lines.append(
                "peak memory   \(ByteCountText.growth(memory.growthByteCount)) above a baseline of "
                    + ByteCountText.measured(memory.baselineByteCount) + bound
                    + ", \(ByteCountText.measured(memory.absolutePeakByteCount)) altogether"
                    + (memory.cgroup.map { ", \(ByteCountText.measured($0.peakByteCount)) in its cgroup" } ?? ""))
            if returnsMemory, let iterationUsage {
                lines.append(
                    "allocator     takes memory from the system and gives it back: "
                        + "\(SignificantDigits.grouped(iterationUsage.minorFaults)) page faults an iteration"
                        + (iterationUsage.systemShare.map { ", \(RatioText.percent($0)) of CPU time in the kernel" }
                            ?? ""))
            }
        } else if outcome == .measured {
            lines.append("peak memory   not available: the kernel does not tell")
        }
        if let amplification {
            lines.append(
                "amplification \(RatioText.times(amplification.fetched)) fetched"
                    + (amplification.decrypted.map { ", \(RatioText.times($0)) decrypted" } ?? "")
                    + (amplification.requestsPerRead.map { ", \(SignificantDigits.text($0)) requests a read" } ?? ""))
        }
        if let workingSetByteCount {
            lines.append(
                "working set   \(ByteCountText.size(workingSetByteCount))"
                    + (isInCache ? ": it fits the last CPU cache, and these figures are of that cache" : ""))
        }
        if let digest { lines.append("plaintext     SHA-256 \(digest), as expected") }
        let indent = String(repeating: " ", count: 14)
        return lines.flatMap { TextWrapping.lines($0, columns: TextTable.width, indent: indent) }
            .joined(separator: "\n")
    }
}

extension ProcessUsage {
    /// The figures in words; unknown ones are called unavailable.
    var text: String {
        func count(_ number: UInt64?) -> String {
            number.map(SignificantDigits.grouped) ?? "unavailable"
        }
        return [
            "CPU \(DurationText.text(nanoseconds: userNanoseconds)) user and "
                + "\(DurationText.text(nanoseconds: systemNanoseconds)) system",
            "page faults \(count(minorFaults)) minor and \(count(majorFaults)) major",
            "switches \(count(voluntarySwitches)) voluntary and \(count(involuntarySwitches)) not",
            "instructions \(count(instructions))", "cycles \(count(cycles))",
        ].joined(separator: ", ")
    }
}
