/// A chart with a row for each compared item and a lane in it for each series, on one logarithmic axis.
struct RowChart: Picture {
    var name: String
    var title: String
    var description: String
    var legend: [ChartLegend.Entry]
    var axis: Axis
    var rows: [Row]
    /// The width for names in a wide picture; more if a name needs it, up to two fifths of the picture.
    var nameWidth = 232.0

    /// Returns the width that the names of some rows need.
    static func nameWidth(of rows: [Row]) -> Double {
        let widths = rows.map { max(TextWidth.estimate($0.name) * 1.12, TextWidth.estimate($0.detail) / 1.05) + 28 }
        return min(max(widths.max() ?? 0, 232), 390)
    }

    struct Axis: Sendable {
        var title: String
        var scale: LogAxis
        /// The smallest value on the axis; smaller ones are drawn as an arrow.
        var minimum: Double?
        /// A value marked by a line.
        var reference: Double?
        /// The reach of the axis to both sides of 1, as a factor. Without it, the axis has whole powers around all
        /// values.
        var reach: Double?
    }

    struct Row: Sendable {
        /// The group of this row and the following ones, if a new group begins.
        var heading: String?
        var name: String
        var detail: String
        var lanes: [Lane]
    }

    /// The values of one series in a row.
    struct Lane: Sendable {
        var style: SeriesStyle
        /// The ends of a line. `ticks` are the marks across it.
        var line: (from: Double, to: Double)?
        var ticks: [Double] = []
        var point: Double?
        var ring: Double?
        var bar: Double?
        /// True for the lighter one of two bars.
        var isLight = false
        /// The value, printed beside the lane.
        var label = ""
        /// The value in words, shown on hover.
        var words: String

        var values: [Double] {
            [line?.from, line?.to, point, ring, bar].compactMap { $0 } + ticks
        }
    }

    /// More rows than this are shown only in the table.
    static let maxRows = 40

    /// Returns a remark that rows are missing, or an empty text if none are.
    static func remark(_ count: Int) -> String {
        count > maxRows ? " Of \(count) rows the first \(maxRows) are drawn; the table has all." : ""
    }

    func draw(width: Double, to svg: inout SVGWriter) -> Double {
        let frame = RowChartFrame(self, width: width)
        frame.legend.draw(to: &svg)
        drawAxis(in: frame, to: &svg)
        for (row, top) in zip(rows, frame.tops) { draw(row, top: top, in: frame, to: &svg) }
        svg.line(from: (16, frame.bottom), to: (width - 16, frame.bottom), class: "grid")
        return frame.bottom + 34
    }

    private func drawAxis(in frame: RowChartFrame, to svg: inout SVGWriter) {
        svg.label(axis.title, x: frame.left, y: frame.top - 30, class: "small")
        for (x, label) in frame.ticks(of: axis) {
            svg.line(from: (x, frame.top), to: (x, frame.bottom), class: "faint")
            guard let label else { continue }
            for y in [frame.top - 10, frame.bottom + 20] {
                svg.label(label, x: x, y: y, anchor: "middle", class: "tick")
            }
        }
        if let reference = axis.reference {
            let x = frame.scale(reference)
            svg.line(from: (x, frame.top), to: (x, frame.bottom), class: "mark")
        }
    }

    private func draw(_ row: Row, top: Double, in frame: RowChartFrame, to svg: inout SVGWriter) {
        if let heading = row.heading {
            svg.caption(heading, y: top - 9, in: frame.width)
        }
        svg.line(from: (16, top), to: (frame.width - 16, top), class: "grid")
        var y = frame.firstLane(of: row, top: top)
        if frame.isWide {
            let middle = y + Double(row.lanes.count - 1) / 2 * RowChartFrame.lane
            let available = frame.left - 28
            let nameY = row.detail.isEmpty ? middle + 4 : middle - 3
            svg.label(TextWidth.shortened(row.name, to: available / 1.12), x: 16, y: nameY, class: "end")
            svg.label(TextWidth.shortened(row.detail, to: available * 1.05), x: 16, y: middle + 13, class: "small")
        } else {
            let name = TextWidth.shortened(row.name, to: frame.width * 0.55)
            svg.label(name, x: 16, y: top + 19, class: "end")
            let x = 16 + TextWidth.estimate(name) * 1.14 + 10
            svg.label(TextWidth.shortened(row.detail, to: frame.width - x - 12), x: x, y: top + 19, class: "small")
        }
        for lane in row.lanes {
            svg.value(lane.words) { draw(lane, y: y, in: frame, to: &$0) }
            y += RowChartFrame.lane
        }
    }

