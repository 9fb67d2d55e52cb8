extension HeatMap {
    /// Draws the map, rows down the page, for a page or a file.
    func chart() -> Chart { drawn(as: name, width: 960, left: 148) }

    /// Draws the map for a telephone, where there is more room downwards.
    func narrowChart() -> Chart { transposed.drawn(as: name + "-narrow", width: 420, left: 84) }

    private func drawn(as name: String, width: Double, left: Double) -> Chart {
        let cell = (width: (width - left - 16) / Double(max(columns.count, 1)), height: 40.0)
        // Names that are wider than a column are turned.
        let widest = columns.map(TextWidth.estimate).max() ?? 0
        let isTurned = widest > cell.width - 6
        let top = isTurned ? 92 + min(widest, 130) * 0.72 : 100
        let greatest = values.joined().compactMap { $0?.value }.max() ?? 0
        var svg = SVGWriter()
        svg.caption(title, in: width)
        drawLegend(width: width, to: &svg)
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
        return Chart(
            name: name, title: title, description: description, width: width,
            height: top + Double(rows.count) * cell.height + 16, body: svg.text)
    }

    private func drawLegend(width: Double, to svg: inout SVGWriter) {
        for shade in 0..<Self.shadeCount {
            svg.rectangle(x: 16 + Double(shade) * 20, y: 40, width: 20, height: 14, class: "h\(shade)")
        }
        let words = width < 640 ? "slow to fast" : "slow to fast, a third more each; framed: the best and its ties"
        svg.label(words, x: 16 + Double(Self.shadeCount) * 20 + 10, y: 52, class: "small")
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
