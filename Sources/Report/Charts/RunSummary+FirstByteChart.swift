import Results

extension RunSummary {
    /// Time to first byte against what is decrypted in one step, or `nil` if it was not measured.
    ///
    /// A reader that goes by block decrypts at most a window at once; one that takes whole chunks decrypts a chunk before
    /// it can deliver anything. Both kinds stand on the same axis.
    var firstByteChart: LineChart? {
        let byBlock = lines { $0.firstByte.map(Self.value) }
        let byChunk = chunkLines(from: byBlock.count)
        guard !byBlock.isEmpty || !byChunk.isEmpty else { return nil }
        return LineChart(
            name: "first-byte", title: "Time to first byte by window or chunk size",
            description: "From before the object is opened until its first byte is there, on logarithmic axes: the "
                + "median, with a band up to the 90th percentile. By block, the size is the window's; where whole "
                + "chunks are decrypted, it is the chunk's." + Self.remark(grid),
            lines: byBlock + byChunk, vertical: .nanoseconds,
            marks: [(16_000_000, "article 000"), (104_857_600, "article 004")],
            horizontalLabel: "window, or chunk where it is decrypted whole")
    }

    private static func value(_ latency: LatencyRecord.Latency) -> Value {
        Value(
            value: Double(latency.p50), low: Double(latency.p50), high: Double(max(latency.p90, latency.p50)),
            words: "median \(DurationText.text(nanoseconds: latency.p50)), p90 "
                + "\(DurationText.text(nanoseconds: latency.p90)), opened \(latency.readCount) times")
    }

    /// A line for each backend that read whole chunks of several sizes, in the main random workload.
    private func chunkLines(from firstIndex: Int) -> [LineChart.Line] {
        let cells = cells.filter {
            $0.firstByte != nil && $0.cell.chunkByteCount != nil && $0.cell.workload == mainRandomWorkload
                && ["chunk-cache", "whole-chunk"].contains($0.cell.access) && Series($0.cell).isLocal
        }
        let names = backends.filter { name in cells.contains { $0.cell.backend == name } }
        return names.prefix(Self.mostLines).enumerated().map { index, name in
            var points: [LineChart.Point] = []
            let own = cells.filter { $0.cell.backend == name }
                .sorted { ($0.cell.chunkByteCount ?? 0) < ($1.cell.chunkByteCount ?? 0) }
            for cell in own {
                guard let chunk = cell.cell.chunkByteCount, let firstByte = cell.firstByte,
                    points.last?.byteCount != chunk
                else { continue }
                let value = Self.value(firstByte)
                points.append(
                    LineChart.Point(
                        byteCount: chunk, value: value.value, low: value.low, high: value.high,
                        words: "\(name), whole \(ByteCountText.size(chunk)) chunks: \(value.words)"))
            }
            return LineChart.Line(
                name: "\(name), chunks", style: SeriesStyle(firstIndex + index, colour: style(of: name)),
                points: points)
        }
    }
}
