import Results

/// Cells of formats that notice changes, which differ only in chunk, format and backend. They show the effect of chunk
/// size.
struct ChunkSeries: Sendable {
    /// A cell whose members that may differ are blank.
    let like: Cell
    /// The lines by backend: the best cell for each chunk, in ascending order of chunk.
    let lines: [(backend: String, cells: [CellSummary])]
    /// The best cell of each format that neither notices changes nor has chunks, but matches otherwise.
    let references: [CellSummary]

    /// Selects the cells of a workload, preferably those on this machine. Returns `nil` if fewer than two chunks were
    /// measured.
    init?(_ summary: RunSummary, workload: String, merit: Merit) {
        let measured = summary.cells.filter {
            $0.cell.workload == workload && $0.cell.label == nil && merit.sample(of: $0) != nil
        }
        let chunked = measured.filter { $0.cell.chunkByteCount != nil && $0.protection == .integrity }
        func sizeCount(_ cells: [CellSummary]) -> Int { Set(cells.map(\.cell.chunkText)).count }
        let groups = chunked.grouped { Self.blanked($0.cell) }
        let most = groups.max {
            ($0.key.isLocal ? 1 : 0, sizeCount($0.elements)) < ($1.key.isLocal ? 1 : 0, sizeCount($1.elements))
        }
        guard let (like, cells) = most, sizeCount(cells) > 1 else { return nil }
        func best(_ cells: [CellSummary]) -> CellSummary? {
            cells.max { merit.sample(of: $0)?.estimate ?? 0 < merit.sample(of: $1)?.estimate ?? 0 }
        }
        self.like = like
        lines = summary.backends.compactMap { name in
            let own = cells.filter { $0.cell.backend == name }.grouped(by: \.cell.chunkByteCount)
            let line = own.compactMap { best($0.elements) }
            return line.isEmpty
                ? nil : (name, line.sorted { $0.cell.chunkByteCount ?? 0 < $1.cell.chunkByteCount ?? 0 })
        }
        let plain = measured.filter {
            $0.cell.chunkByteCount == nil && $0.protection < .integrity && Self.blanked($0.cell) == like
        }
        references = plain.grouped(by: \.cell.strategy).compactMap { best($0.elements) }
    }

    private static func blanked(_ cell: Cell) -> Cell {
        var cell = cell.blanked
        cell.windowByteCount = cell.workload == "sequential" ? cell.windowByteCount : 0
        (cell.strategy, cell.chunkByteCount) = ("", nil)
        return cell
    }

    /// The members that all cells share, in words.
    var description: String {
        let threads = like.threads == 1 ? "one thread" : RatioText.count(like.threads, "thread")
        return "\(ComparisonGroup(like).description), \(threads)"
    }
}

extension RunSummary {
    /// Throughput by chunk of formats that notice changes, one line per backend; `nil` if fewer than two chunks were
    /// measured.
    var chunkThroughputChart: LineChart? {
        chunkChart(
            "sequential", .throughput, name: "chunk-throughput",
            title: "Throughput by chunk size, authenticated chunks",
            meaning: "Plaintext bytes delivered per second, read from start to end", vertical: .bytes("/s")
        ) { summary in
            summary.speed.map { speed in
                let (value, interval) = (Double(speed.bytesPerSecond), speed.interval)
                return Value(
                    value: value, low: interval.map { Double($0.lowerBound) } ?? value,
                    high: interval.map { Double($0.upperBound) } ?? value,
                    words: "\(ByteCountText.rate(speed.bytesPerSecond)), \(speed.rangeText)")
            }
        }
    }

    /// The median latency of random reads by chunk of formats that notice changes, one line per backend; `nil` if fewer
    /// than two chunks were measured.
    var chunkLatencyChart: LineChart? {
        guard let workload = mainRandomWorkload, let byteCount = CellWorkload(workload)?.rangeByteCount else {
            return nil
        }
        let size = ByteCountText.size(byteCount)
        return chunkChart(
            workload, .latency, name: "chunk-latency",
            title: "Latency of a read of \(size) by chunk size, authenticated chunks",
            meaning: "The median time of one random read of \(size), in a closed loop", vertical: .nanoseconds
        ) { summary in
            summary.latency.map { Value(Double($0.p50), summary.latencySample, words: $0.words) }
        }
    }

    private func chunkChart(
        _ workload: String, _ merit: Merit, name: String, title: String, meaning: String, vertical: LogAxis,
        _ value: (CellSummary) -> Value?
    ) -> LineChart? {
        guard let series = ChunkSeries(self, workload: workload, merit: merit) else { return nil }
        let lines = series.lines.prefix(Self.maxLines).map { backend, cells in
            LineChart.Line(
                name: backend, style: SeriesStyle(style(of: backend)),
                points: cells.compactMap { cell in
                    guard let chunk = cell.cell.chunkByteCount, let value = value(cell) else { return nil }
                    return LineChart.Point(
                        byteCount: chunk, value: value.value, low: value.low, high: value.high,
                        words: "\(backend), \(cell.cell.format), \(cell.cell.chunkText ?? "") chunks: \(value.words)")
                })
        }
        let sizes = lines.flatMap(\.points).map(\.byteCount)
        guard let minimum = sizes.min(), let maximum = sizes.max() else { return nil }
        let references = series.references.compactMap { cell in
            value(cell).map {
                LineChart.Reference(
                    name: cell.cell.strategy, points: [(minimum, $0.value), (maximum, $0.value)])
            }
        }
        return LineChart(
            name: name, title: title,
            description: "\(meaning), on logarithmic axes, a line for each backend, its 95 % intervals as a band: "
                + "\(series.description)."
                + (references.isEmpty
                    ? "" : " Thin lines: formats without chunks, which notice no change, by the best backend of each."),
            lines: lines, references: references, vertical: vertical,
            marks: [(16_000_000, "published chunk"), (104_857_600, "published window")],
            horizontalLabel: "chunk: what the format authenticates on its own")
    }
}
