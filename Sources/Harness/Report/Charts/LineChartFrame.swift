/// Where things lie in a line chart.
struct LineChartFrame: Sendable {
    let width: Double
    let height: Double
    let left: Double
    let right: Double
    /// Whether there is room beside the plot for the names of the lines; where there is none, the legend names them.
    let hasNameColumn: Bool
    let top: Double
    let bottom: Double
    let x: LogScale
    let y: LogScale
    let legend: ChartLegend

    /// Lays out a chart for its data and a width.
    init(_ chart: LineChart, width: Double) {
        self.width = width
        hasNameColumn = width >= 640
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
        height = bottom + 58
        x = LogScale(base: 2, lower: lower - 0.4, upper: upper + 0.4, start: left, end: right)
        let values =
            points.flatMap { [$0.low, $0.value, $0.high] } + chart.publishedPoints.map(\.value)
            + chart.references.flatMap(\.points).map(\.value)
        y = LogScale(
            base: chart.vertical.base, covering: values, atLeast: chart.vertical.base == 2 ? 3 : 1, from: bottom,
            to: top)
    }

    /// From the top to the bottom of the plot.
    var bounds: ClosedRange<Double> { top...bottom }

    /// Says whether a size lies between the least and the greatest one drawn.
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
