import Results
import Statistics

extension KeyWaitsRecord {
    /// The servers in the order in which cells name them.
    private var delays: [UInt64] {
        cells.reduce(into: []) { if !$0.contains($1.delayMilliseconds) { $0.append($1.delayMilliseconds) } }
    }

    /// First bytes by server and way, or `nil` if there are none.
    var chart: RowChart? {
        guard !cells.isEmpty else { return nil }
        let ways = Way.allCases.filter { way in cells.contains { $0.way == way } }
        let rows = delays.prefix(RowChart.maxRows).map { delay in
            RowChart.Row(
                heading: nil, name: "server of \(SignificantDigits.grouped(delay)) ms",
                detail: RatioText.count(Int(clamping: keyCount), "key"),
                lanes: cells.filter { $0.delayMilliseconds == delay }.prefix(Self.maxLanes).map(Self.lane))
        }
        return RowChart(
            name: "key-waits", title: "From opening a playlist to its first byte",
            description:
                "How long the first plaintext byte takes, on a logarithmic axis: a shape at the median, strokes "
                + "at the quartiles, and a line from the shortest to the longest sample."
                + RowChart.remark(delays.count),
            legend: ways.map { .init(text: KeyText.name($0), sample: .mark(KeyText.style($0))) }
                + [.init(text: "shape: median; strokes: quartiles; line: all", sample: .none)],
            axis: .nanoseconds("from opening to the first byte"), rows: rows)
    }

    private static let maxLanes = 8

    private static func lane(_ cell: Cell) -> RowChart.Lane {
        let sorted = cell.samplesNanoseconds.sorted().map { Double($0) }
        let quartiles = [250, 750].compactMap { percentile(tenthsOfPercent: $0, ofSorted: sorted) }
        let median = KeyText.duration(cell.medianNanoseconds)
        return RowChart.Lane(
            style: KeyText.style(cell.way), line: (sorted.first ?? 0, sorted.last ?? 0), ticks: quartiles,
            point: cell.medianNanoseconds, label: median,
            words: "\(KeyText.server(cell.delayMilliseconds)), \(KeyText.name(cell.way)): \(median), "
                + "\(KeyText.duration(sorted.first ?? 0)) to \(KeyText.duration(sorted.last ?? 0))")
    }
}
