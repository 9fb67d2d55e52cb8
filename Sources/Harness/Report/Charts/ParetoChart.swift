import Results

/// A log-log chart of throughput against memory: a shape per configuration, the front, and the choice.
struct ParetoChart: Picture {
    let name = "pareto"
    var title: String
    var description: String
    /// The backends with the index of their colour and shape, in the order of the legend.
    var backends: [(name: String, style: Int)]
    var points: [Point]
    var choiceName: String?

    struct Point: Hashable, Sendable {
        /// The backend's index of colour and shape.
        var style: Int
        /// Memory in bytes, at least `minMemory`.
        var memory: UInt64
        /// The median throughput in bytes per second.
        var bytesPerSecond: UInt64
        var low: UInt64, high: UInt64
        /// The label of a marked point, such as `16 MB`.
        var mark: String?
        var isChoice: Bool
        /// Configuration and values in words, shown on hover.
        var words: String
    }

    /// The smallest memory growth that can be told from none. For less, the reader's bound is drawn.
    static let minMemory: UInt64 = 256 << 10

    /// The points for which no other one is faster with no more memory, by their medians, smallest memory first.
    var front: [Point] {
        var front: [Point] = []
        let order = points.sorted {
            ($0.memory, $1.bytesPerSecond) < ($1.memory, $0.bytesPerSecond)
        }
        for point in order where point.bytesPerSecond > front.last?.bytesPerSecond ?? 0 { front.append(point) }
        return front
    }

    func draw(width: Double, to svg: inout SVGWriter) -> Double {
        let isWide = Self.isWide(width)
        let legend = legend(width: width)
        legend.draw(to: &svg)
        let top = 84 + Double(legend.rowCount - 1) * ChartLegend.rowHeight
        let bottom = top + (isWide ? 380 : 300)
        let left = isWide ? 92.0 : 76.0
        let right = width - (isWide ? 90 : 30)
        let memories = points.map { LogScale.position(of: Double($0.memory), base: 2) }
        let lower = memories.min() ?? 18
        let x = LogScale(
            base: 2, lower: lower - 0.4, upper: max(memories.max() ?? 18, lower + 2) + 0.4, start: left, end: right)
        let values = points.flatMap { [Double($0.low), Double($0.bytesPerSecond), Double($0.high)] }
        let y = LogScale(base: 2, covering: values, atLeast: 3, from: bottom, to: top)
        svg.grid(
            x: x, y: y, vertical: .bytes("/s"),
            horizontalLabel: "peak memory growth; below 256 KiB its bound")
        drawFront(x: x, y: y, to: &svg)
        drawPoints(x: x, y: y, to: &svg)
        drawMarks(x: x, y: y, right: width - 8, to: &svg)
        drawChoice(x: x, y: y, right: width - 8, to: &svg)
        return bottom + 58
    }

    private func legend(width: Double) -> ChartLegend {
        var entries = backends.map { ChartLegend.Entry(text: $0.name, sample: .mark(SeriesStyle($0.style))) }
        if points.contains(where: { $0.mark != nil }) {
            entries.append(.init(text: "windows of 16 MB and 100 MiB", sample: .ring))
        }
        return ChartLegend(entries + [.init(text: "front", sample: .reference(0))], width: width)
    }

    /// Draws a staircase: for each memory, the maximum throughput within that memory.
    private func drawFront(x: LogScale, y: LogScale, to svg: inout SVGWriter) {
        var steps: [(x: Double, y: Double)] = []
        for point in front {
            let position = x(Double(point.memory))
            if let last = steps.last { steps.append((position, last.y)) }
            steps.append((position, y(Double(point.bytesPerSecond))))
        }
        guard let first = front.first, let last = steps.last else { return }
        steps.insert((x(Double(first.memory)), y.start), at: 0)
        svg.path(steps + [(x.end, last.y)], class: "reference r0")
    }

    private func drawPoints(x: LogScale, y: LogScale, to svg: inout SVGWriter) {
        for point in points {
            let style = SeriesStyle(point.style)
            let position = x(Double(point.memory))
            svg.value(point.words) { svg in
                if point.low < point.high {
                    svg.line(
                        from: (position, y(Double(point.low))), to: (position, y(Double(point.high))),
                        class: "whisker \(style.colourClass)")
                }
                svg.mark(style, x: position, y: y(Double(point.bytesPerSecond)), radius: 4.5)
            }
        }
    }

