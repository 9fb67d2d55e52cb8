/// A chart of values by size on logarithmic axes, with one line per series.
struct LineChart: Picture {
    var name: String
    var title: String
    var description: String
    var lines: [Line]
    var publishedPoints: [PublishedPoint] = []
    /// The lines for comparison, such as the machine's limits.
    var references: [Reference] = []
    var vertical: LogAxis
    /// The published sizes, with the labels below them. Each is marked if the axis reaches it.
    ///
    /// The 16 MB have no label: they are chunks, and the axis is of windows.
    var marks: [(byteCount: UInt64, label: String)] = [(16_000_000, ""), (104_857_600, "published window")]
    var horizontalLabel = "window: plaintext decrypted in one step"

    struct Line: Sendable {
        /// Its name, such as the backend's.
        var name: String
        /// Its colour, dashes and shape.
        var style: SeriesStyle
        /// Its points in ascending order of size.
        var points: [Point]
    }

    struct Point: Sendable {
        var byteCount: UInt64
        var value: Double
        var low: Double
        var high: Double
        /// The value in words, shown on hover.
        var words: String
    }

    struct PublishedPoint: Sendable {
        var label: String
        var byteCount: UInt64
        var value: Double
        var style: SeriesStyle
        var words: String
    }

    /// A line that is not measured.
    struct Reference: Sendable {
        var name: String
        /// Sizes and values, in ascending order of size.
        var points: [(byteCount: UInt64, value: Double)]
    }

    /// The labels of published points, without duplicates.
    var publishedLabels: [String] { publishedPoints.map(\.label).unique }

    func draw(width: Double, to svg: inout SVGWriter) -> Double {
        let frame = LineChartFrame(self, width: width)
        frame.legend.draw(to: &svg)
        svg.grid(x: frame.x, y: frame.y, vertical: vertical, horizontalLabel: horizontalLabel)
        drawMarks(in: frame, to: &svg)
        drawReferences(in: frame, to: &svg)
        for line in lines { drawBand(line, in: frame, to: &svg) }
        for line in lines { drawLine(line, in: frame, to: &svg) }
        drawPublished(in: frame, to: &svg)
        drawNames(in: frame, to: &svg)
        return frame.bottom + 58
    }

    private func drawMarks(in frame: LineChartFrame, to svg: inout SVGWriter) {
        for (byteCount, label) in marks {
            guard frame.covers(byteCount) else { continue }
            let x = frame.x(Double(byteCount))
            svg.line(from: (x, frame.top - 6), to: (x, frame.bottom), class: "mark")
            svg.label(ByteCountText.size(byteCount), x: x, y: frame.top - 25, anchor: "middle", class: "tick")
            guard frame.hasNameColumn else { continue }
            svg.label(label, x: x, y: frame.top - 11, anchor: "middle", class: "small")
        }
    }

    private func drawReferences(in frame: LineChartFrame, to svg: inout SVGWriter) {
        for (number, reference) in references.enumerated() {
            let points = reference.points.map { (frame.x(Double($0.byteCount)), frame.y($0.value)) }
            svg.path(points, class: "reference r\(number)")
        }
    }

    /// Draws the names of all lines at their ends, if there is enough width beside the plot.
    private func drawNames(in frame: LineChartFrame, to svg: inout SVGWriter) {
        guard frame.hasNameColumn else { return }
        typealias End = (text: String, x: Double, y: Double, classes: String)
        var ends = lines.compactMap { line -> End? in
            line.points.last.map {
                (line.name, frame.x(Double($0.byteCount)), frame.y($0.value), "end \(line.style.colourClass)")
            }
        }
        ends += references.compactMap { reference -> End? in
            reference.points.last.map {
                (reference.name, frame.x(Double($0.byteCount)), frame.y($0.value), "small")
            }
        }
        // A line that ends early has its name beside it. The names of the others are aligned in a column.
        let early = ends.filter { frame.right - $0.x > 60 }
        for (end, y) in zip(early, LabelStack.spread(early.map { $0.y - 8 }, distance: 15, within: frame.bounds)) {
            let text = TextWidth.shortened(end.text, to: frame.right - end.x - 9)
            svg.label(text, x: end.x + 9, y: y, class: end.classes)
        }
        let late = ends.filter { frame.right - $0.x <= 60 }
        for (end, y) in zip(late, LabelStack.spread(late.map(\.y), distance: 17, within: frame.bounds)) {
            let x = frame.right + 14
            if (y - end.y).magnitude > 3 || x - end.x > 30 {
                svg.line(from: (end.x + 7, end.y), to: (x - 3, y), class: "leader")
            }
            svg.label(TextWidth.shortened(end.text, to: frame.width - x - 4), x: x, y: y + 4.5, class: end.classes)
        }
    }

