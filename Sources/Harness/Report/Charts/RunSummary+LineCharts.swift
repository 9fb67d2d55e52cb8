import Results
import Statistics

extension RunSummary {
    /// Throughput of sequential reads against window size, or `nil` if no sequential read was measured.
    var throughputChart: LineChart? {
        guard let best, let speed = best.speed, let main else { return nil }
        let fastest = "\(best.cell.backend) at \(ByteCountText.size(best.cell.windowByteCount)) windows"
        let limits = limitReferences
        let all = lines { cell in
            cell.speed.map { speed in
                let (value, interval) = (speed.bytesPerSecond, speed.interval)
                return Value(
                    value: Double(value), low: Double(interval?.lowerBound ?? value),
                    high: Double(interval?.upperBound ?? value),
                    words: ByteCountText.rate(value) + (interval == nil ? ", " : ", 95 %: ") + speed.rangeText)
            }
        }
        // A far slower backend would leave little of the axis for those that are compared.
        let slow = all.filter { line in
            (line.points.map(\.value).max() ?? 0) * Self.maxDistance < Double(speed.bytesPerSecond)
        }
        let left = slow.map { "\($0.name) (\(ByteCountText.rate(UInt64($0.points.map(\.value).max() ?? 0))))" }
        let remark = left.isEmpty ? "" : " Too slow for the axis: \(left.joined(separator: ", "))."
        return LineChart(
            name: "throughput", title: "Sequential throughput by window size",
            description: "Plaintext bytes delivered per second on logarithmic axes, a line for each backend, its 95 % "
                + "intervals as a band: \(main.description). The fastest is \(fastest) with "
                + "\(ByteCountText.rate(speed.bytesPerSecond))."
                + (limits.isEmpty ? "" : " Thin lines: what this machine allows at most.") + remark + Self.remark(grid),
            lines: all.filter { line in !slow.contains { $0.name == line.name } },
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
                    // Growth below the resolution has no interval.
                    Value(
                        Self.drawnGrowth($0),
                        $0.growthByteCount < CellSummary.memoryResolution ? nil : cell.memorySample,
                        words: ByteCountText.growth($0.growthByteCount))
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

    /// A line that nowhere reaches 1/16 of the best is named but not drawn.
    private static let maxDistance = 16.0

    /// Returns the number of a backend, which determines its colour, dashes and shape.
    func style(of backend: String) -> Int {
        backends.firstIndex(of: backend) ?? 0
    }

    /// A reader cannot follow more lines than this; the others are in the table.
    static let maxLines = 12

    /// A page of memory, the smallest visible growth. A logarithmic scale cannot show 0.
    private static let minGrowth: UInt64 = 4096

    private static func drawnGrowth(_ memory: MemoryRecord.Memory) -> Double {
        Double(max(memory.growthByteCount, minGrowth))
    }

    /// The figure of a cell in a chart.
    struct Value {
        var value: Double
        var low: Double
        var high: Double
        var words: String

        init(value: Double, low: Double, high: Double, words: String) {
            (self.value, self.low, self.high, self.words) = (value, low, high, words)
        }

        /// A figure with the interval of its sample.
        init(_ value: Double, _ sample: LogSample?, words: String) {
            let interval = sample?.interval
            self.init(
                value: value, low: min(value, interval?.low ?? value), high: max(value, interval?.high ?? value),
                words: words)
        }
    }

    /// Returns a remark that lines are missing, or an empty text if none are.
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

    /// The machine's limits by window for the main series, if they are known.
    private var limitReferences: [LineChart.Reference] {
        guard let main, main.cell.isLocal, let limits = results.header.limits,
            let source = LimitedSource(rawValue: main.source)
        else {
            return []
        }
        var references: [(kind: BindingLimit.Kind, points: [(UInt64, Double)])] = []
        for window in grid.windows {
            let bounds = limits.limits(
                keyByteCount: main.cell.aesKeyByteCount, windowByteCount: window, source: source, threads: main.threads)
            for (kind, bytesPerSecond) in bounds {
                let index = references.firstIndex { $0.kind == kind } ?? references.endIndex
                if index == references.endIndex { references.append((kind, [])) }
                references[index].points.append((window, bytesPerSecond))
            }
        }
        return references.map { LineChart.Reference(name: "limit: \($0.kind.shortText)", points: $0.points) }
    }

    /// Returns points for sequential cells that reproduce published configurations and read the same object as the main
    /// series.
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
    /// The limited part of the machine, in two words.
    fileprivate var shortText: String {
        switch self {
        case .aesUnit: "AES unit"
        case .pageCacheRead: "page cache"
        case .memoryCopy: "memory"
        }
    }
}

extension RunSummary {
    /// The backend of the chart of latencies by window: that of the best cell.
    var windowLatencyBackend: String? {
        guard let name = best?.cell.backend, grid.cells(of: name).contains(where: { $0.latency != nil }) else {
            return nil
        }
        return name
    }

    /// Latency percentiles of one sequential read by window size, for the best backend; `nil` if none were measured.
    var windowLatencyChart: LineChart? {
        guard let backend = windowLatencyBackend else { return nil }
        let cells = grid.cells(of: backend)
        let names = ["median", "p90", "p99", "p99.9", "max"]
        let lines = names.enumerated().compactMap { index, name -> LineChart.Line? in
            let points = cells.compactMap { cell -> LineChart.Point? in
                guard let latency = cell.latency, let value = latency.percentiles.first(where: { $0.name == name })
                else { return nil }
                let window = ByteCountText.size(cell.cell.windowByteCount)
                let figure = Value(
                    Double(value.nanoseconds), name == "median" ? cell.latencySample : nil, words: latency.words)
                return LineChart.Point(
                    byteCount: cell.cell.windowByteCount, value: figure.value, low: figure.low, high: figure.high,
                    words: "\(window) window: \(latency.words)")
            }
            let style = SeriesStyle(index, colour: style(of: backend))
            return points.isEmpty ? nil : LineChart.Line(name: name, style: style, points: points)
        }
        return LineChart(
            name: "window-latency", title: "Latency of one window, \(backend), closed loop",
            description: "How long the fastest backend takes for one window of a sequential read, on logarithmic axes. "
                + "A percentile stands only where there were enough reads for it in a process: 29 for p90, 299 for "
                + "p99, 2,995 for p99.9.",
            lines: lines, vertical: .nanoseconds)
    }

    /// Time to first byte by the bytes decrypted in one step, or `nil` if it was not measured.
    ///
    /// A reader by block delivers a window at once. A reader of whole chunks decrypts a chunk before it can deliver
    /// anything. Both kinds are on the same axis.
    var firstByteChart: LineChart? {
        let byBlock = lines(Self.value)
        let byChunk = chunkLines(from: byBlock.count)
        guard !byBlock.isEmpty || !byChunk.isEmpty else { return nil }
        return LineChart(
            name: "first-byte", title: "Time to first byte by window or chunk size",
            description:
                "How long a player waits for the first bytes that it can use, on logarithmic axes: the median "
                + "time to open the object and make the first read, in one interval. By block, the size is the "
                + "window's; where whole chunks are decrypted, it is the chunk's."
                + Self.remark(grid),
            lines: byBlock + byChunk, vertical: .nanoseconds,
            marks: [(16_000_000, "published chunk"), (104_857_600, "published window")],
            horizontalLabel: "window, or chunk where it is decrypted whole")
    }

    private static func value(_ cell: CellSummary) -> Value? {
        cell.firstByte.map {
            Value(
                Double($0.p50), cell.firstByteSample,
                words: "\(DurationText.text(nanoseconds: $0.p50)), opened \($0.readCount) times a process")
        }
    }

    /// Returns a line for each backend that read whole chunks of several sizes, in the main random workload.
    private func chunkLines(from firstIndex: Int) -> [LineChart.Line] {
        let workload = mainRandomWorkload
        let cells = cells.filter {
            $0.firstByte != nil && $0.cell.chunkByteCount != nil && $0.cell.workload == workload
                && $0.cell.access.readsWholeChunks
                && $0.cell.isLocal == (main?.cell.isLocal ?? true)
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
