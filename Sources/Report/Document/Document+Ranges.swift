import Results

extension Document {
    /// Random reads as a picture and a table, or `nil` if none was measured.
    static func ranges(_ summary: RunSummary) -> Section? {
        guard let chart = summary.rangeChart, let workload = summary.mainRandomWorkload else { return nil }
        return Section(
            name: "ranges", title: "Random reads",
            blocks: [
                .paragraph(
                    "Workload \(workload): how long one read takes, and how much ciphertext it costs. Access “block” "
                        + "fetches only the blocks that cover the range; “chunk-cache” fetches and decrypts whole "
                        + "chunks and keeps the latest one."),
                .chart(chart.chart(), narrow: nil),
                .table(rangeTable(summary.rangeGroups)),
            ]
        )
    }

    private static func rangeTable(_ groups: [RunSummary.RangeGroup]) -> Table {
        let rows = groups.flatMap { group in
            group.cells.map { cell in
                [
                    Table.Entry(group.name, detail: group.detail),
                    Table.Entry(cell.cell.backend),
                    duration(cell.latency?.p50), duration(cell.latency?.trustedP99),
                    duration(cell.latency?.trustedP999),
                    duration(cell.latency?.max),
                    cell.amplification.map { Table.Entry(RatioText.times($0.fetched)) } ?? .absent,
                    cell.amplification.map { Table.Entry(RatioText.times($0.decrypted)) } ?? .absent,
                ]
            }
        }
        return Table(
            caption: "Latency of single reads, and ciphertext bytes per plaintext byte delivered.",
            columns: [
                .text("Configuration"), .text("Backend"), .number("p50"), .number("p99"), .number("p99.9"),
                .number("max"), .number("fetched"), .number("decrypted"),
            ],
            rows: rows)
    }

    /// Returns a duration as an entry.
    static func duration(_ nanoseconds: UInt64?) -> Table.Entry {
        nanoseconds.map { Table.Entry(DurationText.text(nanoseconds: $0)) } ?? .absent
    }
}
