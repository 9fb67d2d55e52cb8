import Results

extension Document {
    /// The best of each backend in every sequential series but the main one, which a claim about the main one does not
    /// cover; `nil` if there is none.
    static func otherSeries(_ summary: RunSummary) -> Section? {
        let cells = summary.cells.filter {
            $0.speed != nil && $0.cell.label == nil && $0.cell.workload == "sequential"
                && Series($0.cell) != summary.main
        }
        var order: [Series] = []
        var members: [Series: [CellSummary]] = [:]
        for cell in cells {
            let series = Series(cell.cell)
            if members[series] == nil { order.append(series) }
            members[series, default: []].append(cell)
        }
        let rows = order.flatMap { series in
            summary.backends.compactMap { name -> [Table.Entry]? in
                let candidates = (members[series] ?? []).filter { $0.cell.backend == name }
                guard let best = RunSummary.fastest(in: candidates), let speed = best.speed else { return nil }
                return [
                    Table.Entry(series.description), Table.Entry(name),
                    Table.Entry(ByteCountText.size(best.cell.windowByteCount)),
                    Table.Entry(ByteCountText.rate(speed.bytesPerSecond), detail: speed.rangeText),
                ]
            }
        }
        guard !rows.isEmpty else { return nil }
        let table = Table(
            caption: "Other sequential reads: the best window of each backend.",
            columns: [.text("Read"), .text("Backend"), .number("Best window"), .number("Throughput")], rows: rows)
        return Section(name: "other-reads", title: "Other sequential reads", blocks: [.table(table)])
    }
}
