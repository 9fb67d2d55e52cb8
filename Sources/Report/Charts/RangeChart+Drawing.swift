extension RangeChart {
    private static let width = 960.0
    private static let latencyLeft = 212.0
    private static let latencyRight = 640.0
    private static let barLeft = 680.0
    private static let barRight = 880.0
    private static let lane = 13.0

    /// Draws the chart.
    func chart() -> Chart {
        let top = 112.0
        let heights = rows.map { Double(max($0.marks.count, 2)) * Self.lane + 16 }
        let bottom = top + heights.reduce(0, +)
        var svg = SVGWriter()
        svg.label(title, x: 16, y: 26, class: "caption")
        drawLegend(to: &svg)
        let latencies = rows.flatMap(\.marks).flatMap { [Double($0.p50), Double($0.p99)] }
        let time = LogScale(
            base: 10, covering: latencies, atLeast: 2, from: Self.latencyLeft, to: Self.latencyRight)
        let ratio = LogScale(
            base: 10, covering: [1] + rows.compactMap(\.fetched), atLeast: 1, from: Self.barLeft, to: Self.barRight)
        drawAxes(time: time, ratio: ratio, top: top, bottom: bottom, to: &svg)
        var y = top
        for (row, height) in zip(rows, heights) {
            svg.line(from: (16, y), to: (Self.width - 16, y), class: "grid")
            draw(row, time: time, ratio: ratio, top: y, height: height, to: &svg)
            y += height
        }
        svg.line(from: (16, bottom), to: (Self.width - 16, bottom), class: "grid")
        return Chart(
            name: "ranges", title: title, description: description, width: Self.width, height: bottom + 16,
            body: svg.text
        )
    }

    private func drawLegend(to svg: inout SVGWriter) {
        var x = 16.0
        for backend in backends {
            let index = backend.style % Palette.seriesCount
            svg.path(commands: Marker.commands(style: index, x: x + 8, y: 46), class: "dot s\(index)")
            svg.label(backend.name, x: x + 22, y: 50, class: "key")
            x += 22 + TextWidth.estimate(backend.name) + 22
        }
        svg.label("shape: median; line: up to the 99th percentile", x: x, y: 50, class: "small")
    }

    private func drawAxes(time: LogScale, ratio: LogScale, top: Double, bottom: Double, to svg: inout SVGWriter) {
        svg.label("latency of one read", x: Self.latencyLeft, y: top - 34, class: "small")
        svg.label("fetched per byte delivered", x: Self.barLeft, y: top - 34, class: "small")
        for power in time.powers where (0..<19).contains(power) {
            let x = time.coordinate(atPosition: Double(power))
            svg.line(from: (x, top), to: (x, bottom), class: "grid")
            let label = Self.decade(nanosecondPower: power)
            svg.label(label, x: x, y: top - 10, anchor: "middle", class: "tick")
        }
        let step = ratio.labelStep(room: 52)
        for power in ratio.powers where (0..<19).contains(power) {
            let x = ratio.coordinate(atPosition: Double(power))
            svg.line(from: (x, top), to: (x, bottom), class: "faint")
            guard power.isMultiple(of: step) else { continue }
            let label = SignificantDigits.grouped(UInt64(LogScale.power(power, base: 10))) + "×"
            svg.label(label, x: x, y: top - 10, anchor: "middle", class: "tick")
        }
    }

    private func draw(
        _ row: Row, time: LogScale, ratio: LogScale, top: Double, height: Double, to svg: inout SVGWriter
    ) {
        let middle = top + height / 2
        let room = Self.latencyLeft - 32
        svg.label(TextWidth.shortened(row.name, to: room), x: 16, y: middle - 3, class: "end")
        svg.label(TextWidth.shortened(row.detail, to: room), x: 16, y: middle + 14, class: "small")
        var y = middle - Double(row.marks.count - 1) / 2 * Self.lane
        for mark in row.marks {
            let index = mark.style % Palette.seriesCount
            let (median, tail) = (time(Double(mark.p50)), time(Double(mark.p99)))
            let (from, to) = (SVGWriter.number(median), SVGWriter.number(tail))
            let (above, below) = (SVGWriter.number(y - 4), SVGWriter.number(y + 4))
            let whisker = "M\(from) \(SVGWriter.number(y))H\(to)M\(to) \(above)V\(below)"
            svg.path(commands: whisker, class: "whisker s\(index)")
            svg.path(commands: Marker.commands(style: index, x: median, y: y), class: "dot s\(index)")
            y += Self.lane
        }
        guard let fetched = row.fetched else { return }
        let end = ratio(fetched)
        svg.rectangle(x: Self.barLeft, y: middle - 8, width: max(end - Self.barLeft, 2), height: 16, class: "bar")
        svg.label(RatioText.times(fetched), x: max(end, Self.barLeft + 2) + 7, y: middle + 4.5, class: "end")
    }

    /// Returns a power of ten nanoseconds with its unit: 4 is `10 µs`.
    private static func decade(nanosecondPower power: Int) -> String {
        let units = ["ns", "µs", "ms", "s"]
        let unit = min(power / 3, units.count - 1)
        let number = UInt64(LogScale.power(power - unit * 3, base: 10))
        return "\(SignificantDigits.grouped(number)) \(units[unit])"
    }
}
