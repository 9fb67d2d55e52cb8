import Results
import Statistics

extension Document {
    /// Time to first byte as a picture and a table, or `nil` if it was not measured.
    static func firstByte(_ summary: RunSummary) -> Section? {
        guard let chart = summary.firstByteChart else { return nil }
        let cells = summary.cells.filter { $0.firstByte != nil }
        let rows = cells.prefix(maxRows).map { cell -> [Table.Entry] in
            let time = cell.firstByte
            return [
                name(cell), Table.Entry(cell.cell.backend), Table.Entry(ByteCountText.size(cell.cell.windowByteCount)),
                cell.cell.chunkText.map { Table.Entry($0) } ?? .absent,
                duration(time?.p50, cell.firstByteSample), duration(time?.trustedP90), duration(time?.max),
                time.map { Table.Entry("\($0.readCount)") } ?? .absent,
            ]
        }
        let table = Table(
            caption: "Time to first byte by cell: opening the object and its first read, in one interval."
                + remark(cells.count),
            columns: [
                .text("Read"), .text("Backend"), .number("Window"), .number("Chunk"), .number("median"),
                .number("p90"), .number("max"), .number("Opened"),
            ], rows: rows)
        return Section(
            name: "first-byte", title: "Time to first byte",
            blocks: [
                .picture(chart), .foldedTable(table),
            ])
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
        let cells = summary.cells.filter { $0.latency != nil }
        let rows = cells.prefix(maxRows).map { cell -> [Table.Entry] in
            let latency = cell.latency
            return [
                name(cell), Table.Entry(cell.cell.backend), Table.Entry(ByteCountText.size(cell.cell.windowByteCount)),
                duration(latency?.p50, cell.latencySample), duration(latency?.trustedP90),
                duration(latency?.trustedP99),
                duration(latency?.trustedP999), duration(latency?.max),
                latency.map { Table.Entry(SignificantDigits.grouped(UInt64(max($0.readCount, 0)))) } ?? .absent,
            ]
        }
        return Table(
            caption:
                "Latency of single reads by cell in a closed loop, with the 95 % interval of the median; of the other "
                + "percentiles, that of the process in the middle. One that too few reads support is left out."
                + remark(cells.count),
            columns: [
                .text("Read"), .text("Backend"), .number("Window"), .number("median"), .number("p90"), .number("p99"),
                .number("p99.9"), .number("max"), .number("Reads"),
            ], rows: rows)
    }

    /// Amplification as a picture and a table, or `nil` if no ranges were read.
    static func amplification(_ summary: RunSummary) -> Section? {
        guard let chart = summary.amplificationChart else { return nil }
        let groups = summary.rangeGroups("random") + summary.rangeGroups("trace")
        let rows = groups.flatMap { group in
            group.cells.compactMap { cell in
                cell.amplification.map {
                    [
                        Table.Entry(group.workload), Table.Entry(group.name, detail: group.detail),
                        Table.Entry(cell.cell.backend), requests(cell), Table.Entry(RatioText.times($0.fetched)),
                        $0.decrypted.map { Table.Entry(RatioText.times($0)) } ?? .absent,
                    ]
                }
            }
        }
        let table = Table(
            caption: "Requests a read makes of the source, and ciphertext bytes per plaintext byte delivered.",
            columns: [
                .text("Workload"), .text("Configuration"), .text("Backend"), .number("requests"), .number("fetched"),
                .number("decrypted"),
            ], rows: rows)
        return Section(
            name: "amplification", title: "Amplification",
            blocks: [
                .picture(chart), .foldedTable(table),
            ])
    }

    /// The mean number of requests to the source per read.
    static func requests(_ cell: CellSummary) -> Table.Entry {
        cell.amplification?.requests.map { Table.Entry($0) } ?? .absent
    }

    /// More rows than this make a page slow; the CSV file has all of them.
    static let maxRows = 300

    /// Returns a remark that rows are missing from a table, or an empty text if none are.
    static func remark(_ count: Int, _ maxRows: Int = maxRows) -> String {
        count > maxRows
            ? " The first \(maxRows) of \(SignificantDigits.grouped(UInt64(count))); results.csv has all." : ""
    }

    /// The workload of a cell, with its series below it.
    private static func name(_ summary: CellSummary) -> Table.Entry {
        let series = Series(summary.cell).description
        return Table.Entry(
            summary.cell.workload + (summary.isInCache ? " (CPU cache)" : ""),
            detail: [summary.cell.label, series].compactMap { $0 }.joined(separator: ": "))
    }

    /// Returns a duration with the 95 % interval of its sample.
    static func duration(_ nanoseconds: UInt64?, _ sample: LogSample? = nil) -> Table.Entry {
        let range = sample?.interval.map { $0.text(DurationText.text(nanoseconds:)) }
        return nanoseconds.map { Table.Entry(DurationText.text(nanoseconds: $0), detail: range) } ?? .absent
    }

    /// Returns the growth of memory with its 95 % interval.
    static func growth(_ cell: CellSummary) -> Table.Entry {
        let range = cell.memorySample?.interval.flatMap {
            $0.high > Double(CellSummary.memoryResolution) ? $0.text(ByteCountText.growth(_:)) : nil
        }
        return cell.memory.map { Table.Entry(ByteCountText.growth($0.growthByteCount), detail: range) } ?? .absent
    }

    /// The stalls that a viewer would notice in the replays of traces, or `nil` if there were none.
    static func playback(_ summary: RunSummary) -> Section? {
        let cells = summary.cells.compactMap { cell in cell.playback.map { (cell, $0) } }
        guard !cells.isEmpty else { return nil }
        let rows = cells.prefix(maxRows).map { summary, playback -> [Table.Entry] in
            let cell = summary.cell
            return [
                cell.label.map { Table.Entry(cell.workload, detail: $0) } ?? Table.Entry(cell.workload),
                Table.Entry(Series(cell).description), Table.Entry(cell.backend),
                cell.chunkText.map { Table.Entry($0) } ?? .absent,
                Table.Entry(ByteCountText.size(cell.windowByteCount)), Table.Entry(cell.access),
                Table.Entry(BitRateText.text(playback.bitsPerSecond)), duration(playback.firstByteNanoseconds),
                duration(playback.startNanoseconds), Table.Entry("\(playback.stallCount)"),
                duration(playback.stallNanoseconds),
                summary.amplification.map { Table.Entry(RatioText.times($0.fetched)) } ?? .absent,
                summary.amplification?.decrypted.map { Table.Entry(RatioText.times($0)) } ?? .absent,
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
            "The film starts when the first range is there and plays at the bit rate; a stall is time in which nothing "
                + "is left to play and a range is waited for. Amplification is ciphertext bytes per plaintext byte.")
        return Section(
            name: "playback", title: "What players would notice", blocks: [introduction, .foldedTable(table)])
    }
}
