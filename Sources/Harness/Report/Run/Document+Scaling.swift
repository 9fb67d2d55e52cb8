import Results
import Statistics
import Support

extension Document {
    /// Throughput by threads, or `nil` if no cell was measured with several thread counts.
    static func threads(_ summary: RunSummary) -> Section? {
        let curves = summary.threadCurves
        guard !curves.isEmpty else { return nil }
        let cpuCount = max(1, summary.results.header.host.cpuCount)
        let rows = curves.prefix(maxRows).flatMap { curve in
            curve.cells.map { cell in
                let ratio = SpeedRatio(of: cell, over: curve.one)
                return [
                    Table.Entry(cell.cell.backend, detail: Series(curve.one.cell).description),
                    Figure.threads.entry(cell), Figure.throughput.entry(cell),
                    ratio.map { Table.Entry($0.text) } ?? .absent,
                    ratio.map { Table.Entry(RatioText.percent($0.efficiency(of: cell.cell.threads, cpuCount))) }
                        ?? .absent,
                ]
            }
        }
        let table = Table(
            caption:
                "Throughput by threads. Efficiency: the ratio over the threads, or over the CPUs where there are "
                + "fewer.",
            columns: [
                .text("Backend"), .number("Threads"), .number("Throughput"), .number("Over one thread"),
                .number("Efficiency"),
            ], rows: rows)
        let chart = RowChart(
            name: "threads", title: "Throughput by threads",
            description:
                "Throughput with several threads over that with one, on a logarithmic axis, beside the share of "
                + "what as many CPUs could do. This machine has \(RatioText.count(cpuCount, "CPU")).",
            legend: [],
            axis: .init(
                title: "throughput ÷ that of one thread",
                scale: LogAxis(base: 2) { RatioText.times(LogScale.power($0, base: 2)) }),
            rows: curves.prefix(RowChart.maxRows / 4).flatMap { curve in
                curve.cells.compactMap { cell -> RowChart.Row? in
                    guard let ratio = SpeedRatio(of: cell, over: curve.one) else { return nil }
                    let share = RatioText.percent(ratio.efficiency(of: cell.cell.threads, cpuCount))
                    let name = "\(cell.cell.backend), \(RatioText.count(cell.cell.threads, "thread"))"
                    return RowChart.Row(
                        name: name, detail: "\(ByteCountText.size(cell.cell.windowByteCount)) windows",
                        lanes: [
                            .init(
                                style: SeriesStyle(summary.style(of: cell.cell.backend)),
                                line: ratio.hasInterval ? (ratio.low, ratio.high) : nil, point: ratio.ratio,
                                label: "\(RatioText.times(ratio.ratio)), \(share)",
                                words: "\(name): \(ratio.text), \(share) of what as many CPUs could do")
                        ])
                }
            })
        return Section(name: "threads", title: "Threads", blocks: [.picture(chart), .foldedTable(table)])
    }

    /// The cost of chunks: throughput and latency by the chunk of formats that notice changes, and the cost of a read
    /// by its length and the chunk that contains it; `nil` if neither was varied.
    static func chunks(_ summary: RunSummary) -> Section? {
        let lines = [summary.chunkThroughputChart, summary.chunkLatencyChart].compactMap { $0 }.map(Block.picture)
        let map = summary.chunkMap
        guard !lines.isEmpty || map != nil else { return nil }
        let note =
            "A chunk with a tag is fetched and decrypted whole, since nothing of it may be delivered before: each read "
            + "pays for the chunks that it touches. By block, a chunk's length costs little: only the blocks of the "
            + "range are fetched and decrypted. For a store that is far away, chunkwise plan works the same out with "
            + "its latency and bandwidth."
        return Section(
            name: "chunks", title: "Chunk size",
            blocks: [.paragraph(note)] + lines + (map.map { [.picture($0)] } ?? []) + [
                .foldedTable(chunkTable(summary))
            ])
    }

    /// Random reads by the chunk that contains them.
    private static func chunkTable(_ summary: RunSummary) -> Table {
        let cells = summary.chunkCells
        return Table(
            "Random reads by chunk, access and length, \(cells.first?.cell.backend ?? "").", of: cells,
            [
                .chunk, .strategy, .access, .workload.titled("Read"), .latency, .latencyP99, .throughput, .requests,
                .fetched, .decrypted,
            ])
    }

