import Results

extension RunSummary {
    /// Time to first byte against what is decrypted in one step, or `nil` if it was not measured.
    ///
    /// A reader that goes by block hands over a window at once; one that takes whole chunks decrypts a chunk before it can
    /// deliver anything. Both kinds stand on the same axis.
    var firstByteChart: LineChart? {
        let byBlock = lines(Self.value)
        let byChunk = chunkLines(from: byBlock.count)
        guard !byBlock.isEmpty || !byChunk.isEmpty else { return nil }
        return LineChart(
            name: "first-byte", title: "Time to first byte by window or chunk size",
            description:
                "How long a program waits for the first bytes that it can use, on logarithmic axes: the median "
                + "time to open the object and read one byte, or to read one window, whichever is longer. By block, "
                + "the size is the window's; where whole chunks are decrypted, it is the chunk's." + Self.remark(grid),
            lines: byBlock + byChunk, vertical: .nanoseconds,
            marks: [(16_000_000, "article 000"), (104_857_600, "article 004")],
            horizontalLabel: "window, or chunk where it is decrypted whole")
    }

    private static func value(_ cell: CellSummary) -> Value? {
        guard let time = cell.timeToFirstByte, let opened = cell.firstByte else { return nil }
        return Value(
            value: Double(time), low: Double(time), high: Double(time),
            words: "\(DurationText.text(nanoseconds: time)); opening and one byte alone: median "
                + "\(DurationText.text(nanoseconds: opened.p50)), opened \(opened.readCount) times")
    }

    /// A line for each backend that read whole chunks of several sizes, in the main random workload.
    private func chunkLines(from firstIndex: Int) -> [LineChart.Line] {
        let workload = mainRandomWorkload
        let cells = cells.filter {
            $0.timeToFirstByte != nil && $0.cell.chunkByteCount != nil && $0.cell.workload == workload
                && ["chunk-cache", "whole-chunk"].contains($0.cell.access) && $0.cell.isLocal
        }
        let names = backends.filter { name in cells.contains { $0.cell.backend == name } }
        return names.prefix(Self.maxLines).enumerated().map { index, name in
            var points: [LineChart.Point] = []
            let own = cells.filter { $0.cell.backend == name }
                .sorted { ($0.cell.chunkByteCount ?? 0) < ($1.cell.chunkByteCount ?? 0) }
            for cell in own {
                guard let chunk = cell.cell.chunkByteCount, let value = Self.value(cell),
                    points.last?.byteCount != chunk
                else { continue }
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