    /// Draws rings around marked points, with a name if it covers no other one.
    private func drawMarks(x: LogScale, y: LogScale, right: Double, to svg: inout SVGWriter) {
        var taken: [(x: Double, y: Double)] = points.filter(\.isChoice).map {
            (x(Double($0.memory)), y(Double($0.bytesPerSecond)))
        }
        for point in points {
            guard let mark = point.mark else { continue }
            let position = (x: x(Double(point.memory)), y: y(Double(point.bytesPerSecond)))
            let index = point.style % Palette.seriesCount
            svg.path(
                commands: Marker.commands(shape: 0, x: position.x, y: position.y, radius: 8), class: "ring s\(index)")
            let isFree = !taken.contains { abs($0.x - position.x) < 70 && abs($0.y - position.y) < 15 }
            guard isFree, position.x + 12 + TextWidth.estimate(mark) < right else { continue }
            taken.append(position)
            svg.label(mark, x: position.x + 12, y: position.y + 4.5, class: "small")
        }
    }

    private func drawChoice(x: LogScale, y: LogScale, right: Double, to svg: inout SVGWriter) {
        guard let point = points.first(where: \.isChoice), let choiceName else { return }
        let position = (x: x(Double(point.memory)), y: y(Double(point.bytesPerSecond)))
        let index = point.style % Palette.seriesCount
        svg.path(commands: Marker.commands(shape: 1, x: position.x, y: position.y, radius: 9), class: "ring")
        // Bold letters are wider than the estimate assumes.
        let boldness = 1.12
        let name = TextWidth.shortened("choice: \(choiceName)", to: (right - x.start - 8) / boldness)
        let available = right - position.x - 16
        let needed = TextWidth.estimate(name) * boldness
        // To the right of the axis, which may have a label at this height.
        let left = needed <= available ? position.x + 16 : max(right - needed, x.start + 4)
        // Above the front, where no point can be.
        svg.label(name, x: left, y: position.y - 16, class: "end s\(index)")
    }
}

extension RunRecommendation {
    /// Throughput against memory, or `nil` if no compared configuration has a memory figure.
    var paretoChart: ParetoChart? {
        let all = pool.cells.compactMap(point)
        guard !all.isEmpty else { return nil }
        let points = Self.drawn(all)
        let drawn = points.count < all.count ? " \(points.count) of them are drawn." : ""
        let names = summary.backends.filter { name in pool.cells.contains { $0.cell.backend == name } }
        let choice =
            advice.choice.map { candidate in
                let figures = [Figure.throughput, .growth].compactMap { cell(candidate).map($0.entry)?.text }
                return " The choice is \(label(candidate)): \(figures.joined(separator: " and "))."
            } ?? ""
        return ParetoChart(
            title: "Throughput against memory",
            description:
                "Each shape is one measured configuration, \(comparedText).\(drawn) Both axes are logarithmic. The "
                + "dashed line is the front: the most throughput that can be had for at most that much "
                + "memory.\(choice) The table below the picture has the values.",
            backends: names.map { ($0, summary.style(of: $0)) }, points: points,
            choiceName: advice.choice.map { label($0) })
    }

    /// The maximum number of points in a picture; more cannot be told apart.
    private static let maxPoints = 400

    /// Returns the points to draw. If there are too many, these are the front, the choice, and every n-th of the
    /// others.
    private static func drawn(_ points: [ParetoChart.Point]) -> [ParetoChart.Point] {
        guard points.count > maxPoints else { return points }
        let front = Set(
            ParetoChart(title: "", description: "", backends: [], points: points, choiceName: nil).front)
        let step = points.count / maxPoints + 1
        return points.enumerated().filter { index, point in
            point.isChoice || index.isMultiple(of: step) || front.contains(point)
        }.map(\.element)
    }

    private func point(_ summary: CellSummary) -> ParetoChart.Point? {
        guard let speed = summary.speed, let memory = summary.memory else { return nil }
        let window = summary.cell.windowByteCount
        let isMarked = Self.commonSizes.contains(window) || Self.commonSizes.contains(summary.cell.chunkByteCount ?? 0)
        let mark =
            Self.commonSizes.contains(window)
            ? ByteCountText.size(window) : "\(summary.cell.chunkText ?? "") chunks"
        return ParetoChart.Point(
            style: self.summary.style(of: summary.cell.backend),
            memory: Self.drawn(memory), bytesPerSecond: speed.bytesPerSecond,
            low: speed.interval?.lowerBound ?? speed.bytesPerSecond,
            high: speed.interval?.upperBound ?? speed.bytesPerSecond,
            mark: isMarked ? mark : nil, isChoice: summary.cell.id == advice.choice?.id,
            words: "\(summary.cell.backend), \(ByteCountText.size(window)) windows: "
                + "\(ByteCountText.rate(speed.bytesPerSecond)), \(ByteCountText.growth(memory.growthByteCount))")
    }

    /// Returns the growth. If it cannot be told from none, returns the reader's bound for its buffers.
    private static func drawn(_ memory: MemoryRecord.Memory) -> UInt64 {
        guard memory.growthByteCount < ParetoChart.minMemory else { return memory.growthByteCount }
        return max(1, min(memory.boundByteCount ?? ParetoChart.minMemory, ParetoChart.minMemory))
    }

    private static let commonSizes: Set<UInt64> = [16_000_000, 104_857_600]
}
