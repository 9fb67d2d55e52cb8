extension LineChart {
    /// Draws the chart for a page, a file or, 420 units wide, a telephone.
    func chart(width: Double = 960) -> Chart {
        let frame = LineChartFrame(self, width: width)
        let isNarrow = !frame.hasNameColumn
        var svg = SVGWriter()
        svg.label(title, x: 16, y: 26, class: "caption")
        drawLegend(in: frame, to: &svg)
        drawGrid(in: frame, to: &svg)
        drawMarks(in: frame, to: &svg)
        drawDiagonal(in: frame, to: &svg)
        for line in lines { drawBand(line, in: frame, to: &svg) }
        for line in lines { drawLine(line, in: frame, to: &svg) }
        for point in publishedPoints {
            let (x, y) = (frame.x(Double(point.window)), frame.y(point.value))
            let shape = Marker.commands(style: point.style, x: x, y: y, radius: 9)
            svg.path(commands: shape, class: "ring s\(point.style % Palette.seriesCount)")
        }
        drawNames(in: frame, to: &svg)
        return Chart(
            name: isNarrow ? name + "-narrow" : name, title: title, description: description, width: frame.width,
            height: frame.height, body: svg.text
        )
    }

    private func drawLegend(in frame: LineChartFrame, to svg: inout SVGWriter) {
        var x = 16.0
        var y = 50.0
        func place(_ text: String) -> Double {
            let needed = 44 + TextWidth.estimate(text) + 20
            if x > 16, x + needed > frame.width - 16 {
                x = 16
                y += 20
            }
            defer { x += needed }
            return x
        }
        for line in lines {
            let left = place(line.name)
            svg.line(from: (left, y - 4), to: (left + 36, y - 4), class: "line \(styleClasses(line.style))")
            svg.path(commands: Marker.commands(style: line.style, x: left + 18, y: y - 4), class: dotClass(line.style))
            svg.label(line.name, x: left + 44, y: y, class: "key")
        }
        for label in publishedLabels {
            let left = place(label)
            svg.path(commands: Marker.commands(style: 0, x: left + 18, y: y - 4, radius: 7), class: "ring")
            svg.label(label, x: left + 44, y: y, class: "key")
        }
    }

    private func drawGrid(in frame: LineChartFrame, to svg: inout SVGWriter) {
        let rowStep = frame.y.labelStep(room: 30)
        for power in frame.y.powers {
            let y = frame.y.coordinate(atPosition: Double(power))
            let isLabelled = power.isMultiple(of: rowStep)
            svg.line(from: (frame.left, y), to: (frame.right, y), class: isLabelled ? "grid" : "faint")
            guard isLabelled, (0..<63).contains(power) else { continue }
            svg.label(verticalLabel(1 << UInt64(power)), x: frame.left - 10, y: y + 4, anchor: "end", class: "tick")
        }
        let columnStep = frame.x.labelStep(room: 62)
        for power in frame.x.powers where power.isMultiple(of: columnStep) && (0..<63).contains(power) {
            let x = frame.x.coordinate(atPosition: Double(power))
            svg.line(from: (x, frame.top), to: (x, frame.bottom), class: "faint")
            let label = ByteCountText.size(1 << UInt64(power))
            svg.label(label, x: x, y: frame.bottom + 20, anchor: "middle", class: "tick")
        }
        let middle = (frame.left + frame.right) / 2
        svg.label(
            "window: plaintext decrypted in one step", x: middle, y: frame.bottom + 42, anchor: "middle", class: "tick")
    }

    private func drawMarks(in frame: LineChartFrame, to svg: inout SVGWriter) {
        // Article 000's 16 MB are chunks, of which this axis says nothing.
        for (window, article) in [(UInt64(16_000_000), ""), (104_857_600, "article 004")] {
            guard frame.covers(window) else { continue }
            let x = frame.x(Double(window))
            svg.line(from: (x, frame.top - 6), to: (x, frame.bottom), class: "mark")
            svg.label(ByteCountText.size(window), x: x, y: frame.top - 25, anchor: "middle", class: "tick")
            guard frame.hasNameColumn else { continue }
            svg.label(article, x: x, y: frame.top - 11, anchor: "middle", class: "small")
        }
    }

    private func drawDiagonal(in frame: LineChartFrame, to svg: inout SVGWriter) {
        guard diagonal != nil else { return }
        let lower = max(frame.x.lower, frame.y.lower)
        let upper = min(frame.x.upper, frame.y.upper)
        guard lower < upper else { return }
        let ends = [lower, upper].map { (frame.x.coordinate(atPosition: $0), frame.y.coordinate(atPosition: $0)) }
        svg.path(ends, class: "ideal")
    }

    private func drawBand(_ line: Line, in frame: LineChartFrame, to svg: inout SVGWriter) {
        guard line.points.count > 1, line.points.contains(where: { $0.low < $0.high }) else { return }
        let above = line.points.map { (frame.x(Double($0.window)), frame.y($0.high)) }
        let below = line.points.reversed().map { (frame.x(Double($0.window)), frame.y($0.low)) }
        svg.path(above + below, closed: true, class: "band s\(line.style % Palette.seriesCount)")
    }

    private func drawLine(_ line: Line, in frame: LineChartFrame, to svg: inout SVGWriter) {
        let points = line.points.map { (x: frame.x(Double($0.window)), y: frame.y($0.value)) }
        if points.count > 1 { svg.path(points, class: "line \(styleClasses(line.style))") }
        for point in points {
            let shape = Marker.commands(style: line.style, x: point.x, y: point.y, radius: 4.5)
            svg.path(commands: shape, class: dotClass(line.style))
        }
    }

    private func drawNames(in frame: LineChartFrame, to svg: inout SVGWriter) {
        guard frame.hasNameColumn else { return }
        var ends = lines.compactMap { line in
            line.points.last.map {
                (text: line.name, x: frame.x(Double($0.window)), y: frame.y($0.value), style: line.style)
            }
        }
        if let diagonal {
            let upper = min(frame.x.upper, frame.y.upper)
            ends.append((diagonal, frame.x.coordinate(atPosition: upper), frame.y.coordinate(atPosition: upper), -1))
        }
        let column = LabelStack.spread(ends.map(\.y), distance: 17, within: frame.top...frame.bottom)
        for (end, y) in zip(ends, column) {
            // A line that ends early keeps its name beside it; the others share a column, where names line up.
            let x = frame.right - end.x > 60 ? end.x + 16 : frame.right + 14
            if (y - end.y).magnitude > 3 || x - end.x > 30 {
                svg.line(from: (end.x + 7, end.y), to: (x - 3, y), class: "leader")
            }
            let name = end.style < 0 ? "small" : "end s\(end.style % Palette.seriesCount)"
            svg.label(TextWidth.shortened(end.text, to: frame.width - x - 8), x: x, y: y + 4.5, class: name)
        }
    }

    /// The labels of published points, each once.
    var publishedLabels: [String] {
        publishedPoints.map(\.label).reduce(into: []) { labels, label in
            if !labels.contains(label) { labels.append(label) }
        }
    }

    private func styleClasses(_ style: Int) -> String {
        let index = style % Palette.seriesCount
        return "s\(index) d\(index)"
    }

    private func dotClass(_ style: Int) -> String {
        "dot s\(style % Palette.seriesCount)"
    }
}
