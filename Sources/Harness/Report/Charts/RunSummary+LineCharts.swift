import Results

extension RunSummary {
    /// Throughput of sequential reads against window size, or `nil` if no sequential read was measured.
    var throughputChart: LineChart? {
        guard let best, let speed = best.speed, let main else { return nil }
        let fastest = "\(best.cell.backend) at \(ByteCountText.size(best.cell.windowByteCount)) windows"
        let limits = limitReferences
        return LineChart(
            name: "throughput", title: "Sequential throughput by window size",
            description: "Plaintext bytes delivered per second on logarithmic axes, a line for each backend, its 95 % "
                + "intervals as a band: \(main.description). The fastest is \(fastest) with "
                + "\(ByteCountText.rate(speed.bytesPerSecond))."
                + (limits.isEmpty ? "" : " Thin lines: what this machine allows at most.") + Self.remark(grid),
            lines: lines { cell in
                cell.speed.map { speed in
                    let interval = speed.hasInterval ? ", 95 %: \(speed.rangeText)" : ", one process, no interval"
                    return Value(
                        value: Double(speed.bytesPerSecond), low: Double(speed.bytesPerSecondLow),
                        high: Double(speed.bytesPerSecondHigh),
                        words: ByteCountText.rate(speed.bytesPerSecond) + interval)
                }
            },
            publishedPoints: publishedPoints { cell in
                cell.speed.map { (Double($0.bytesPerSecond), ByteCountText.rate($0.bytesPerSecond)) }
            },
            references: limits, vertical: .bytes("/s")
        )
    }

    /// Growth of resident memory against window size, or `nil` if none was measured.
    var memoryChart: LineChart? {
        let grid = grid
        guard let main, let minimum = grid.windows.first, let maximum = grid.windows.last,
            mainCells.contains(where: { $0.memory != nil })
        else { return nil }
        return LineChart(
            name: "memory", title: "Peak memory growth by window size",
            description: "How far resident memory rose above what it was when the object was open, on logarithmic "
                + "axes, a line for each backend: \(main.description). The ideal is a growth of exactly one window; "
                + "growth below \(ByteCountText.size(Self.minGrowth)) is drawn at that." + Self.remark(grid),
            lines: lines { cell in
                cell.memory.map {
                    let growth = Self.drawnGrowth($0)
                    return Value(
                        value: growth, low: growth, high: growth, words: ByteCountText.growth($0.growthByteCount))
                }
            },
            publishedPoints: publishedPoints { cell in
                cell.memory.map { (Self.drawnGrowth($0), ByteCountText.growth($0.growthByteCount)) }
            },
            references: [
                .init(name: "ideal: one window", points: [(minimum, Double(minimum)), (maximum, Double(maximum))])
            ], vertical: .bytes()
        )
    }

    /// The number of a backend, from which its colour, dashes and shape follow.
    func style(of backend: String) -> Int {
        backends.firstIndex(of: backend) ?? 0
    }

    /// More lines than this cannot be followed; the others stand in the table.
    static let maxLines = 12

    /// A page of memory: less growth cannot be seen, and nothing has no place on a logarithmic scale.
    private static let minGrowth: UInt64 = 4096

    private static func drawnGrowth(_ memory: MemoryRecord.Memory) -> Double {
        Double(max(memory.growthByteCount, minGrowth))
    }

    /// What a cell shows in a chart.
    struct Value {
        var value: Double
        var low: Double
        var high: Double
        var words: String
    }

    /// Says that lines are missing, where they are.
    static func remark(_ grid: MainGrid) -> String {
        let count = grid.backends.count
        return count > maxLines ? " Of \(count) backends the first \(maxLines) are drawn; the table has all." : ""
    }

    /// Returns a line for each backend of the main series.
    func lines(_ value: (CellSummary) -> Value?) -> [LineChart.Line] {
        let grid = grid
        return grid.backends.prefix(Self.maxLines).compactMap { name in
            let points = grid.cells(of: name).compactMap { cell in
                value(cell).map {
                    LineChart.Point(
                        byteCount: cell.cell.windowByteCount, value: $0.value, low: $0.low, high: $0.high,
                        words: "\(name), \(ByteCountText.size(cell.cell.windowByteCount)) window: \($0.words)")
                }
            }
            let style = SeriesStyle(style(of: name))
            return points.isEmpty ? nil : LineChart.Line(name: name, style: style, points: points)
        }
    }

    /// The machine's limits by window for the main series, as far as they are known.
    private var limitReferences: [LineChart.Reference] {
        guard let main, let limits = results.header.limits, let source = LimitedSource(rawValue: main.source) else {
            return []
        }
        var references: [(kind: BindingLimit.Kind, points: [(UInt64, Double)])] = []
        for window in grid.windows {
            let bounds = limits.limits(
                keyByteCount: main.keyByteCount, windowByteCount: window, source: source, threads: main.threads)
            for (kind, bytesPerSecond) in bounds {
                let index = references.firstIndex { $0.kind == kind } ?? references.endIndex
                if index == references.endIndex { references.append((kind, [])) }
                references[index].points.append((window, bytesPerSecond))
            }
        }
        return references.map { LineChart.Reference(name: "limit: \($0.kind.shortText)", points: $0.points) }
    }

    /// Returns points for sequential cells that reproduce something and read the same object as the main series.
    private func publishedPoints(_ value: (CellSummary) -> (Double, String)?) -> [LineChart.PublishedPoint] {
        labelledCells.compactMap { cell in
            guard cell.cell.workload == "sequential", cell.speed != nil,
                cell.cell.objectByteCount == main?.objectByteCount, let label = cell.cell.label,
                let (value, words) = value(cell)
            else { return nil }
            return LineChart.PublishedPoint(
                label: label, byteCount: cell.cell.windowByteCount, value: value,
                style: SeriesStyle(style(of: cell.cell.backend)),
                words: "\(label), \(cell.cell.backend), \(ByteCountText.size(cell.cell.windowByteCount)): \(words)")
        }
    }
}

extension BindingLimit.Kind {
    /// What is limited, in two words.
    fileprivate var shortText: String {
        switch self {
        case .aesUnit: "AES unit"
        case .pageCacheRead: "page cache"
        case .memoryCopy: "memory"
        }
    }
}
