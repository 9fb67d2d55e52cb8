extension LineChart {
    /// Draws the chart for a page, a file or, 420 units wide, a telephone.
    func chart(width: Double = 960) -> Chart {
        let frame = LineChartFrame(self, width: width)
        var svg = SVGWriter()
        svg.caption(title, in: frame.width)
        frame.legend.draw(to: &svg)
        drawGrid(in: frame, to: &svg)
        drawMarks(in: frame, to: &svg)
        drawReferences(in: frame, to: &svg)
        for line in lines { drawBand(line, in: frame, to: &svg) }
        for line in lines { drawLine(line, in: frame, to: &svg) }
        drawPublished(in: frame, to: &svg)
        drawNames(in: frame, to: &svg)
        return Chart(
            name: frame.hasNameColumn ? name : name + "-narrow", title: title, description: description,
            width: frame.width, height: frame.height, body: svg.text
        )
    }

    private func drawGrid(in frame: LineChartFrame, to svg: inout SVGWriter) {
        let rowStep = frame.y.labelStep(room: 30)
        for power in frame.y.powers {
            let y = frame.y.coordinate(atPosition: Double(power))
            let isLabelled = power.isMultiple(of: rowStep)
            svg.line(from: (frame.left, y), to: (frame.right, y), class: isLabelled ? "grid" : "faint")
            guard isLabelled, let label = vertical.label(power) else { continue }
            svg.label(label, x: frame.left - 10, y: y + 4, anchor: "end", class: "tick")
        }
        let columnStep = frame.x.labelStep(room: 62)
        for power in frame.x.powers where power.isMultiple(of: columnStep) && (0..<63).contains(power) {
            let x = frame.x.coordinate(atPosition: Double(power))
            svg.line(from: (x, frame.top), to: (x, frame.bottom), class: "faint")
            let label = ByteCountText.size(1 << UInt64(power))
            svg.label(label, x: x, y: frame.bottom + 20, anchor: "middle", class: "tick")
        }
        let middle = (frame.left + frame.right) / 2
        svg.label(horizontalLabel, x: middle, y: frame.bottom + 42, anchor: "middle", class: "tick")
    }

    private func drawMarks(in frame: LineChartFrame, to svg: inout SVGWriter) {
        for (byteCount, article) in marks {
            guard frame.covers(byteCount) else { continue }
            let x = frame.x(Double(byteCount))
            svg.line(from: (x, frame.top - 6), to: (x, frame.bottom), class: "mark")
            svg.label(ByteCountText.size(byteCount), x: x, y: frame.top - 25, anchor: "middle", class: "tick")
            guard frame.hasNameColumn else { continue }
            svg.label(article, x: x, y: frame.top - 11, anchor: "middle", class: "small")
        }
    }

    private func drawReferences(in frame: LineChartFrame, to svg: inout SVGWriter) {
        for (number, reference) in references.enumerated() {
            let points = reference.points.map { (frame.x(Double($0.byteCount)), frame.y($0.value)) }
            svg.path(points, class: "reference r\(number)")
        }
    }

    /// The names of all lines at their ends, where there is room beside the plot.
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
        // A line that ends early keeps its name beside it; the others share a column, where names line up.
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
}