    /// Draws the intervals of the points, joined to a band.
    func drawBand(_ line: Line, in frame: LineChartFrame, to svg: inout SVGWriter) {
        guard line.points.contains(where: { $0.low < $0.high }) else { return }
        if line.points.count == 1, let point = line.points.first {
            let x = frame.x(Double(point.byteCount))
            svg.line(
                from: (x, frame.y(point.low)), to: (x, frame.y(point.high)), class: "whisker \(line.style.colourClass)")
            return
        }
        let above = line.points.map { (frame.x(Double($0.byteCount)), frame.y($0.high)) }
        let below = line.points.reversed().map { (frame.x(Double($0.byteCount)), frame.y($0.low)) }
        svg.path(above + below, closed: true, class: "band \(line.style.colourClass)")
    }

    /// Draws a line and its marks, each with its value in words.
    func drawLine(_ line: Line, in frame: LineChartFrame, to svg: inout SVGWriter) {
        let positions = line.points.map { (x: frame.x(Double($0.byteCount)), y: frame.y($0.value)) }
        if positions.count > 1 { svg.path(positions, class: "line \(line.style.lineClass)") }
        // More marks than this would cover each other.
        let step = max(1, (line.points.count + 63) / 64)
        for (index, (point, position)) in zip(line.points, positions).enumerated() where index.isMultiple(of: step) {
            svg.value(point.words) { $0.mark(line.style, x: position.x, y: position.y, radius: 4.5) }
        }
    }

    func drawPublished(in frame: LineChartFrame, to svg: inout SVGWriter) {
        for point in publishedPoints {
            let (x, y) = (frame.x(Double(point.byteCount)), frame.y(point.value))
            let shape = Marker.commands(shape: point.style.shape, x: x, y: y, radius: 9)
            svg.value(point.words) { $0.path(commands: shape, class: "ring \(point.style.colourClass)") }
        }
    }
}

/// The layout of a line chart.
struct LineChartFrame: Sendable {
    let width: Double
    let left: Double
    let right: Double
    /// True if the names of the lines fit beside the plot. If they do not, the legend has them.
    let hasNameColumn: Bool
    let top: Double
    let bottom: Double
    let x: LogScale
    let y: LogScale
    let legend: ChartLegend

    /// Lays out a chart for its data and a width.
    init(_ chart: LineChart, width: Double) {
        self.width = width
        hasNameColumn = LineChart.isWide(width)
        left = hasNameColumn ? 92 : 76
        right = hasNameColumn ? width - 160 : width - 34
        let points = chart.lines.flatMap(\.points)
        let sizes = points.map(\.byteCount) + chart.publishedPoints.map(\.byteCount)
        let positions = sizes.filter { $0 > 0 }.map { LogScale.position(of: Double($0), base: 2) }
        let lower = positions.min() ?? 12
        let upper = max(positions.max() ?? 12, lower + 2)
        legend = ChartLegend(Self.entries(chart, namesReferences: !hasNameColumn), width: width)
        top = 108 + Double(legend.rowCount - 1) * ChartLegend.rowHeight
        bottom = top + (hasNameColumn ? 360 : 280)
        x = LogScale(base: 2, lower: lower - 0.4, upper: upper + 0.4, start: left, end: right)
        let values =
            points.flatMap { [$0.low, $0.value, $0.high] } + chart.publishedPoints.map(\.value)
            + chart.references.flatMap(\.points).map(\.value)
        y = LogScale(
            base: chart.vertical.base, covering: values, atLeast: chart.vertical.base == 2 ? 3 : 1, from: bottom,
            to: top)
    }

    /// The range from the top to the bottom of the plot.
    var bounds: ClosedRange<Double> { top...bottom }

    /// Returns whether a size lies between the smallest and the largest one drawn.
    func covers(_ byteCount: UInt64) -> Bool {
        (x.lower...x.upper).contains(LogScale.position(of: Double(byteCount), base: 2))
    }

    private static func entries(_ chart: LineChart, namesReferences: Bool) -> [ChartLegend.Entry] {
        let references = chart.references.enumerated().map {
            ChartLegend.Entry(text: $0.element.name, sample: .reference($0.offset))
        }
        return chart.lines.map { ChartLegend.Entry(text: $0.name, sample: .line($0.style)) }
            + chart.publishedLabels.map { ChartLegend.Entry(text: $0, sample: .ring) }
            + (namesReferences ? references : [])
    }
}
