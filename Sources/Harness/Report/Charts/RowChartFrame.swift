/// Where things lie in a row chart.
struct RowChartFrame: Sendable {
    static let lane = 15.0
    private static let heading = 30.0

    let width: Double
    let height: Double
    let left: Double
    let right: Double
    /// Whether names stand beside the lanes; where there is no room, they stand above them.
    let isWide: Bool
    let top: Double
    let bottom: Double
    let scale: LogScale
    let legend: ChartLegend
    /// The top of each row, without its heading.
    let tops: [Double]

    /// Lays out a chart for its data and a width.
    init(_ chart: RowChart, width: Double) {
        self.width = width
        isWide = width >= 640
        left = isWide ? 232 : 36
        right = isWide ? width - 132 : width - 76
        legend = ChartLegend(chart.legend, width: width)
        top = 104 + Double(legend.rowCount - 1) * ChartLegend.rowHeight
        var (y, tops): (Double, [Double]) = (top, [])
        for row in chart.rows {
            if row.heading != nil { y += Self.heading }
            tops.append(y)
            y += Self.height(of: row, isWide: isWide)
        }
        self.tops = tops
        bottom = y
        height = y + 34
        let base = chart.axis.base
        let values = chart.rows.flatMap(\.lanes).flatMap(\.values).map { max($0, chart.axis.minimum ?? $0) }
        if let reference = chart.axis.reference {
            // Around a reference, whole powers would waste half of the picture.
            let positions = (values + [reference]).filter { $0 > 0 && $0.isFinite }
                .map { LogScale.position(of: $0, base: base) }
            scale = LogScale(
                base: base, lower: min((positions.min() ?? 0) - 0.15, -1), upper: (positions.max() ?? 0) + 0.15,
                start: left, end: right)
        } else {
            scale = LogScale(base: base, covering: values, atLeast: 1, from: left, to: right)
        }
    }

    /// The first lane's middle in a row that begins at `top`.
    func firstLane(of row: RowChart.Row, top: Double) -> Double {
        guard isWide else { return top + 28 + Self.lane / 2 }
        let lanes = Double(row.lanes.count) * Self.lane
        return top + (Self.height(of: row, isWide: true) - lanes) / 2 + Self.lane / 2
    }

    private static func height(of row: RowChart.Row, isWide: Bool) -> Double {
        let lanes = Double(row.lanes.count) * lane
        return isWide ? max(lanes + 12, 42) : lanes + 38
    }
}
