import Results

extension Document {
    /// What was published beside something better, or `nil` if nothing published was measured.
    static func published(_ summary: RunSummary) -> Section? {
        guard !summary.comparisons.isEmpty else { return nil }
        return Section(
            name: "published", title: "Configurations as published",
            blocks: [
                .paragraph(
                    "Each published configuration, with correct arithmetic, beside one of the same backend and workload "
                        + "that reads only the blocks it needs: of the windows that tie with the fastest the smallest, "
                        + "and for random reads the one with the lowest median latency."),
                .table(
                    Table(
                        caption: "Published configurations and their alternatives.",
                        columns: [
                            .text("Configuration"), .text("Backend"), .text("Workload"), .number("Throughput"),
                            .number("Median read"), .number("p99 read"), .number("Fetched"), .number("Memory growth"),
                        ],
                        rows: summary.comparisons.flatMap { [row($0.published), row($0.alternative)] })),
            ]
        )
    }

    private static func row(_ summary: CellSummary) -> [Table.Entry] {
        let cell = summary.cell
        let chunk = cell.chunkByteCount.map { "\(ByteCountText.size($0)) chunks, " } ?? ""
        let shape = "\(cell.strategy), \(chunk)\(ByteCountText.size(cell.windowByteCount)) windows, \(cell.access)"
        return [
            cell.label.map { Table.Entry($0, detail: shape) } ?? Table.Entry("by block instead", detail: shape),
            Table.Entry(cell.backend),
            Table.Entry(cell.workload),
            summary.speed.map {
                Table.Entry(
                    ByteCountText.rate($0.bytesPerSecond),
                    detail: $0.rangeText)
            } ?? .absent,
            duration(summary.latency?.p50),
            duration(summary.latency?.trustedP99),
            summary.amplification.map { Table.Entry(RatioText.times($0.fetched)) } ?? .absent,
            summary.memory.map { Table.Entry(ByteCountText.growth($0.growthByteCount)) } ?? .absent,
        ]
    }
}
