extension RowChart {
    /// Draws the chart for a page, a file or, 420 units wide, a telephone.
    func chart(width: Double = 960) -> Chart {
        let frame = RowChartFrame(self, width: width)
        var svg = SVGWriter()
        svg.caption(title, in: width)
        frame.legend.draw(to: &svg)
        drawAxis(in: frame, to: &svg)
        for (row, top) in zip(rows, frame.tops) { draw(row, top: top, in: frame, to: &svg) }
        svg.line(from: (16, frame.bottom), to: (width - 16, frame.bottom), class: "grid")
        return Chart(
            name: frame.isWide ? name : name + "-narrow", title: title, description: description, width: width,
            height: frame.height, body: svg.text)
    }

    private func drawAxis(in frame: RowChartFrame, to svg: inout SVGWriter) {
        svg.label(axis.title, x: frame.left, y: frame.top - 30, class: "small")
        let step = frame.scale.labelStep(room: 58)
        for power in frame.scale.powers {
            let x = frame.scale.coordinate(atPosition: Double(power))
            svg.line(from: (x, frame.top), to: (x, frame.bottom), class: "faint")
            guard power.isMultiple(of: step), let label = axis.label(power) else { continue }
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
            let room = frame.left - 28
            svg.label(TextWidth.shortened(row.name, to: room / 1.12), x: 16, y: middle - 3, class: "end")
            svg.label(TextWidth.shortened(row.detail, to: room * 1.05), x: 16, y: middle + 13, class: "small")
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
        func place(_ value: Double) -> String { SVGWriter.number(scale(value)) }
        func stroke(_ value: Double) -> String {
            "M\(place(value)) \(SVGWriter.number(y - 4.5))V\(SVGWriter.number(y + 4.5))"
        }
        var end = frame.left
        if let bar = lane.bar {
            end = max(scale(bar), frame.left + 2)
            svg.rectangle(
                x: frame.left, y: y - 5.5, width: end - frame.left, height: 11,
                class: lane.isLight ? "bar light" : "bar")
        }
        if let line = lane.line, line.to >= (axis.minimum ?? line.to) {
            let path = "M\(place(line.from)) \(SVGWriter.number(y))H\(place(line.to))"
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
