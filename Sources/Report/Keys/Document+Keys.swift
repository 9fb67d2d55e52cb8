import Results

extension Document {
    /// What players wait for and what they ask of key servers.
    ///
    /// - Parameters:
    ///   - keys: What is known.
    ///   - findings: What to take from it, where no verdict says so.
    /// - Returns: The section, or `nil` if nothing is known.
    static func keys(_ keys: KeyResults, findings: [String]) -> Section? {
        guard !keys.isEmpty else { return nil }
        var blocks: [Block] = findings.isEmpty ? [] : [.list(findings)]
        if let waits = keys.waits, let chart = waits.chart {
            blocks += [picture(chart.chart(), chart.chart(width: 420)), .table(table(waits))]
        }
        if let load = keys.load, let chart = load.chart {
            blocks += [picture(chart.chart(), chart.chart(width: 420)), .table(table(load))]
        }
        if let loopback = keys.loopback, !loopback.cells.isEmpty {
            if let chart = loopback.loopbackChart {
                blocks.append(picture(chart.chart(), chart.chart(width: 420)))
            }
            blocks.append(.table(loopbackTable(loopback)))
        }
        let commands = [keys.waits?.command, keys.load?.command, keys.loopback?.command].compactMap { $0 }
        blocks.append(
            .verbatim(
                caption: commands.count == 1 ? "Command" : "Commands",
                text: commands.map { ShellText.joined($0.map(PlainText.line)) }.joined(separator: "\n")))
        return Section(name: "keys", title: "What players wait for: keys", blocks: blocks)
    }

    private static func picture(_ chart: Chart, _ narrow: Chart) -> Block { .chart(chart, narrow: narrow) }

    private static func table(_ waits: KeyWaitsRecord) -> Table {
        let rows = waits.cells.prefix(mostRows).map { cell -> [Table.Entry] in
            let ratio = cell.ratioToLocal
            return [
                Table.Entry("\(SignificantDigits.grouped(cell.delayMilliseconds)) ms"),
                Table.Entry(KeyText.name(cell.way)), Table.Entry(SignificantDigits.grouped(cell.requestCount)),
                Table.Entry(KeyText.duration(cell.medianNanoseconds)),
                Table.Entry(
                    RatioText.times(ratio.estimate),
                    detail: "\(RatioText.times(ratio.low)) to \(RatioText.times(ratio.high))"),
            ]
        }
        return Table(
            caption: "From opening a playlist to its first plaintext byte: "
                + "\(RatioText.count(Int(clamping: waits.keyCount), "key")), one for each segment of "
                + "\(ByteCountText.size(waits.segmentByteCount)), \(waits.backend), "
                + "\(RatioText.count(Int(clamping: waits.rounds), "round")), seed \(waits.seed), on \(waits.host.name) "
                + "(\(waits.host.cpuModel)). Ratios are of samples of one round, with their 95 % interval.",
            columns: [
                .text("Key server"), .text("Keys"), .number("Requests"), .number("First byte"),
                .number("Of key files"),
            ], rows: rows)
    }

    private static let loadColumns: [Table.Column] = [
        .number("Peak a second"), .number("Of clients ÷ window"), .number("Requests"), .number("Sent again"),
        .number("Median late"), .number("p99"), .number("p99.9"), .number("Late"), .number("Gave up"),
    ]

    private static func table(_ load: KeyLoadRecord) -> Table {
        Table(
            caption:
                "Simulated: \(conditions(load)) Lateness counts from when a client's playlist names the key, in bins "
                + "of 10 ms; who gave up is behind all others.",
            columns: [.text("Keys")] + loadColumns,
            rows: load.cells.map { [Table.Entry(KeyText.name($0.way))] + entries($0.simulated, load) })
    }

    private static func loopbackTable(_ load: KeyLoadRecord) -> Table {
        let rows = load.cells.flatMap { cell -> [[Table.Entry]] in
            let name = KeyText.name(cell.way)
            let simulated = [Table.Entry(name, detail: "simulated")] + entries(cell.simulated, load) + [.absent]
            guard let run = cell.run else { return [simulated] }
            let lag = cell.lagNanoseconds.map { "machine adds \(DurationText.text(nanoseconds: $0))" }
            let agreement = Table.Entry(
                cell.agrees == true ? "yes" : "no", detail: lag, emphasis: cell.agrees == true ? .good : .bad)
            return [simulated, [Table.Entry(name, detail: "run")] + entries(run, load) + [agreement]]
        }
        return Table(
            caption: "Simulated and run over connections on loopback"
                + (load.speed.map { ", \($0) s of the plan in a second" } ?? "") + ": \(conditions(load)) "
                + "They agree if peaks are within a tenth and 5 requests of each other, and p99.9 within a tenth and 100 ms.",
            columns: [.text("Keys")] + loadColumns + [.text("Agree")], rows: rows)
    }

    private static func conditions(_ load: KeyLoadRecord) -> String {
        "\(KeyText.clients(load.clientCount)), window \(SignificantDigits.grouped(load.windowSeconds)) s, announced "
            + "\(SignificantDigits.grouped(load.announcedSeconds)) s before, playlists refreshed within "
            + "\(SignificantDigits.grouped(load.refreshSeconds)) s, a server of "
            + "\(SignificantDigits.grouped(load.capacityPerSecond)) requests a second and "
            + "\(SignificantDigits.grouped(load.roundTripMilliseconds)) ms, seed \(load.seed)."
    }

    private static func entries(_ figures: KeyLoadRecord.Figures, _ load: KeyLoadRecord) -> [Table.Entry] {
        func count(_ value: UInt64) -> Table.Entry { Table.Entry(SignificantDigits.grouped(value)) }
        func late(_ value: UInt64?) -> Table.Entry { Table.Entry(KeyText.lateness(value)) }
        return [
            count(figures.peakPerSecond),
            load.peakToIdeal(figures).map { Table.Entry(RatioText.times($0)) } ?? .absent,
            count(figures.requestCount), count(figures.retryCount), late(figures.p50Nanoseconds),
            late(figures.p99Nanoseconds), late(figures.p999Nanoseconds), count(figures.lateCount),
            count(figures.gaveUpCount),
        ]
    }
}
