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

    /// Lays out a chart for its data and a width.
    init(_ chart: LineChart, width: Double) {
        self.width = width
        hasNameColumn = width >= 640
        left = hasNameColumn ? 92 : 76
        right = hasNameColumn ? width - 142 : width - 34
        let windows = (chart.lines.flatMap(\.points).map(\.window) + chart.publishedPoints.map(\.window))
            .map { Double($0) }
        let positions = windows.filter { $0 > 0 }.map { LogScale.position(of: $0, base: 2) }
        let lower = positions.min() ?? 12
        let upper = max(positions.max() ?? 12, lower + 2)
        let legend = chart.lines.map(\.name) + chart.publishedLabels
        let legendWidth = legend.reduce(0) { $0 + 64 + TextWidth.estimate($1) }
        let legendRows = max((legendWidth / (width - 60)).rounded(.up), 1)
        top = 108 + (legendRows - 1) * 20
        bottom = top + (hasNameColumn ? 360 : 280)
        height = bottom + 58
        x = LogScale(base: 2, lower: lower - 0.4, upper: upper + 0.4, start: left, end: right)
        let values = chart.lines.flatMap(\.points).flatMap { [$0.low, $0.value, $0.high] }
        y = LogScale(
            base: 2, covering: values + chart.publishedPoints.map(\.value), atLeast: 3, from: bottom, to: top
        )
    }

    /// Says whether a window lies between the least and the greatest one drawn.
    func covers(_ window: UInt64) -> Bool {
        (x.lower...x.upper).contains(LogScale.position(of: Double(window), base: 2))
    }
}
