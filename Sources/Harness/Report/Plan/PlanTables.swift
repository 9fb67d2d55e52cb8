import Results

/// The tables and pictures of a computed plan.
extension ComputedPlan {
    /// The mark of what the budget forbids, explained where there is one.
    private var budgetMark: String {
        memoryBudget.map { " ! is over the budget of \(ByteCountText.size($0))." } ?? ""
    }

    func stepTable(from choice: Candidate) -> Table {
        let rows = neighbours(of: choice).map { neighbour -> [Table.Entry] in
            let other = neighbour.candidate
            let name: String =
                switch neighbour.change {
                case .chunk(let count): "\(PlanText.piece(other.configuration)) of \(ByteCountText.size(count))"
                case .window(let count): "windows of \(ByteCountText.size(count))"
                case .access(let access): PlanText.access(access)
                case .backend(let backend): backend
                case .strategy(let strategy):
                    strategy
                        + (other.configuration.chunkByteCount.map {
                            ", \(PlanText.piece(other.configuration)) of \(ByteCountText.size($0))"
                        } ?? "")
                }
            let changes =
                differences(of: other, from: choice)
                + (isAffordable(other) ? [] : ["over the budget"])
                + (choice.noticesChanges && !other.noticesChanges ? ["notices no change"] : [])
            return [
                Table.Entry(name), Table.Entry(PlanText.time(other.decidingNanoseconds)),
                Table.Entry(changes.isEmpty ? "the same" : changes.joined(separator: ", ")),
            ]
        }
        return Table(
            caption: "If one thing is changed, what comes of it. Cold: by a reader that has kept nothing.",
            columns: [.text("Instead"), .number("p90, cold"), .text("Gives")], rows: rows)
    }

    /// The candidates with the choice's window, or the first one's.
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
                    PlanText.row(candidate.configuration, in: self),
                    emphasis: candidate.configuration == choice?.configuration ? .good : .none)
            ] + candidate.seeks.map { Table.Entry(PlanText.time($0.slowNanoseconds)) } + [
                seek.map { Table.Entry(PlanText.time($0.coldNanoseconds)) } ?? .absent,
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
                Table.Entry(PlanText.row(one, in: self))
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
            let words = "\(PlanText.time(seek.medianNanoseconds)), p90 \(PlanText.time(seek.slowNanoseconds))"
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
        for series in shown.map({ PlanText.series($0.configuration, in: self) }).unique {
            let members = shown.filter { PlanText.series($0.configuration, in: self) == series }
            let points = members.flatMap { member -> [LineChart.Point] in
                guard let seek = member.seeks.first else { return [] }
                let (low, high, words) = value(seek)
                // On a logarithmic axis there is no nothing.
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
            name: name, title: title, description: description, lines: lines, vertical: axis, marks: [],
            horizontalLabel: "chunk: plaintext that is encrypted in one piece")
    }
}
