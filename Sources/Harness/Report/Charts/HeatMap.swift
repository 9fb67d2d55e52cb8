import Results

/// Values by row and column, as numbers on shades.
struct HeatMap: Picture {
    var name: String
    var title: String
    var description: String
    var rows: [String]
    var columns: [String]
    /// The values row by row, one for each column; `nil` for a missing measurement.
    var values: [[Value?]]

    struct Value: Sendable {
        /// The value, above 0.
        var value: Double
        var number: String
        /// The unit printed below it.
        var unit: String
        /// The value in words, shown on hover.
        var words: String
        /// True if it is the best, or ties with it.
        var isBest: Bool
    }

    static let shadeCount = 7
    /// The ratio between the values of neighbouring shades: the seventh root of 8.
    static let shadeRatio = 1.3459

    /// Returns the shade of a value. The last shade is that of the greatest value, the first that of an eighth of it or
    /// less.
    static func shade(_ value: Double, of greatest: Double) -> Int {
        guard value > 0, greatest > 0 else { return 0 }
        var (shade, limit) = (shadeCount - 1, greatest / shadeRatio)
        while shade > 0, value < limit {
            shade -= 1
            limit /= shadeRatio
        }
        return shade
    }

    /// The map with rows and columns exchanged.
    var transposed: HeatMap {
        var other = self
        (other.rows, other.columns) = (columns, rows)
        other.values = columns.indices.map { column in values.map { $0[column] } }
        return other
    }

    /// Draws the map; for a phone, rows and columns are exchanged.
    func draw(width: Double, to svg: inout SVGWriter) -> Double {
        Self.isWide(width)
            ? draw(width: width, left: 148, to: &svg) : transposed.draw(width: width, left: 84, to: &svg)
    }

    private func draw(width: Double, left: Double, to svg: inout SVGWriter) -> Double {
        let cell = (width: (width - left - 16) / Double(max(columns.count, 1)), height: 40.0)
        // Names wider than a column are rotated.
        let widest = columns.map(TextWidth.estimate).max() ?? 0
        let isTurned = widest > cell.width - 6
        let top = isTurned ? 106 + min(widest, 130) * 0.72 : 114
        let greatest = values.joined().compactMap { $0?.value }.max() ?? 0
        drawLegend(width: width, greatest: greatest, to: &svg)
        for (index, column) in columns.enumerated() {
            let x = left + (Double(index) + 0.5) * cell.width
            if isTurned {
                svg.label(
                    TextWidth.shortened(column, to: 130), x: x + 4, y: top - 8, anchor: "end", turned: 45, class: "tick"
                )
            } else {
                svg.label(column, x: x, y: top - 10, anchor: "middle", class: "tick")
            }
        }
        for (row, name) in rows.enumerated() {
            let y = top + Double(row) * cell.height
            svg.label(
                TextWidth.shortened(name, to: left - 22), x: left - 10, y: y + 25, anchor: "end", class: "tick")
            for (column, value) in values[row].enumerated() {
                let x = left + Double(column) * cell.width
                draw(value, x: x, y: y, width: cell.width, height: cell.height, greatest: greatest, to: &svg)
            }
        }
        return top + Double(rows.count) * cell.height + 16
    }

    private var hasBest: Bool { values.joined().contains { $0?.isBest == true } }

    private func drawLegend(width: Double, greatest: Double, to svg: inout SVGWriter) {
        for shade in 0..<Self.shadeCount {
            svg.rectangle(x: 16 + Double(shade) * 20, y: 40, width: 20, height: 14, class: "h\(shade)")
        }
        let words =
            Self.isWide(width)
            ? "slow to fast, a third more each" + (hasBest ? "; framed: the best and its ties" : "") : "slow to fast"
        svg.label(words, x: 16 + Double(Self.shadeCount) * 20 + 10, y: 52, class: "small")
        // The values at the ends of the scale, printed below it.
        let edges = [("≤ ", greatest / 8), ("", greatest)].map { $0 + ByteCountText.rate(UInt64(max($1, 0))) }
        svg.label(edges[0], x: 16, y: 70, class: "small")
        svg.label(edges[1], x: 16 + Double(Self.shadeCount) * 20, y: 70, class: "small")
    }

    private func draw(
        _ value: Value?, x: Double, y: Double, width: Double, height: Double, greatest: Double, to svg: inout SVGWriter
    ) {
        let middle = x + width / 2
        guard let value else {
            svg.label("–", x: middle, y: y + 25, anchor: "middle", class: "tick")
            return
        }
        let shade = Self.shade(value.value, of: greatest)
        svg.value(value.words) { svg in
            svg.rectangle(x: x + 1, y: y + 1, width: width - 2, height: height - 2, class: "h\(shade)")
            if value.isBest {
                svg.rectangle(x: x + 2.5, y: y + 2.5, width: width - 5, height: height - 5, class: "frame i\(shade)")
            }
            let hasUnit = width >= 40
            svg.label(
                value.number, x: middle, y: y + (hasUnit ? 19 : 25), anchor: "middle",
                class: value.isBest ? "i\(shade) strong" : "i\(shade)")
            guard hasUnit else { return }
            svg.label(value.unit, x: middle, y: y + 33, anchor: "middle", class: "i\(shade) unit")
        }
    }
}

extension RunSummary {
    /// Throughput of the main series by backend and window, or `nil` if there is nothing to compare.
    var heatMap: HeatMap? {
        let grid = grid
        guard let best, let main, grid.backends.count * grid.windows.count > 1 else {
            return nil
        }
        let windows = grid.windows.prefix(Self.maxColumns)
        let names = grid.backends.prefix(Self.maxLines)
        let missing = grid.windows.count - windows.count
        return HeatMap(
            name: "heat", title: "Throughput by backend and window",
            description:
                "The throughput of \(main.description), as numbers on shades that go from slow to fast; "
                + "a frame stands around the best and what ties with it."
                + (missing > 0 ? " \(RatioText.count(missing, "larger window")) left out." : "") + Self.remark(grid),
            rows: Array(names), columns: windows.map(ByteCountText.size),
            values: names.map { name in
                windows.map { window in
                    guard let cell = grid[name, window], let own = cell.speed else { return nil }
                    let isFastest = cell.cell.id == best.cell.id
                    let isBest = isFastest || SpeedRatio(of: cell, over: best)?.isTie == true
                    let words = ByteCountText.rate(own.bytesPerSecond)
                    let parts = words.split(separator: " ")
                    let tie = isFastest ? ", the best" : isBest ? ", ties with the best" : ""
                    return HeatMap.Value(
                        value: Double(own.bytesPerSecond), number: parts.first.map(String.init) ?? words,
                        unit: parts.last.map(String.init) ?? "",
                        words: "\(name), \(ByteCountText.size(window)) window: \(words)\(tie)", isBest: isBest)
                }
            })
    }

    /// With more columns than this, they are too narrow for numbers.
    private static let maxColumns = 16
}
