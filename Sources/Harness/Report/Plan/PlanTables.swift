import Results

/// The tables and pictures of a computed plan.
extension ComputedPlan {
    /// The explanation of the mark for figures over the budget, if there is a budget.
    private var budgetMark: String {
        memoryBudget.map { " ! is over the budget of \(ByteCountText.size($0))." } ?? ""
    }

    func stepTable(from choice: Candidate) -> Table {
        let rows = neighbours(of: choice).map { neighbour -> [Table.Entry] in
            let other = neighbour.candidate
            let name: String =
                switch neighbour.change {
                case .chunk(let count): "chunks of \(ByteCountText.size(count))"
                case .window(let count): "windows of \(ByteCountText.size(count))"
                case .access(let access): ComputedPlanText.access(access)
                case .backend(let backend): backend
                case .strategy(let strategy):
                    strategy
                        + (other.configuration.chunkByteCount.map {
                            ", chunks of \(ByteCountText.size($0))"
                        } ?? "")
                }
            let changes =
                differences(of: other, from: choice)
                + (isAffordable(other) ? [] : ["over the budget"])
                + (choice.noticesChanges && !other.noticesChanges ? ["notices no change"] : [])
            return [
                Table.Entry(name), Table.Entry(ComputedPlanText.time(other.decidingNanoseconds)),
                Table.Entry(changes.isEmpty ? "the same" : changes.joined(separator: ", ")),
            ]
        }
        return Table(
            caption: "The effect of changing one setting. Cold: by a reader with an empty cache.",
            columns: [.text("Instead"), .number("p90, cold"), .text("Gives")], rows: rows)
    }

    /// Returns tables of the formats side by side, each with its best chunk, window and access: the duration of reads,
    /// and the other properties of each.
    static func formatTables(_ plans: [ComputedPlan]) -> [Table] {
        let best = plans.map(\.choices)
        let strategies = best.flatMap { $0.map(\.configuration.strategy) }.unique
        let found = strategies.map { strategy in best.map { $0.first { $0.configuration.strategy == strategy } } }
        let times = zip(strategies, found).map { strategy, found -> [Table.Entry] in
            let chunks = found.compactMap { $0?.configuration.chunkByteCount }.unique.map(ByteCountText.size)
            let noticed = found.compactMap { $0 }.first?.layout.notices ?? []
            let notices = Notice.allCases.filter(noticed.contains).map(\.rawValue)
            return [Table.Entry(strategy), Table.Entry(chunks.isEmpty ? "whole" : chunks.joined(separator: ", "))]
                + found.map { $0.map { Table.Entry(ComputedPlanText.time($0.decidingNanoseconds)) } ?? .absent }
                + [Table.Entry(notices.isEmpty ? "nothing" : notices.joined(separator: ", "))]
        }
        let others = zip(strategies, found).map { strategy, found -> [Table.Entry] in
            guard let (plan, one) = zip(plans, found).lazy.compactMap({ plan, one in one.map { (plan, $0) } }).first
            else { return [Table.Entry(strategy)] }
            return [
                Table.Entry(strategy),
                (one.seeks.first).map { Table.Entry(RatioText.times($0.amplification)) } ?? .absent,
                Table.Entry(ByteCountText.rate(one.downloadBytesPerSecond)),
                Table.Entry(ByteCountText.measured(one.memoryByteCount)),
                Table.Entry(ComputedPlanText.overhead(one, of: plan.objectByteCount)),
                Table.Entry(one.layout.maxByteCount.map(ByteCountText.size) ?? "any"),
            ]
        }
        let heads = plans.map { ComputedPlanText.head($0, among: plans) }
        return [
            Table(
                caption:
                    "Each format with the chunk that suits it best: the p90 of a read by a reader with an empty cache"
                    + (plans.count == 1 ? "" : ", by question")
                    + ". Notices: another byte, a chunk in another's place, one of another file, an end that is cut "
                    + "off. None tells that a whole file is an older one.",
                columns: [.text("Format"), .text("Chunk")] + heads.map { .number($0) } + [.text("Notices")],
                rows: times
            ),
            Table(
                caption: "The same: bytes fetched per byte, the rate from start to end, the memory of a reader"
                    + (plans.count == 1 ? "" : ", all of the first question")
                    + "; what the format adds on disk, and the longest file that it can hold.",
                columns: [
                    .text("Format"), .number("fetched"), .number("download"), .number("memory"), .number("on disk"),
                    .number("at most"),
                ], rows: others),
        ]
    }

    /// Returns the candidates with the choice's window, or with the first one's.
    private func atOneWindow(_ candidates: [Candidate]) -> [Candidate] {
        let window = (choice ?? candidates.first)?.configuration.windowByteCount
        return candidates.filter { $0.configuration.windowByteCount == window }
    }

