extension RunComparison {
    /// More rows than this are shown only in the table.
    private static let maxRows = 60
    /// The possible reaches of the axis to both sides of 1, as factors.
    private static let reaches = [1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10, 30, 100, 1000, 1e6]

    /// The ratios with their intervals as a picture with a row per cell, or `nil` if there are none.
    var chart: RowChart? {
        guard !pairs.isEmpty else { return nil }
        // Judged cells come first; the table has all cells.
        let judged = pairs.enumerated().sorted { one, other in
            (rank(one.element), one.offset) < (rank(other.element), other.offset)
        }
        let drawn = judged.prefix(Self.maxRows).sorted { $0.offset < $1.offset }.map(\.element)
        let more =
            pairs.count > drawn.count ? " Of \(pairs.count) cells \(drawn.count) are drawn; the table has all." : ""
        let relations: [CellPair.Relation] = isSameHost ? [.slower, .faster, .undecided] : [.notJudged]
        return RowChart(
            name: "ratios", title: "Throughput of B ÷ throughput of A",
            description:
                "A row a cell: the ratio of the medians and its 95 % interval on a logarithmic axis; the dotted "
                + "line is 1, no difference.\(more)",
            legend: relations.map { .init(text: "B is \(Self.word($0))", sample: .mark(Self.style($0))) },
            axis: .init(
                title: "throughput of B ÷ that of A", scale: LogAxis(base: 2) { _ in nil }, reference: 1,
                reach: reach(drawn)),
            rows: CellGroups.groups(drawn, of: \.cell).flatMap { group in
                let names = CellNames(group.elements.map(\.cell))
                return group.elements.enumerated().map { index, pair in
                    let name = names.name(of: pair.cell)
                    return RowChart.Row(
                        heading: index == 0 ? group.title : nil, name: name, detail: "",
                        lanes: [pair.lane(name, style: Self.style(relation(pair)))])
                }
            }, nameWidth: 330)
    }

    private static func style(_ relation: CellPair.Relation) -> SeriesStyle {
        switch relation {
        case .slower: SeriesStyle(1)
        case .faster: SeriesStyle(2)
        case .undecided, .notJudged: SeriesStyle(5)
        }
    }

    private func rank(_ pair: CellPair) -> Int {
        switch relation(pair) {
        case .slower: 0
        case .faster: 1
        case .undecided, .notJudged: 2
        }
    }

    /// Returns the reach of the axis: the next round factor beyond all ratios and intervals.
    private func reach(_ pairs: [CellPair]) -> Double {
        let ends = pairs.flatMap { [$0.ratio.low, $0.ratio.ratio, $0.ratio.high] }
        let farthest = ends.filter { $0 > 0 && $0.isFinite }.map { max($0, 1 / $0) }.max() ?? 1
        return Self.reaches.first { $0 >= farthest } ?? Self.reaches[Self.reaches.count - 1]
    }
}
