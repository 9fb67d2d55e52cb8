/// Writes SVG elements as text, one per line, with coordinates rounded to a tenth.
struct SVGWriter {
    private(set) var text = ""

    /// Returns a coordinate with at most one digit after the point.
    static func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        let sign = tenths < 0 ? "-" : ""
        let magnitude = tenths.magnitude
        return magnitude.isMultiple(of: 10) ? "\(sign)\(magnitude / 10)" : "\(sign)\(magnitude / 10).\(magnitude % 10)"
    }

    mutating func line(from start: (x: Double, y: Double), to end: (x: Double, y: Double), class name: String) {
        let (x1, y1) = (Self.number(start.x), Self.number(start.y))
        let (x2, y2) = (Self.number(end.x), Self.number(end.y))
        add("<line class=\"\(name)\" x1=\"\(x1)\" y1=\"\(y1)\" x2=\"\(x2)\" y2=\"\(y2)\"/>")
    }

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

    /// Adds a path with the given commands.
    mutating func path(commands: String, class name: String) {
        add("<path class=\"\(name)\" d=\"\(commands)\"/>")
    }

    /// Adds text, which is escaped. `anchor` is `start`, `middle` or `end`. `turned` is the rotation around the point,
    /// in degrees clockwise.
    mutating func label(
        _ label: String, x: Double, y: Double, anchor: String = "start", turned: Int = 0, class name: String
    ) {
        let origin = "x=\"\(Self.number(x))\" y=\"\(Self.number(y))\""
        let end = anchor == "start" ? "" : " text-anchor=\"\(anchor)\""
        let turn =
            turned == 0 ? "" : " transform=\"rotate(\(turned) \(Self.number(x)) \(Self.number(y)))\""
        add("<text class=\"\(name)\" \(origin)\(end)\(turn)>\(MarkupText.markup(label))</text>")
    }

    /// Adds a heading at the left edge of a picture, shortened if it would exceed the right edge.
    mutating func caption(_ text: String, y: Double = 26, in width: Double) {
        // The letters are larger and bold, so they are wider than the estimate.
        label(TextWidth.shortened(text, to: (width - 32) / 1.25), x: 16, y: y, class: "caption")
    }

    /// Adds the mark of a series around a point.
    mutating func mark(_ style: SeriesStyle, x: Double, y: Double, radius: Double = 5) {
        path(commands: Marker.commands(shape: style.shape, x: x, y: y, radius: radius), class: style.markClass)
    }

    /// Adds elements that represent a value. The value is shown on hover, and by the script on keyboard focus.
    mutating func value(_ words: String, _ draw: (inout SVGWriter) -> Void) {
        add("<g class=\"v\"><title>\(MarkupText.markup(words))</title>")
        draw(&self)
        add("</g>")
    }

    private mutating func add(_ element: String) {
        text += element + "\n"
    }
}

/// The shape of a series, in addition to its colour and dashes.
enum Marker {
    /// Returns the path of a filled shape around a point.
    static func commands(shape: Int, x: Double, y: Double, radius: Double = 5) -> String {
        func point(_ dx: Double, _ dy: Double) -> String {
            "\(SVGWriter.number(x + dx * radius)) \(SVGWriter.number(y + dy * radius))"
        }
        switch shape {
        case 0:
            let arc = "A\(SVGWriter.number(radius)) \(SVGWriter.number(radius)) 0 1 0 "
            return "M\(point(-1, 0))\(arc)\(point(1, 0))\(arc)\(point(-1, 0))Z"
        case 1: return "M\(point(-0.9, -0.9))L\(point(0.9, -0.9))L\(point(0.9, 0.9))L\(point(-0.9, 0.9))Z"
        case 2: return "M\(point(0, -1.15))L\(point(1.1, 0.85))L\(point(-1.1, 0.85))Z"
        case 3: return "M\(point(0, -1.3))L\(point(1.3, 0))L\(point(0, 1.3))L\(point(-1.3, 0))Z"
        case 4: return "M\(point(0, 1.15))L\(point(1.1, -0.85))L\(point(-1.1, -0.85))Z"
        default:
            let corners = [(-1.0, -0.35), (-0.35, -0.35), (-0.35, -1.0), (0.35, -1.0), (0.35, -0.35), (1.0, -0.35)]
            let path = corners + corners.map { (-$0.0, -$0.1) }
            return "M" + path.map { point($0.0 * 1.15, $0.1 * 1.15) }.joined(separator: "L") + "Z"
        }
    }
}

/// Estimates of the width of text, without knowing the font: enough to place labels, not to set type.
enum TextWidth {
    /// Returns the estimated width of text with a font size of 13 units; wide scripts count double.
    static func estimate(_ text: String) -> Double {
        text.unicodeScalars.reduce(0) { $0 + ($1.value < 0x1100 ? 7.2 : 14) }
    }

    /// Returns the text if it fits. Otherwise it first removes the folders from a plug-in's or program's name, then
    /// shortens the text and adds an ellipsis.
    static func shortened(_ text: String, to width: Double) -> String {
        guard estimate(text) > width else { return text }
        let text = withoutFolders(text)
        guard estimate(text) > width else { return text }
        var kept = ""
        for character in text {
            guard estimate(kept + String(character)) + 7.2 <= width else { break }
            kept.append(character)
        }
        return kept + "…"
    }

    /// Returns `plugin:/opt/lib.so` as `lib.so`, and `subject:node examples/reader.mjs` as `node reader.mjs`.
    private static func withoutFolders(_ text: String) -> String {
        guard let prefix = ["plugin:", "subject:"].first(where: text.hasPrefix) else { return text }
        return text.dropFirst(prefix.count).split(separator: " ").map { word in
            word.split(separator: "/").last.map(String.init) ?? String(word)
        }.joined(separator: " ")
    }
}

/// Positions of labels in a column that do not cover each other.
enum LabelStack {
    /// Returns positions as close to the wanted ones as a minimum distance and the column's ends allow.
    ///
    /// The result is in the order of `wanted`; equal positions keep their order.
    static func spread(_ wanted: [Double], distance: Double, within bounds: ClosedRange<Double>) -> [Double] {
        let order = wanted.indices.sorted { (wanted[$0], $0) < (wanted[$1], $1) }
        var placed = order.map { wanted[$0] }
        // The forward pass pushes down labels that are too close, the backward pass pulls up those beyond the column.
        // Both keep the order.
        for index in placed.indices.dropFirst() {
            placed[index] = max(placed[index], placed[index - 1] + distance)
        }
        var limit = bounds.upperBound
        for index in placed.indices.reversed() {
            placed[index] = min(placed[index], limit)
            limit = placed[index] - distance
        }
        var result = wanted
        for (position, index) in order.enumerated() { result[index] = placed[position] }
        return result
    }
}