    func chunkTable(_ shown: [Candidate]) -> Table {
        let ranges = candidates.first?.seeks.map(\.rangeByteCount) ?? []
        let rows = atOneWindow(shown).map { candidate -> [Table.Entry] in
            let seek = candidate.seeks.first
            let isOver = !isAffordable(candidate)
            return [
                Table.Entry(
                    ComputedPlanText.row(candidate.configuration, in: self),
                    emphasis: candidate.configuration == choice?.configuration ? .good : .none)
            ] + candidate.seeks.map { Table.Entry(ComputedPlanText.time($0.slowNanoseconds)) } + [
                seek.map { Table.Entry(ComputedPlanText.time($0.coldNanoseconds)) } ?? .absent,
                seek.map { Table.Entry(RatioText.times($0.amplification)) } ?? .absent,
                Table.Entry(
                    ByteCountText.measured(candidate.memoryByteCount) + (isOver ? "!" : ""),
                    emphasis: isOver ? .bad : .none),
            ]
        }
        let window = ByteCountText.size((choice ?? candidates.first)?.configuration.windowByteCount ?? 0)
        let first = ranges.first.map(ByteCountText.size) ?? ""
        return Table(
            caption:
                "The p90 of reads of each length, by one reader; of those of \(first), cold, by a reader that has kept "
                + "nothing, and ciphertext bytes fetched per byte; windows of \(window)." + budgetMark,
            columns: [.text("Strategy, chunk")] + ranges.map { .number(ByteCountText.size($0)) }
                + [.number("cold"), .number("fetched"), .number("memory")], rows: rows)
    }

    func windowTable(_ shown: [Candidate]) -> Table {
        let windows = candidates.map(\.configuration.windowByteCount).unique
        var series: [Configuration] = []
        for candidate in shown {
            var configuration = candidate.configuration
            configuration.windowByteCount = 0
            if !series.contains(configuration) { series.append(configuration) }
        }
        let rows = series.map { one -> [Table.Entry] in
            [
                Table.Entry(ComputedPlanText.row(one, in: self))
            ]
                + windows.map { window in
                    var configuration = one
                    configuration.windowByteCount = window
                    let candidate = candidates.first { $0.configuration == configuration }
                    guard let candidate else { return .absent }
                    let isOver = !isAffordable(candidate)
                    return Table.Entry(
                        ByteCountText.rate(candidate.downloadBytesPerSecond) + (isOver ? "!" : ""),
                        emphasis: isOver ? .bad : .none)
                }
        }
        return Table(
            caption: "Plaintext per second."
                + (storage.client.map { " By the client \($0)." } ?? "") + budgetMark,
            columns: [.text("Strategy, chunk")] + windows.map { .number(ByteCountText.size($0)) }, rows: rows)
    }

    func seekChart(_ shown: [Candidate], _ suffix: String) -> LineChart? {
        guard let range = candidates.first?.seeks.first?.rangeByteCount else { return nil }
        return chart(
            shown, "seek" + suffix, "Reads of \(ByteCountText.size(range)) by chunk size",
            "How long a read takes, on logarithmic axes: lines are medians, bands reach to the 90th percentile. "
                + "Strategies without chunks are drawn across.", .nanoseconds
        ) { seek in
            let words =
                "\(ComputedPlanText.time(seek.medianNanoseconds)), p90 \(ComputedPlanText.time(seek.slowNanoseconds))"
            return (Double(seek.medianNanoseconds), Double(seek.slowNanoseconds), words)
        }
    }

    func amplificationChart(_ shown: [Candidate], _ suffix: String) -> LineChart? {
        guard let range = candidates.first?.seeks.first?.rangeByteCount else { return nil }
        return chart(
            shown, "amplification" + suffix,
            "Ciphertext fetched for reads of \(ByteCountText.size(range)) by chunk size",
            "Ciphertext bytes fetched per plaintext byte delivered, on logarithmic axes.", .decades
        ) { seek in
            (seek.amplification, seek.amplification, "\(RatioText.times(seek.amplification)) fetched")
        }
    }

    private func chart(
        _ candidates: [Candidate], _ name: String, _ title: String, _ description: String, _ axis: LogAxis,
        _ value: (Seek) -> (low: Double, high: Double, words: String)
    ) -> LineChart? {
        let shown = atOneWindow(candidates)
        let sizes = shown.compactMap(\.configuration.chunkByteCount)
        guard let smallest = sizes.min(), let largest = sizes.max() else { return nil }
        var lines: [LineChart.Line] = []
        let all = shown.grouped { ComputedPlanText.series($0.configuration, in: self) }
        // A strategy with one chunk is a point, and says less.
        let series = all.filter { $0.elements.count > 1 } + all.filter { $0.elements.count == 1 }
        for (series, members) in series.prefix(RunSummary.maxLines).map({ ($0.key, $0.elements) }) {
            let points = members.flatMap { member -> [LineChart.Point] in
                guard let seek = member.seeks.first else { return [] }
                let (low, high, words) = value(seek)
                // A logarithmic axis has no 0.
                guard low > 0 else { return [] }
                return (member.configuration.chunkByteCount.map { [$0] } ?? [smallest, largest]).map { size in
                    let chunk = member.configuration.chunkByteCount.map { ", \(ByteCountText.size($0)) chunks" } ?? ""
                    return LineChart.Point(
                        byteCount: size, value: low, low: low, high: high, words: "\(series)\(chunk): \(words)")
                }
            }
            let sorted = points.sorted { $0.byteCount < $1.byteCount }
            if sorted.isEmpty { continue }
            lines.append(LineChart.Line(name: series, style: SeriesStyle(lines.count), points: sorted))
        }
        guard !lines.isEmpty else { return nil }
        return LineChart(
            name: name, title: title,
            description: description
                + (all.count > lines.count
                    ? " Of \(all.count) lines \(lines.count) are drawn; the table has all." : ""),
            lines: lines, vertical: axis, marks: [],
            horizontalLabel: "chunk: plaintext that is encrypted in one piece")
    }
}
