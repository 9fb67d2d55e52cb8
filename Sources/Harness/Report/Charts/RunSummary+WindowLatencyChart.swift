import Results

extension RunSummary {
    /// The backend whose latencies are drawn by window: that of the best cell.
    var windowLatencyBackend: String? {
        guard let name = best?.cell.backend, grid.cells(of: name).contains(where: { $0.latency != nil }) else {
            return nil
        }
        return name
    }

    /// Latency percentiles of one sequential read against window size, for the best backend; `nil` if none were measured.
    var windowLatencyChart: LineChart? {
        guard let backend = windowLatencyBackend else { return nil }
        let cells = grid.cells(of: backend)
        let names = ["median", "p90", "p99", "p99.9", "max"]
        let lines = names.enumerated().compactMap { index, name -> LineChart.Line? in
            let points = cells.compactMap { cell -> LineChart.Point? in
                guard let latency = cell.latency, let value = latency.percentiles.first(where: { $0.name == name })
                else { return nil }
                let time = Double(value.nanoseconds)
                let window = ByteCountText.size(cell.cell.windowByteCount)
                return LineChart.Point(
                    byteCount: cell.cell.windowByteCount, value: time, low: time, high: time,
                    words: "\(window) window: \(latency.words)")
            }
            let style = SeriesStyle(index, colour: style(of: backend))
            return points.isEmpty ? nil : LineChart.Line(name: name, style: style, points: points)
        }
        return LineChart(
            name: "window-latency", title: "Latency of one window, \(backend)",
            description: "How long the fastest backend takes for one window of a sequential read, on logarithmic axes. "
                + "A percentile stands only where there were enough reads for it: 10 for p90, 100 for p99, 1000 for "
                + "p99.9.",
            lines: lines, vertical: .nanoseconds)
    }
}
