/// Writes SVG elements as text, one a line, with coordinates rounded to a tenth.
struct SVGWriter {
    /// The elements so far.
    private(set) var text = ""

    /// Returns a coordinate with at most one digit after the point.
    static func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        let sign = tenths < 0 ? "-" : ""
        let magnitude = tenths.magnitude
        return magnitude.isMultiple(of: 10) ? "\(sign)\(magnitude / 10)" : "\(sign)\(magnitude / 10).\(magnitude % 10)"
    }

    /// Adds a straight line.
    mutating func line(from start: (x: Double, y: Double), to end: (x: Double, y: Double), class name: String) {
        let (x1, y1) = (Self.number(start.x), Self.number(start.y))
        let (x2, y2) = (Self.number(end.x), Self.number(end.y))
        add("<line class=\"\(name)\" x1=\"\(x1)\" y1=\"\(y1)\" x2=\"\(x2)\" y2=\"\(y2)\"/>")
    }

    /// Adds a rectangle.
    mutating func rectangle(x: Double, y: Double, width: Double, height: Double, class name: String) {
        let origin = "x=\"\(Self.number(x))\" y=\"\(Self.number(y))\""
        add("<rect class=\"\(name)\" \(origin) width=\"\(Self.number(width))\" height=\"\(Self.number(height))\"/>")
    }

    /// Adds a path through points, closed or open.
    mutating func path(_ points: [(x: Double, y: Double)], closed: Bool = false, class name: String) {
        guard !points.isEmpty else { return }
        let steps = points.map { "\(Self.number($0.x)) \(Self.number($0.y))" }
        add("<path class=\"\(name)\" d=\"M\(steps.joined(separator: "L"))\(closed ? "Z" : "")\"/>")
    }

    /// Adds a path given by its commands.
    mutating func path(commands: String, class name: String) {
        add("<path class=\"\(name)\" d=\"\(commands)\"/>")
    }

    /// Adds text, escaped; `anchor` is `start`, `middle` or `end`, and `turned` the degrees clockwise around that point.
    mutating func label(
        _ label: String, x: Double, y: Double, anchor: String = "start", turned: Int = 0, class name: String
    ) {
        let place = "x=\"\(Self.number(x))\" y=\"\(Self.number(y))\""
        let end = anchor == "start" ? "" : " text-anchor=\"\(anchor)\""
        let turn =
            turned == 0 ? "" : " transform=\"rotate(\(turned) \(Self.number(x)) \(Self.number(y)))\""
        add("<text class=\"\(name)\" \(place)\(end)\(turn)>\(MarkupText.markup(label))</text>")
    }

    /// Adds a heading at the left edge of a picture, cut where it would leave it at the right.
    mutating func caption(_ text: String, y: Double = 26, in width: Double) {
        // Its letters are larger and bold, and so wider than the estimate is made for.
        label(TextWidth.shortened(text, to: (width - 32) / 1.25), x: 16, y: y, class: "caption")
    }

    /// Adds the mark of a series around a point.
    mutating func mark(_ style: SeriesStyle, x: Double, y: Double, radius: Double = 5) {
        path(commands: Marker.commands(shape: style.shape, x: x, y: y, radius: radius), class: style.markClass)
    }

    /// Adds elements that stand for a value. Whoever points at them is told it; a script also tells who comes by keyboard.
    mutating func value(_ words: String, _ draw: (inout SVGWriter) -> Void) {
        add("<g class=\"v\"><title>\(MarkupText.markup(words))</title>")
        draw(&self)
        add("</g>")
    }

    private mutating func add(_ element: String) {
        text += element + "\n"
    }
}
