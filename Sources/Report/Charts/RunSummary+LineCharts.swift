import Results

extension RunSummary {
    /// Throughput of sequential reads against window size, or `nil` if no sequential read was measured.
    var throughputChart: LineChart? {
        guard let best, let speed = best.speed, let main else { return nil }
        let fastest = "\(best.cell.backend) at \(ByteCountText.size(best.cell.windowByteCount)) windows"
        return LineChart(
            name: "throughput", title: "Sequential throughput by window size",
            description: "Plaintext bytes delivered per second on a logarithmic scale, one line a backend with its "
                + "95 % intervals: \(main.description). Fastest: \(fastest) with "
                + "\(ByteCountText.rate(speed.bytesPerSecond)). The table beside the picture has all values.",
            lines: lines { cell in
                cell.speed.map {
                    (Double($0.bytesPerSecond), Double($0.bytesPerSecondLow), Double($0.bytesPerSecondHigh))
                }
            },
            publishedPoints: publishedPoints { $0.speed.map { Double($0.bytesPerSecond) } },
            verticalLabel: { ByteCountText.size($0) + "/s" }, diagonal: nil
        )
    }

    /// Growth of resident memory against window size, or `nil` if none was measured.
    var memoryChart: LineChart? {
        guard let main, mainCells.contains(where: { $0.memory != nil }) else { return nil }
        return LineChart(
            name: "memory", title: "Peak memory growth by window size",
            description: "How far resident memory rose above what it was when the object was open, on a logarithmic "
                + "scale, one line a backend: \(main.description). The dashed diagonal is a growth of exactly one "
                + "window; growth below \(ByteCountText.size(Self.leastGrowth)) is drawn at that. The table beside the "
                + "picture has all values.",
            lines: lines { cell in
                cell.memory.map {
                    let growth = Self.drawnGrowth($0)
                    return (growth, growth, growth)
                }
            },
            publishedPoints: publishedPoints { $0.memory.map(Self.drawnGrowth) },
            verticalLabel: { ByteCountText.size($0) }, diagonal: "one window"
        )
    }

    /// Returns the index of a backend's colour, dashes and shape.
    func style(of backend: String) -> Int {
        backends.firstIndex(of: backend) ?? 0
    }

    /// A page of memory: less growth cannot be seen, and nothing has no place on a logarithmic scale.
    private static let leastGrowth: UInt64 = 4096

    private static func drawnGrowth(_ memory: MemoryRecord.Memory) -> Double {
        Double(max(memory.growthByteCount, leastGrowth))
    }

    private func lines(_ value: (CellSummary) -> (Double, Double, Double)?) -> [LineChart.Line] {
        backends.enumerated().compactMap { style, name in
            let points = mainCells.filter { $0.cell.backend == name }
                .compactMap { cell in
                    value(cell).map {
                        LineChart.Point(window: cell.cell.windowByteCount, value: $0.0, low: $0.1, high: $0.2)
                    }
                }
                .sorted { $0.window < $1.window }
            return points.isEmpty ? nil : LineChart.Line(name: name, style: style, points: points)
        }
    }

    /// Returns points for sequential cells that reproduce something and read the same object as the main series.
    private func publishedPoints(_ value: (CellSummary) -> Double?) -> [LineChart.PublishedPoint] {
        labelledCells.compactMap { cell in
            guard cell.cell.workload == "sequential", cell.speed != nil,
                cell.cell.objectByteCount == main?.objectByteCount, let label = cell.cell.label, let value = value(cell)
            else { return nil }
            return LineChart.PublishedPoint(
                label: label, window: cell.cell.windowByteCount, value: value,
                style: style(of: cell.cell.backend))
        }
    }
}