    private func draw(_ lane: Lane, y: Double, in frame: RowChartFrame, to svg: inout SVGWriter) {
        let scale = frame.scale
        func position(_ value: Double) -> String { SVGWriter.number(scale(value)) }
        func stroke(_ value: Double) -> String {
            "M\(position(value)) \(SVGWriter.number(y - 4.5))V\(SVGWriter.number(y + 4.5))"
        }
        var end = frame.left
        if let bar = lane.bar {
            end = max(scale(bar), frame.left + 2)
            svg.rectangle(
                x: frame.left, y: y - 5.5, width: end - frame.left, height: 11,
                class: lane.isLight ? "bar light" : "bar")
        }
        if let line = lane.line, line.to >= (axis.minimum ?? line.to) {
            let path = "M\(position(line.from)) \(SVGWriter.number(y))H\(position(line.to))"
            svg.path(commands: path + lane.ticks.map(stroke).joined(), class: "whisker \(lane.style.colourClass)")
        }
        if let ring = lane.ring {
            let circle = Marker.commands(shape: 0, x: scale(ring), y: y, radius: 4)
            svg.path(commands: circle, class: "ring thin \(lane.style.colourClass)")
        }
        if let point = lane.point {
            if let minimum = axis.minimum, point < minimum {
                let (x, top, bottom) = (frame.left, SVGWriter.number(y - 5), SVGWriter.number(y + 5))
                let arrow =
                    "M\(SVGWriter.number(x)) \(SVGWriter.number(y))L\(SVGWriter.number(x + 10)) \(top)V\(bottom)Z"
                svg.path(commands: arrow, class: "dot \(lane.style.colourClass)")
            } else {
                svg.mark(lane.style, x: scale(point), y: y, radius: 4.5)
            }
        }
        guard !lane.label.isEmpty else { return }
        let x = lane.bar == nil ? frame.right + 12 : end + 6
        svg.label(TextWidth.shortened(lane.label, to: frame.width - x + 8), x: x, y: y + 4, class: "small")
    }
}

/// The layout of a row chart.
struct RowChartFrame: Sendable {
    static let lane = 15.0
    private static let heading = 30.0

    let width: Double
    let left: Double
    let right: Double
    /// True if names are beside the lanes; on narrow screens they are above them.
    let isWide: Bool
    let top: Double
    let bottom: Double
    let scale: LogScale
    let legend: ChartLegend
    /// The tops of the rows, without their headings.
    let tops: [Double]

    /// Lays out a chart for its data and a width.
    init(_ chart: RowChart, width: Double) {
        self.width = width
        isWide = RowChart.isWide(width)
        left = isWide ? chart.nameWidth : 36
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
        let base = chart.axis.scale.base
        let values = chart.rows.flatMap(\.lanes).flatMap(\.values).map { max($0, chart.axis.minimum ?? $0) }
        if let reach = chart.axis.reach {
            // The ends are marked by lines, which must be inside the picture.
            let span = LogScale.position(of: reach, base: base) * 1.06
            scale = LogScale(base: base, lower: -span, upper: span, start: left, end: right)
        } else if let reference = chart.axis.reference {
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

    /// Returns the lines across the rows, with their labels.
    func ticks(of axis: RowChart.Axis) -> [(x: Double, label: String?)] {
        if let reach = axis.reach { return [1 / reach, 1, reach].map { (scale($0), RatioText.times($0)) } }
        let step = scale.labelStep(spacing: 58)
        return scale.powers.map { power in
            (scale.coordinate(atPosition: Double(power)), power.isMultiple(of: step) ? axis.scale.label(power) : nil)
        }
    }

    /// Returns the middle of the first lane in a row that begins at `top`.
    func firstLane(of row: RowChart.Row, top: Double) -> Double {
        guard isWide else { return top + 28 + Self.lane / 2 }
        let lanes = Double(row.lanes.count) * Self.lane
        return top + (Self.height(of: row, isWide: true) - lanes) / 2 + Self.lane / 2
    }

    private static func height(of row: RowChart.Row, isWide: Bool) -> Double {
        let lanes = Double(row.lanes.count) * lane
        return isWide ? max(lanes + 12, row.detail.isEmpty ? 24 : 42) : lanes + 38
    }
}