    /// The latencies of the best cell, process by process, or `nil` if there are none.
    static func processLatencyChart(_ summary: RunSummary) -> RowChart? {
        guard let best = summary.best, best.processLatencies.count > 1 else { return nil }
        let style = SeriesStyle(summary.style(of: best.cell.backend))
        return RowChart(
            name: "process-latency", title: "Latency by process, closed loop",
            description: "The same reads in each process of the fastest cell (\(best.cell.backend), "
                + "\(ByteCountText.size(best.cell.windowByteCount)) windows): from the median over strokes at the "
                + "90th, 99th and 99.9th percentile to the longest read. What one process alone shows is that "
                + "process's.",
            legend: [.init(text: "shape: median; strokes: p90, p99, p99.9; ring: longest", sample: .none)],
            axis: .init(title: "latency of one window", scale: .nanoseconds),
            rows: best.processLatencies.prefix(RowChart.maxRows).enumerated().map { index, latency in
                let all = latency.percentiles.map { Double($0.nanoseconds) }
                return RowChart.Row(
                    name: "process \(index + 1)", detail: "",
                    lanes: [
                        .init(
                            style: style, line: (Double(latency.p50), Double(max(latency.max, latency.p50))),
                            ticks: Array(all.dropFirst().dropLast()), point: Double(latency.p50),
                            ring: Double(latency.max), label: DurationText.text(nanoseconds: latency.p50),
                            words: "process \(index + 1): \(latency.words)")
                    ])
            })
    }
}

extension SpeedRatio {
    /// Returns the ratio over one thread ÷ the best that this number of threads could reach on this number of CPUs.
    fileprivate func efficiency(of threadCount: Int, _ cpuCount: Int) -> Double {
        ratio / Double(max(1, min(threadCount, cpuCount)))
    }
}

extension RunSummary {
    /// One configuration with several thread counts.
    struct ThreadCurve {
        /// The cell with one thread.
        var one: CellSummary
        /// All cells, in ascending order of threads.
        var cells: [CellSummary]
    }

    /// The configurations that were measured with one thread and with more, in the order of the results.
    var threadCurves: [ThreadCurve] {
        let measured = cells.filter { $0.speed != nil && $0.cell.label == nil }
        let groups = measured.grouped { cell -> Cell in
            var cell = cell.cell
            cell.threads = 1
            return cell
        }
        return groups.compactMap { _, cells in
            guard cells.count > 1, let one = cells.first(where: { $0.cell.threads == 1 }) else { return nil }
            return ThreadCurve(one: one, cells: cells.sorted { $0.cell.threads < $1.cell.threads })
        }
    }

    /// Random reads of chunked objects, for the backend with the most of them. They are sorted by access (block access
    /// before whole chunks), then by chunk and by read length, small ones first.
    var chunkCells: [CellSummary] {
        let all = cells.filter {
            $0.latency != nil && $0.cell.rangeByteCount != nil && $0.cell.isLocal && $0.cell.label == nil
                && $0.cell.chunkByteCount != nil && $0.cell.threads == 1 && $0.protection > .secrecyInPart
        }
        let groups = all.grouped(by: \.cell.backend)
        let largest = groups.enumerated().max {
            ($0.element.elements.count, $1.offset) < ($1.element.elements.count, $0.offset)
        }
        return (largest?.element.elements ?? []).enumerated().sorted { one, other in
            let (a, b) = (one.element.cell, other.element.cell)
            return (a.access.rawValue, a.chunkByteCount ?? 0, a.rangeByteCount ?? 0, one.offset)
                < (b.access.rawValue, b.chunkByteCount ?? 0, b.rangeByteCount ?? 0, other.offset)
        }.map(\.element)
    }

    /// Throughput of random reads by chunk and read length; `nil` if only one of them was varied.
    var chunkMap: HeatMap? {
        let cells = chunkCells
        let lengths = Set(cells.compactMap(\.cell.rangeByteCount)).sorted()
        let ways: [AccessPolicy: String] = [.block: "by block", .chunkCache: "cached", .wholeChunk: "whole"]
        let rows = cells.grouped {
            let way = $0.facts?.isTagged == true ? $0.cell.format : ways[$0.cell.access] ?? $0.cell.access.rawValue
            return "\($0.cell.chunkText ?? "") \(way)"
        }
        guard lengths.count > 1, rows.count > 1, let backend = cells.first?.cell.backend else { return nil }
        return HeatMap(
            name: "chunks", title: "Random reads by chunk size and length",
            description:
                "Plaintext bytes per second that random reads deliver, by the chunk, by how a reader gets from a "
                + "range to its chunks (by block; whole, with the latest kept; whole), and by the length of a read: "
                + "\(backend), one thread, from the page cache.",
            rows: rows.map(\.key), columns: lengths.map { "\(ByteCountText.size($0)) reads" },
            values: rows.map { key, cells in
                lengths.map { length in
                    guard let cell = cells.first(where: { $0.cell.rangeByteCount == length }),
                        let speed = cell.speed
                    else { return nil }
                    let words = ByteCountText.rate(speed.bytesPerSecond)
                    let parts = words.split(separator: " ")
                    let latency = cell.latency.map { ", \($0.words)" } ?? ""
                    return HeatMap.Value(
                        value: Double(speed.bytesPerSecond), number: parts.first.map(String.init) ?? words,
                        unit: parts.last.map(String.init) ?? "",
                        words: "chunks of \(key), \(ByteCountText.size(length)) reads: \(words)\(latency)",
                        isBest: false)
                }
            })
    }
}
