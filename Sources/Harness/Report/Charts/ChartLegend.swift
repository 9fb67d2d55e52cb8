/// The legend above a picture, in as many rows as it needs.
struct ChartLegend: Sendable {
    struct Entry: Sendable {
        var text: String
        var sample: Sample
    }

    /// The symbol of a legend entry.
    enum Sample: Sendable {
        case line(SeriesStyle)
        case mark(SeriesStyle)
        case ring
        /// A line that is not a measurement, by its number.
        case reference(Int)
        case bar
        case lightBar
        /// No symbol: the text is an explanation.
        case none
    }

    static let rowHeight = 20.0

    private let width: Double
    private let placed: [(entry: Entry, x: Double, y: Double)]
    /// The number of rows, at least 1.
    let rowCount: Int

    /// Places entries from left to right, within a picture's width.
    init(_ entries: [Entry], width: Double) {
        var (x, row) = (16.0, 0)
        var placed: [(Entry, Double, Double)] = []
        for entry in entries {
            let needed = entry.sample.width + TextWidth.estimate(entry.text) + 20
            if x > 16, x + needed > width - 4 {
                x = 16
                row += 1
            }
            placed.append((entry, x, 50 + Double(row) * Self.rowHeight))
            x += needed
        }
        self.width = width
        self.placed = placed
        rowCount = row + 1
    }

    func draw(to svg: inout SVGWriter) {
        for (entry, x, y) in placed {
            switch entry.sample {
            case .line(let style):
                svg.line(from: (x, y - 4), to: (x + 36, y - 4), class: "line \(style.lineClass)")
                svg.mark(style, x: x + 18, y: y - 4)
            case .mark(let style): svg.mark(style, x: x + 8, y: y - 4)
            case .ring:
                svg.path(commands: Marker.commands(shape: 0, x: x + 9, y: y - 4, radius: 7), class: "ring")
            case .reference(let number): svg.line(from: (x, y - 4), to: (x + 36, y - 4), class: "reference r\(number)")
            case .bar: svg.rectangle(x: x, y: y - 10, width: 20, height: 11, class: "bar")
            case .lightBar: svg.rectangle(x: x, y: y - 10, width: 20, height: 11, class: "bar light")
            case .none: break
            }
            let left = x + entry.sample.width
            svg.label(
                TextWidth.shortened(entry.text, to: width - left - 4), x: left, y: y,
                class: entry.sample.isNone ? "small" : "key")
        }
    }
}

extension ChartLegend.Sample {
    fileprivate var width: Double {
        switch self {
        case .line, .reference: 44
        case .mark, .ring: 24
        case .bar, .lightBar: 28
        case .none: 0
        }
    }

    fileprivate var isNone: Bool {
        if case .none = self { true } else { false }
    }
}
