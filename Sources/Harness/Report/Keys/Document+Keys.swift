import Results
import Statistics
import Support

extension Document {
    /// Returns the section on keys: the waits of players, and their requests to key servers.
    ///
    /// - Parameters:
    ///   - keys: The key results.
    ///   - findings: The findings, if no verdict states them.
    /// - Returns: The section, or `nil` if there are no results.
    static func keys(_ keys: KeyResults, findings: [String]) -> Section? {
        guard !keys.isEmpty else { return nil }
        var blocks: [Block] = findings.isEmpty ? [] : [.list(findings)]
        if let waits = keys.waits, let chart = waits.chart {
            blocks += [.picture(chart), .table(table(waits))]
        }
        if let load = keys.load, let chart = load.chart {
            blocks += [.picture(chart), .table(table(load))]
        }
        if let loopback = keys.loopback, !loopback.cells.isEmpty {
            if let chart = loopback.loopbackChart {
                blocks.append(.picture(chart))
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

    private static func table(_ waits: KeyWaitsRecord) -> Table {
        let rows = waits.cells.prefix(maxRows).map { cell -> [Table.Entry] in
            let ratio = cell.ratioToLocal
            return [
                Table.Entry("\(SignificantDigits.grouped(cell.delayMilliseconds)) ms"),
                Table.Entry(KeyText.words(cell.source).name), Table.Entry(SignificantDigits.grouped(cell.requestCount)),
                Table.Entry(KeyText.duration(cell.medianNanoseconds)),
                Table.Entry(RatioText.times(ratio.estimate)),
                Table.Entry("\(RatioText.times(ratio.low)) to \(RatioText.times(ratio.high))"),
            ]
        }
        return Table(
            caption: "From opening a playlist to its first plaintext byte: "
                + "\(RatioText.count(Int(clamping: waits.keyCount), "key")), one for each segment of "
                + "\(ByteCountText.size(waits.segmentByteCount)), \(waits.backend), "
                + "\(RatioText.count(Int(clamping: waits.rounds), "round")), seed \(waits.seed), on \(waits.host.name) "
                + "(\(waits.host.cpuModel)). Ratios are of samples of one round.",
            columns: [
                .text("Key server"), .text("Keys"), .number("Requests"), .number("First byte"),
                .number("Of key files"), .number("95 % interval"),
            ], rows: rows)
    }

    private static func table(_ load: KeyLoadRecord) -> Table {
        let rows = load.cells.map { cell -> [Table.Entry] in
            let figures = cell.simulated
            let again = "\(SignificantDigits.grouped(figures.retryCount)) again"
            return [
                Table.Entry(KeyText.words(cell.mode).name), count(figures.peakPerSecond), ratio(figures, load),
                Table.Entry(
                    SignificantDigits.grouped(figures.requestCount), detail: figures.retryCount > 0 ? again : nil),
                late(figures.p50Nanoseconds), late(figures.p99Nanoseconds), late(figures.p999Nanoseconds),
                count(figures.lateCount), count(figures.gaveUpCount),
            ]
        }
        return Table(
            caption: "Simulated: \(conditions(load)) Lateness counts from when a client's playlist names the key, in "
                + "bins of 10 ms; who got no key is behind all others.",
            columns: [
                .text("Keys"), .number("Peak a second"), .number("Of ideal"), .number("Requests"), .number("p50 late"),
                .number("p99"), .number("p99.9"), .number("Clients late"), .number("Without a key"),
            ], rows: rows)
    }

    private static func loopbackTable(_ load: KeyLoadRecord) -> Table {
        let rows = load.cells.flatMap { cell -> [[Table.Entry]] in
            let simulated = entries("simulated", cell.simulated, cell, load)
            guard let run = cell.run else { return [simulated + [.absent]] }
            let agrees = cell.agrees == true
            let lag = cell.lagNanoseconds.map { "lag \(DurationText.text(nanoseconds: $0))" }
            let agreement =
                agrees
                ? Table.Entry("yes", detail: lag, emphasis: .good)
                : load.isMachineTooSlow
                    ? Table.Entry("no answer", detail: lag) : Table.Entry("no", detail: lag, emphasis: .bad)
            return [simulated + [.absent], entries("run", run, cell, load) + [agreement]]
        }
        return Table(
            caption: "Simulated and run over connections on loopback"
                + (load.speed.map { ", \($0) s of the plan in a second" } ?? "") + ": \(conditions(load)) "
                + "The two agree if their peaks are within a tenth and 5 requests of each other, and p99.9 within a "
                + "tenth and 100 ms; the lag is what the machine adds to times.",
            columns: [
                .text("Keys"), .text("How"), .number("Peak a second"), .number("Of ideal"), .number("Requests"),
                .number("p99.9 late"), .number("Late"), .number("No key"), .text("Agree"),
            ], rows: rows)
    }

    private static func entries(
        _ how: String, _ figures: KeyLoadRecord.Figures, _ cell: KeyLoadRecord.Cell, _ load: KeyLoadRecord
    ) -> [Table.Entry] {
        [
            Table.Entry(KeyText.words(cell.mode).name), Table.Entry(how), count(figures.peakPerSecond),
            ratio(figures, load),
            count(figures.requestCount), late(figures.p999Nanoseconds), count(figures.lateCount),
            count(figures.gaveUpCount),
        ]
    }

    private static func conditions(_ load: KeyLoadRecord) -> String {
        "\(KeyText.clients(load.clientCount)), window \(SignificantDigits.grouped(load.windowSeconds)) s, announced "
            + "\(SignificantDigits.grouped(load.announcedSeconds)) s before, playlists refreshed within "
            + "\(SignificantDigits.grouped(load.refreshSeconds)) s, a server of "
            + "\(SignificantDigits.grouped(load.capacityPerSecond)) requests a second and "
            + "\(SignificantDigits.grouped(load.roundTripMilliseconds)) ms, seed \(load.seed). The ideal is clients ÷ "
            + "window."
    }

    private static func count(_ value: UInt64) -> Table.Entry { Table.Entry(SignificantDigits.grouped(value)) }

    private static func late(_ value: UInt64?) -> Table.Entry { Table.Entry(KeyText.lateness(value)) }

    private static func ratio(_ figures: KeyLoadRecord.Figures, _ load: KeyLoadRecord) -> Table.Entry {
        load.peakToIdeal(figures).map { Table.Entry(RatioText.times($0)) } ?? .absent
    }
}

extension KeyLoadRecord {
    /// Simulated requests over time, or `nil` if there were none.
    var chart: TimeChart? {
        chart(
            name: "key-load", title: "Requests a second, \(KeyText.clients(clientCount))",
            description:
                "Requests in each second from a key's announcement on, simulated. Peaks in the table are of any "
                + "second, wherever it begins.", cells: cells
        ) { ($0.simulated, nil) }
    }

    /// Requests over time from a real run, beside the simulated ones; `nil` without a run.
    var loopbackChart: TimeChart? {
        chart(
            name: "key-load-loopback",
            title: "Requests a second on loopback, \(KeyText.clients(clientCount))",
            description: "Requests in each second of the plan from a key's announcement on: a line for what was run, "
                + "dashes for its simulation.", cells: cells.filter { $0.run != nil }
        ) { ($0.run ?? $0.simulated, $0.simulated) }
    }

    private func chart(
        name: String, title: String, description: String, cells: [Cell], figures: (Cell) -> (Figures, Figures?)
    ) -> TimeChart? {
        guard !cells.isEmpty else { return nil }
        let modes = RequestMode.allCases.compactMap { mode in cells.first { $0.mode == mode } }
        let lines = modes.map { cell in
            let (shown, beside) = figures(cell)
            let peak = SignificantDigits.grouped(shown.requestsPerSecond.max() ?? 0)
            return TimeChart.Line(
                name: KeyText.words(cell.mode).name, style: KeyText.words(cell.mode).style, steps: Self.steps(shown),
                beside: beside.map(Self.steps), label: "\(peak)/s",
                words: "\(KeyText.words(cell.mode).name): up to \(peak) requests in a second")
        }
        var chart = TimeChart(
            name: name, title: title, description: description, lines: lines, besideName: "simulated",
            moment: (Double(announcedSeconds), "the key appears"),
            horizontalLabel: "time since the key was announced")
        // A level far above the lines would compress them.
        let greatest = chart.greatest
        let level = Double(capacityPerSecond)
        if level <= 1.5 * greatest {
            chart.levels = [("what the server can answer", level)]
        } else {
            chart.description +=
                " The server can answer \(SignificantDigits.grouped(capacityPerSecond)) a second, "
                + "far more than what is drawn."
        }
        if lines.contains(where: { $0.steps.seconds > 1 }) {
            chart.description += " A step is several seconds long and as high as the busiest of them."
        }
        return chart
    }

    private static func steps(_ figures: Figures) -> TimeChart.Steps {
        TimeChart.Steps(seconds: Double(figures.secondsPerPoint), values: figures.requestsPerSecond.map { Double($0) })
    }
}

extension KeyWaitsRecord {
    /// The servers' delays, in the order of the cells.
    private var delays: [UInt64] { cells.map(\.delayMilliseconds).unique }

    /// The times to the first byte by server and source, or `nil` if there are none.
    var chart: RowChart? {
        guard !cells.isEmpty else { return nil }
        let sources = KeySource.allCases.filter { source in cells.contains { $0.source == source } }
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
            legend: sources.map { .init(text: KeyText.words($0).name, sample: .mark(KeyText.words($0).style)) }
                + [.init(text: "shape: median; strokes: quartiles; line: all", sample: .none)],
            axis: .init(title: "from opening to the first byte", scale: .nanoseconds), rows: rows)
    }

    private static let maxLanes = 8

    private static func lane(_ cell: Cell) -> RowChart.Lane {
        let sorted = cell.samplesNanoseconds.sorted().map { Double($0) }
        let quartiles = [250, 750].compactMap { percentile(tenthsOfPercent: $0, ofSorted: sorted) }
        let median = KeyText.duration(cell.medianNanoseconds)
        return RowChart.Lane(
            style: KeyText.words(cell.source).style, line: (sorted.first ?? 0, sorted.last ?? 0), ticks: quartiles,
            point: cell.medianNanoseconds, label: median,
            words: "\(KeyText.server(cell.delayMilliseconds)), \(KeyText.words(cell.source).name): \(median), "
                + "\(KeyText.duration(sorted.first ?? 0)) to \(KeyText.duration(sorted.last ?? 0))")
    }
}
