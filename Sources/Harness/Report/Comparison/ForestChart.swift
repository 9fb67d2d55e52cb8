/// Ratios with their intervals, one a row, on one logarithmic axis around 1.
struct ForestChart: Sendable {
    /// More rows than these are a table and no picture.
    static let maxRows = 60
    private static let rowHeight = 22.0
    /// How far the axis may reach from 1, as factors.
    private static let reaches = [1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10, 30, 100, 1000, 1e6]

    /// A name that is unique in a report.
    var name: String
    /// What the picture shows; stands above it as well.
    var title: String
    /// What there is to be seen in it.
    var description: String
    var rows: [Row]

    struct Row: Sendable {
        /// What this row and those after it share, where that changes.
        var heading: String?
        var name: String
        var ratio: Double
        /// The interval's ends, or `nil` where there is no interval.
        var interval: ClosedRange<Double>?
        var style: Int

        var words: String {
            guard let interval else { return "\(RatioText.times(ratio)), no interval" }
            return "\(RatioText.times(ratio)) (95 %: \(RatioText.times(interval.lowerBound)) to "
                + "\(RatioText.times(interval.upperBound)))"
        }
    }

    /// Draws the chart for a page or, 420 units wide, a phone.
    func chart(width: Double = 960) -> Chart {
        let isWide = width >= 640
        let left = isWide ? 330.0 : 160
        let right = width - (isWide ? 150 : 64)
        let lines = rows.count + rows.count { $0.heading != nil }
        let (top, bottom) = (72.0, 72 + Double(max(lines, 1)) * Self.rowHeight)
        let reach = reach
        let span = LogScale.position(of: reach, base: 2) * 1.06
        let scale = LogScale(base: 2, lower: -span, upper: span, start: left, end: right)
        var svg = SVGWriter()
        svg.label(TextWidth.shortened(title, to: width - 32), x: 16, y: 26, class: "caption")
        for value in [1 / reach, 1, reach] {
            svg.line(from: (scale(value), top - 6), to: (scale(value), bottom), class: value == 1 ? "mark" : "grid")
            svg.label(RatioText.times(value), x: scale(value), y: top - 14, anchor: "middle", class: "tick")
        }
        var y = top - 0.5 * Self.rowHeight
        for row in rows {
            y += Self.rowHeight
            if let heading = row.heading {
                svg.label(TextWidth.shortened(heading, to: width - 32), x: 16, y: y + 6, class: "end")
                y += Self.rowHeight
            }
            svg.label(TextWidth.shortened(row.name, to: left - 28), x: 16, y: y + 4, class: "small")
            let rowY = y
            svg.value("\(row.name): \(row.words)") { draw(row, y: rowY, scale, to: &$0) }
            svg.label(RatioText.times(row.ratio), x: right + 12, y: y + 4, class: "small")
        }
        return Chart(
            name: isWide ? name : name + "-narrow", title: title, description: description, width: width,
            height: bottom + 16, body: svg.text)
    }

    private func draw(_ row: Row, y: Double, _ scale: LogScale, to svg: inout SVGWriter) {
        let shape = row.style % Palette.seriesCount
        if let interval = row.interval {
            let (from, to) = (scale(interval.lowerBound), scale(interval.upperBound))
            svg.line(from: (from, y), to: (max(to, from + 1), y), class: "whisker s\(shape)")
        }
        svg.mark(SeriesStyle(row.style), x: scale(row.ratio), y: y, radius: 4.5)
    }

    /// How far the axis reaches: the next round factor beyond all ratios and intervals.
    private var reach: Double {
        let ends = rows.flatMap { [$0.ratio, $0.interval?.lowerBound, $0.interval?.upperBound].compactMap { $0 } }
        let farthest = ends.filter { $0 > 0 && $0.isFinite }.map { max($0, 1 / $0) }.max() ?? 1
        return Self.reaches.first { $0 >= farthest } ?? Self.reaches[Self.reaches.count - 1]
    }
}

extension RunComparison {
    /// The ratios as a picture, or `nil` if there are none.
    var forestChart: ForestChart? {
        guard !pairs.isEmpty else { return nil }
        // What is judged comes first; the table has all.
        let judged = pairs.enumerated().sorted { one, other in
            (rank(one.element), one.offset) < (rank(other.element), other.offset)
        }
        let drawn = judged.prefix(ForestChart.maxRows).sorted { $0.offset < $1.offset }.map(\.element)
        let more =
            pairs.count > drawn.count ? " Of \(pairs.count) cells \(drawn.count) are drawn; the table has all." : ""
        return ForestChart(
            name: "ratios", title: "Throughput of B ÷ throughput of A",
            description:
                "A row a cell: the ratio of the medians and its 95 % interval on a logarithmic axis; the dotted "
                + "line is 1, no difference.\(more)",
            rows: CellGroups.groups(drawn, of: \.cell).flatMap { group in
                let names = CellNames(group.elements.map(\.cell))
                return group.elements.enumerated().map { index, pair in
                    ForestChart.Row(
                        heading: index == 0 ? group.title : nil, name: names.name(of: pair.cell),
                        ratio: pair.ratio.ratio,
                        interval: pair.hasInterval ? pair.ratio.low...max(pair.ratio.low, pair.ratio.high) : nil,
                        style: style(pair))
                }
            })
    }

    private func style(_ pair: CellPair) -> Int {
        switch relation(pair) {
        case .slower: 1
        case .faster: 2
        case .undecided, .notJudged: 5
        }
    }

    private func rank(_ pair: CellPair) -> Int {
        switch relation(pair) {
        case .slower: 0
        case .faster: 1
        case .undecided, .notJudged: 2
        }
    }

    /// What came out, in a few lines.
    package var findings: [String] {
        guard !pairs.isEmpty else { return ["No cell has figures in both runs: there is nothing to compare."] }
        guard isSameHost else {
            return ["The runs come from different hosts: \(RatioText.count(pairs.count, "ratio")) shown, none judged."]
                + summaryLines
        }
        return summaryLines + [Self.caution]
    }
}
