import Results

extension Document {
    /// Time to first byte as a picture and a table, or `nil` if it was not measured.
    static func firstByte(_ summary: RunSummary) -> Section? {
        guard let chart = summary.firstByteChart else { return nil }
        let table = Table(
            "Time to first byte by cell: opening the object and its first read, in one interval.",
            of: summary.cells.filter { $0.firstByte != nil },
            [.read, .backend, .window, .chunk, .firstByte, .firstByteP90, .firstByteMax, .firstByteReadCount])
        return Section(
            name: "first-byte", title: "Time to first byte", blocks: [.picture(chart), .foldedTable(table)])
    }

    /// Latencies of windows, random reads and traces as pictures and a table, or `nil` if none were measured.
    static func latency(_ summary: RunSummary) -> Section? {
        let window = summary.windowLatencyChart.map(Block.picture)
        let random = summary.latencyChart("random", name: "latency", title: "Latency of random reads, closed loop")
        let traces = summary.latencyChart(
            "trace", name: "traces", title: "Latency of what players asked for, closed loop")
        let processes = processLatencyChart(summary).map(Block.picture)
        let blocks = [window, processes, random.map(Block.picture), traces.map(Block.picture)].compactMap { $0 }
        guard !blocks.isEmpty else { return nil }
        let introduction = Block.paragraph(
            "Access “block” fetches only the blocks that cover a range, and of authenticated formats the whole chunks; "
                + "“chunk-cache” fetches and decrypts whole chunks and keeps the latest one; “whole-chunk” keeps none.")
        return Section(
            name: "latency", title: "Latency",
            blocks: (random == nil && traces == nil ? [] : [introduction]) + blocks
                + [.foldedTable(latencyTable(summary))])
    }

    private static func latencyTable(_ summary: RunSummary) -> Table {
        Table(
            "Latency of single reads by cell in a closed loop, with the 95 % interval of the median; of the other "
                + "percentiles, that of the process in the middle. One that too few reads support is left out.",
            of: summary.cells.filter { $0.latency != nil },
            [
                .read, .backend, .window, .latency, .latencyP90, .latencyP99, .latencyP999, .latencyMax,
                .latencyReadCount,
            ])
    }

    /// Amplification as a picture and a table, or `nil` if no ranges were read.
    static func amplification(_ summary: RunSummary) -> Section? {
        guard let chart = summary.amplificationChart else { return nil }
        let groups = summary.rangeGroups("random") + summary.rangeGroups("trace")
        let figures: [Figure] = [.backend, .requests, .fetched, .decrypted]
        let rows = groups.flatMap { group in
            group.cells.filter { $0.amplification != nil }.map {
                [Table.Entry(group.workload), Table.Entry(group.name, detail: group.detail)] + figures.entries($0)
            }
        }
        let table = Table(
            caption: "Requests a read makes of the source, and ciphertext bytes per plaintext byte delivered.",
            columns: [.text("Workload"), .text("Configuration")] + figures.columns, rows: rows)
        return Section(name: "amplification", title: "Amplification", blocks: [.picture(chart), .foldedTable(table)])
    }

    /// More rows than this make a page slow; the CSV file has all of them.
    static let maxRows = 300

    /// Returns a remark that rows are missing from a table, or an empty text if none are.
    static func remark(_ count: Int, _ maxRows: Int = maxRows) -> String {
        let (shown, all) = (SignificantDigits.grouped(UInt64(maxRows)), SignificantDigits.grouped(UInt64(count)))
        return count > maxRows ? " The first \(shown) of \(all); results.csv has all." : ""
    }

    /// The stalls that a viewer would notice in the replays of traces, or `nil` if there were none.
    static func playback(_ summary: RunSummary) -> Section? {
        let cells = summary.cells.filter { $0.playback != nil }
        guard !cells.isEmpty else { return nil }
        let trace = Figure(column: "Trace") { Table.Entry($0.cell.workload, detail: $0.cell.label) }
        let table = Table(
            "Replays of traces as a viewer would notice them, by cell.", of: cells,
            [trace, .series, .backend, .chunk, .window, .access] + Figure.playback + [.fetched, .decrypted])
        let introduction = Block.paragraph(
            "The film starts when the first range is there and plays at the bit rate; a stall is time in which nothing "
                + "is left to play and a range is waited for. Amplification is ciphertext bytes per plaintext byte.")
        return Section(
            name: "playback", title: "What players would notice", blocks: [introduction, .foldedTable(table)])
    }
}
