import Results

extension Document {
    /// What a viewer would notice of the replays of traces, or `nil` if there were none.
    static func playback(_ summary: RunSummary) -> Section? {
        let cells = summary.cells.compactMap { cell in cell.playback.map { (cell, $0) } }
        guard !cells.isEmpty else { return nil }
        let rows = cells.prefix(maxRows).map { summary, playback -> [Table.Entry] in
            let cell = summary.cell
            return [
                cell.label.map { Table.Entry(cell.workload, detail: $0) } ?? Table.Entry(cell.workload),
                Table.Entry(Series(cell).description), Table.Entry(cell.backend),
                cell.chunkByteCount.map { Table.Entry(ByteCountText.size($0)) } ?? .absent,
                Table.Entry(ByteCountText.size(cell.windowByteCount)), Table.Entry(cell.access),
                Table.Entry(BitRateText.text(playback.bitsPerSecond)), duration(playback.firstByteNanoseconds),
                duration(playback.startNanoseconds), Table.Entry("\(playback.stallCount)"),
                duration(playback.stallNanoseconds),
                summary.amplification.map { Table.Entry(RatioText.times($0.fetched)) } ?? .absent,
                summary.amplification.map { Table.Entry(RatioText.times($0.decrypted)) } ?? .absent,
            ]
        }
        let table = Table(
            caption: "Replays of traces as a viewer would notice them, by cell." + remark(cells.count),
            columns: [
                .text("Trace"), .text("Configuration"), .text("Backend"), .number("Chunk"), .number("Window"),
                .text("Access"), .number("Bit rate"), .number("First byte"), .number("Start"), .number("Stalls"),
                .number("Stalled"), .number("fetched"), .number("decrypted"),
            ], rows: rows)
        let introduction = Block.paragraph(
            "The film starts when the first range is there and plays at the bit rate; a stall is time in which nothing is "
                + "left to play and a range is waited for. Amplification is ciphertext bytes per plaintext byte.")
        return Section(
            name: "playback", title: "What players would notice", blocks: [introduction, .foldedTable(table)])
    }
}
