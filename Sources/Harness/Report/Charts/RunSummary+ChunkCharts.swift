import Results

/// Cells of formats whose chunks are authenticated, which differ only in chunk, format and backend. They show the
/// effect of chunk size.
struct ChunkSeries: Sendable {
    /// A cell whose members that may differ are blank.
    let like: Cell
    /// True if several formats were measured at several chunks: then each is a line, with its own key. Otherwise, each
    /// backend is a line.
    let areFormats: Bool
    /// The lines: the best cell for each chunk, in ascending order of chunk.
    let lines: [(name: String, style: SeriesStyle, cells: [CellSummary])]
    /// The best cell of the first formats that neither notice changes nor have chunks, but match otherwise.
    let references: [CellSummary]

    /// The number of references that can be told apart.
    private static let maxReferences = 2

    /// Selects the cells of a workload, preferably those on this machine. Returns `nil` if fewer than two chunks were
    /// measured.
    init?(_ summary: RunSummary, workload: String, merit: Merit) {
        let measured = summary.cells.filter {
            $0.cell.workload == workload && $0.cell.label == nil && merit.sample(of: $0) != nil
        }
        let chunked = measured.filter { $0.cell.chunkByteCount != nil && $0.facts?.isTagged == true }
        func sizeCount(_ cells: [CellSummary]) -> Int { Set(cells.map(\.cell.chunkText)).count }
        let formats = chunked.grouped(by: \.cell.format).filter { sizeCount($0.elements) > 1 }
        areFormats = formats.count > 1
        let groups = (areFormats ? formats.flatMap(\.elements) : chunked).grouped { [areFormats] in
            Self.blanked($0.cell, areFormats)
        }
        let most = groups.max {
            ($0.key.isLocal ? 1 : 0, sizeCount($0.elements)) < ($1.key.isLocal ? 1 : 0, sizeCount($1.elements))
        }
        guard let (like, cells) = most, sizeCount(cells) > 1 else { return nil }
        func best(_ cells: [CellSummary]) -> CellSummary? {
            cells.max { merit.sample(of: $0)?.estimate ?? 0 < merit.sample(of: $1)?.estimate ?? 0 }
        }
        self.like = like
        let names = areFormats ? cells.map(\.cell.format).unique : summary.backends
        lines = names.enumerated().compactMap { [areFormats] index, name in
            let own = cells.filter { (areFormats ? $0.cell.format : $0.cell.backend) == name }
            let line = own.grouped(by: \.cell.chunkByteCount).compactMap { best($0.elements) }
            guard !line.isEmpty else { return nil }
            return (
                name, SeriesStyle(areFormats ? index : summary.style(of: name)),
                line.sorted { $0.cell.chunkByteCount ?? 0 < $1.cell.chunkByteCount ?? 0 }
            )
        }
        let plain = measured.filter { [areFormats] in
            $0.cell.chunkByteCount == nil && $0.protection < .integrity && Self.blanked($0.cell, areFormats) == like
        }
        references = plain.grouped(by: \.cell.strategy).prefix(Self.maxReferences).compactMap { best($0.elements) }
    }

    private static func blanked(_ cell: Cell, _ areFormats: Bool) -> Cell {
        var cell = cell.blanked
        cell.windowByteCount = cell.workload == "sequential" ? cell.windowByteCount : 0
        (cell.strategy, cell.chunkByteCount) = ("", nil)
        if areFormats { (cell.keyByteCount, cell.cipher) = (0, nil) }
        return cell
    }

    /// The members that all cells share, in words.
    var description: String {
        let (group, threads) = (
            ComparisonGroup(like), like.threads == 1 ? "one thread" : RatioText.count(like.threads, "thread")
        )
        let place = "\(ByteCountText.size(group.objectByteCount)) in \(group.location)"
        return "\(areFormats ? place : group.description), \(threads)"
    }
}

extension RunSummary {
    /// Throughput by chunk of formats with authenticated chunks, one line per format or backend; `nil` if fewer than
    /// two chunks were measured.
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

    /// The median latency of random reads by chunk of formats with authenticated chunks, one line per format or
    /// backend; `nil` if fewer than two chunks were measured.
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
        let lines = series.lines.prefix(Self.maxLines).map { name, style, cells in
            LineChart.Line(
                name: name, style: style,
                points: cells.compactMap { cell in
                    guard let chunk = cell.cell.chunkByteCount, let value = value(cell) else { return nil }
                    return LineChart.Point(
                        byteCount: chunk, value: value.value, low: value.low, high: value.high,
                        words: "\(cell.cell.backend), \(cell.cell.format), \(cell.cell.chunkText ?? "") chunks: "
                            + value.words)
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
            description: "\(meaning), on logarithmic axes, a line for each "
                + "\(series.areFormats ? "format" : "backend"), its 95 % intervals as a band: \(series.description)."
                + (references.isEmpty
                    ? "" : " Thin lines: formats without chunks, which notice no change, by the best backend of each."),
            lines: lines, references: references, vertical: vertical,
            marks: [(16_000_000, "published chunk"), (104_857_600, "published window")],
            horizontalLabel: "chunk: what the format authenticates on its own")
    }
}
