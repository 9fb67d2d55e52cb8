import Statistics

extension CellSummary {
    /// The figures of one cell in a few lines for a terminal.
    package var text: String {
        var lines = [cell.id]
        if let missingReason { lines.append("no figures    \(missingReason)") }
        if let speed {
            let interval = ByteCountText.rateRange(speed.bytesPerSecondLow, speed.bytesPerSecondHigh)
            let samples = rounds.reduce(0) { $0 + $1.count }
            lines.append(
                "throughput    \(ByteCountText.rate(speed.bytesPerSecond))  (95 %: \(interval); \(samples) iterations in "
                    + "\(rounds.count) processes)")
        }
        if let latency {
            let times = [latency.p50, latency.p90, latency.p99, latency.p999, latency.max].map {
                DurationText.text(nanoseconds: $0)
            }
            lines.append(
                "latency       median \(times[0]), p90 \(times[1]), p99 \(times[2]), p99.9 \(times[3]), max \(times[4])  "
                    + "(\(latency.readCount) reads)")
        }
        if let memory {
            let bound = memory.boundByteCount.map { ", bound \(ByteCountText.measured($0))" } ?? ""
            lines.append(
                "peak memory   \(ByteCountText.measured(memory.growthByteCount)) above a baseline of "
                    + ByteCountText.measured(memory.baselineByteCount) + bound)
        } else if outcome == .measured {
            lines.append("peak memory   not available: the kernel does not tell")
        }
        if let amplification {
            lines.append(
                "amplification \(RatioText.times(amplification.fetched)) fetched, "
                    + "\(RatioText.times(amplification.decrypted)) decrypted")
        }
        if let digest { lines.append("plaintext     SHA-256 \(digest), as expected") }
        return lines.joined(separator: "\n")
    }
}
