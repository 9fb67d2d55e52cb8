extension LineChart {
    /// Draws the interval of each point, joined to a band.
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
        let places = line.points.map { (x: frame.x(Double($0.byteCount)), y: frame.y($0.value)) }
        if places.count > 1 { svg.path(places, class: "line \(line.style.lineClass)") }
        // Marks of more points than this would cover each other.
        let step = max(1, (line.points.count + 63) / 64)
        for (index, (point, place)) in zip(line.points, places).enumerated() where index.isMultiple(of: step) {
            svg.value(point.words) { $0.mark(line.style, x: place.x, y: place.y, radius: 4.5) }
        }
    }

    /// Draws rings around what was published.
    func drawPublished(in frame: LineChartFrame, to svg: inout SVGWriter) {
        for point in publishedPoints {
            let (x, y) = (frame.x(Double(point.byteCount)), frame.y(point.value))
            let shape = Marker.commands(shape: point.style.shape, x: x, y: y, radius: 9)
            svg.value(point.words) { $0.path(commands: shape, class: "ring \(point.style.colourClass)") }
        }
    }
}
