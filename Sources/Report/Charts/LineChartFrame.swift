/// Where things lie in a line chart.
struct LineChartFrame: Sendable {
    let width = 960.0
    let height: Double
    let left = 92.0
    let right = 818.0
    let top: Double
    let bottom: Double
    let x: LogScale
    let y: LogScale

    /// Lays out a chart for its data.
    init(_ chart: LineChart) {
        let windows = (chart.lines.flatMap(\.points).map(\.window) + chart.publishedPoints.map(\.window))
            .map { Double($0) }
        let positions = windows.filter { $0 > 0 }.map { LogScale.position(of: $0, base: 2) }
        let lower = positions.min() ?? 12
        let upper = max(positions.max() ?? 12, lower + 2)
        let legend = chart.lines.map(\.name) + chart.publishedLabels
        let legendWidth = legend.reduce(0) { $0 + 64 + TextWidth.estimate($1) }
        let legendRows = max((legendWidth / (width - 60)).rounded(.up), 1)
        top = 108 + (legendRows - 1) * 20
        bottom = top + 360
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
