package import Results
package import Support

/// A computed plan in words, tables and pictures: which chunk, window, strategy and access to take, and what another step
/// would cost.
package struct PlanReport: Sendable {
    private let plan: ComputedPlan
    private let document: Document

    /// Creates a report.
    package init(_ plan: ComputedPlan) {
        self.plan = plan
        document = Document(
            title: "Chunk, window and strategy for \(PlanText.storage(plan.storage))",
            subtitle: "object of \(ByteCountText.size(plan.objectByteCount)) · \(plan.backend) · computed, not timed",
            warnings: [], verdict: plan.verdict, sections: plan.sections(plan.candidates))
    }

    /// Whether a configuration is chosen.
    package var hasChoice: Bool { plan.choice != nil }

    /// The report for a terminal of 80 columns: without other accesses than the choice's.
    package var text: String {
        let verdict = document.verdict.map { WrappedText.lines($0) }
        let access = plan.choice?.configuration.access
        let shown = plan.candidates.filter { access == nil || $0.configuration.access == access }
        let sections = plan.sections(shown).map { section in
            let blocks = section.blocks.compactMap { block -> String? in
                if case .chart = block { return nil }
                return TextRenderer.block(block)
            }
            return ([section.title.uppercased()] + blocks).joined(separator: "\n")
        }
        return (verdict + sections).joined(separator: "\n\n")
    }

    /// The files of the report: `index.html`, `report.md`, `results.json` and the pictures.
    package var files: [ReportFile] {
        [
            ReportFile(name: "index.html", text: HTMLRenderer.render(document)),
            ReportFile(name: "report.md", text: MarkdownRenderer.render(document)),
            ReportFile(name: "results.json", text: json.text + "\n"),
        ] + document.charts.map { ReportFile(name: "\($0.name).svg", text: $0.standalone) }
    }

    /// All figures.
    package var json: JSONValue {
        [
            "schema": "chunkwise-plan-1", "objectByteCount": .integer(plan.objectByteCount),
            "latencyNanoseconds": .integer(plan.storage.latencyNanoseconds),
            "bytesPerSecond": JSONValue(plan.storage.bytesPerSecond), "backend": .string(plan.backend),
            "cipherBytesPerSecond": .object(plan.cipherBytesPerSecond.mapValues(JSONValue.integer)),
            "memoryBudget": JSONValue(plan.memoryBudget), "verdict": JSONValue(strings: document.verdict),
            "choice": plan.choice?.json ?? .null, "candidates": .array(plan.candidates.map(\.json)),
        ]
    }
}

/// Words of a plan.
private enum PlanText {
    static func storage(_ storage: ComputedPlan.Storage) -> String {
        guard storage.latencyNanoseconds > 0 || storage.bytesPerSecond != nil else { return "memory" }
        let latency = DurationText.text(nanoseconds: storage.latencyNanoseconds)
        return "storage that answers after \(latency)"
            + (storage.bytesPerSecond.map { " and delivers \(ByteCountText.rate($0))" } ?? "")
    }

    /// What is named of a configuration: only what the plan varies.
    static func name(_ configuration: ComputedPlan.Configuration, in plan: ComputedPlan) -> String {
        func varies(_ value: (ComputedPlan.Configuration) -> some Hashable) -> Bool {
            Set(plan.candidates.map { value($0.configuration) }).count > 1
        }
        let chunk = configuration.chunkByteCount.map { "chunks of \(ByteCountText.size($0))" }
        return [
            configuration.strategy, chunk,
            varies(\.access) && configuration.chunkByteCount != nil ? access(configuration.access) : nil,
            varies(\.windowByteCount) ? "windows of \(ByteCountText.size(configuration.windowByteCount))" : nil,
        ].compactMap { $0 }.joined(separator: ", ")
    }

    static func access(_ name: String) -> String { name == "block" ? "only what is needed" : name }

    /// A line of the charts: a strategy with its access.
    static func series(_ configuration: ComputedPlan.Configuration) -> String {
        configuration.strategy + (configuration.access == "block" ? "" : ", " + configuration.access)
    }

    /// A row of the tables: a strategy with its access and chunk.
    static func row(_ configuration: ComputedPlan.Configuration) -> String {
        series(configuration) + (configuration.chunkByteCount.map { ", \(ByteCountText.size($0))" } ?? "")
    }

    static func time(_ nanoseconds: UInt64) -> String { DurationText.text(nanoseconds: nanoseconds) }

    /// How a figure becomes another one: `1.8× the time`, or that it stays.
    static func change(_ new: Double, _ old: Double, _ noun: String) -> String? {
        guard old > 0, new > 0 else { return nil }
        let ratio = new / old
        guard ratio > 1.01 || ratio < 0.99 else { return nil }
        return "\(RatioText.times(ratio)) the \(noun)"
    }
}

extension ComputedPlan {
    /// What to take, and what a step in each direction would change.
    fileprivate var verdict: [String] {
        guard let choice, let seek = choice.seeks.first else {
            let least = candidates.map(\.memoryByteCount).min() ?? 0
            return ["Nothing fits: the least that a reader takes is \(ByteCountText.size(least)) of memory."]
        }
        let range = ByteCountText.size(seek.rangeByteCount)
        return [
            "Take \(PlanText.name(choice.configuration, in: self)): a read of \(range) takes "
                + "\(PlanText.time(seek.medianNanoseconds)) (median) and \(PlanText.time(seek.slowNanoseconds)) (p90), in "
                + "\(SignificantDigits.text(seek.requestCount)) requests, and fetches "
                + "\(RatioText.times(seek.amplification)) its bytes; the first byte comes after "
                + "\(PlanText.time(choice.firstByteNanoseconds)); a download runs at "
                + "\(ByteCountText.rate(choice.downloadBytesPerSecond)); memory is at most "
                + "\(ByteCountText.size(choice.memoryByteCount)).",
            "Of \(RatioText.count(affordable.count, "configuration")) "
                + (memoryBudget.map { "within \(ByteCountText.size($0)) of memory, " } ?? "")
                + "those whose p90 is within \(RatioText.percent(Self.margin)) of the soonest are looked at; of these the "
                + "one with the least memory is taken, then the fewest bytes fetched, then the fastest download.",
        ]
    }

    /// The sections, with the candidates that their pictures and long tables show.
    fileprivate func sections(_ shown: [Candidate]) -> [Document.Section] {
        var sections: [Document.Section] = []
        if let choice {
            sections.append(
                Document.Section(
                    name: "steps", title: "One step in each direction", blocks: [.table(stepTable(from: choice))]))
        }
        sections.append(
            Document.Section(
                name: "chunks", title: "By chunk and strategy",
                blocks: [seekChart(shown), amplificationChart(shown)].compactMap { $0.map(Document.Block.picture) } + [
                    .table(chunkTable(shown))
                ]))
        sections.append(
            Document.Section(
                name: "windows", title: "By window: reading from start to end", blocks: [.table(windowTable(shown))]))
        let rates = cipherBytesPerSecond.sorted { $0.key < $1.key }.map { mode, rate in
            "\(mode) \(ByteCountText.rate(rate))"
        }
        sections.append(
            Document.Section(
                name: "method", title: "How this is computed",
                blocks: [
                    .paragraph(
                        "The readers of the subject read an object of this length that is not there, and their requests "
                            + "are counted. A read takes the sum of its requests' latencies, its bytes' transfer and its "
                            + "decryption, one after the other, as measure --latency --bandwidth has it. \(backend) "
                            + "decrypted \(Verdict.list(rates)) in cache just now, on this machine. What the system, the "
                            + "memory's bandwidth and other readers add is not in it: measure the choice. CBC and CTR "
                            + "notice no change to the ciphertext; chunks with a tag do.")
                ]))
        return sections
    }

    private func stepTable(from choice: Candidate) -> Table {
        let rows = neighbours(of: choice).map { neighbour -> [Table.Entry] in
            let other = neighbour.candidate
            let name: String =
                switch neighbour.change {
                case .chunk(let count): "chunks of \(ByteCountText.size(count))"
                case .window(let count): "windows of \(ByteCountText.size(count))"
                case .access(let access): PlanText.access(access)
                case .strategy(let strategy):
                    strategy
                        + (other.configuration.chunkByteCount.map { ", chunks of \(ByteCountText.size($0))" } ?? "")
                }
            let fits = memoryBudget.map { other.memoryByteCount <= $0 } ?? true
            let changes = [
                PlanText.change(
                    Double(other.seeks.first?.slowNanoseconds ?? 0), Double(choice.slowNanoseconds ?? 0), "p90"),
                PlanText.change(
                    other.seeks.first?.amplification ?? 0, choice.seeks.first?.amplification ?? 0, "bytes fetched"),
                PlanText.change(
                    Double(other.downloadBytesPerSecond), Double(choice.downloadBytesPerSecond), "download rate"),
                PlanText.change(Double(other.memoryByteCount), Double(choice.memoryByteCount), "memory"),
                fits ? nil : "over the budget",
            ].compactMap { $0 }
            return [
                Table.Entry(name), Table.Entry(PlanText.time(other.seeks.first?.slowNanoseconds ?? 0)),
                Table.Entry(changes.isEmpty ? "the same" : changes.joined(separator: ", ")),
            ]
        }
        return Table(
            caption: "If one thing is changed, what comes of it.",
            columns: [.text("Instead"), .number("p90"), .text("Gives")], rows: rows)
    }

    /// The candidates with the choice's window, or the first one's.
    private func atOneWindow(_ candidates: [Candidate]) -> [Candidate] {
        let window = (choice ?? candidates.first)?.configuration.windowByteCount
        return candidates.filter { $0.configuration.windowByteCount == window }
    }

    private func chunkTable(_ shown: [Candidate]) -> Table {
        let ranges = candidates.first?.seeks.map(\.rangeByteCount) ?? []
        let rows = atOneWindow(shown).map { candidate -> [Table.Entry] in
            let seek = candidate.seeks.first
            return [
                Table.Entry(
                    PlanText.row(candidate.configuration),
                    emphasis: candidate.configuration == choice?.configuration ? .good : .none)
            ] + candidate.seeks.map { Table.Entry(PlanText.time($0.slowNanoseconds)) } + [
                Table.Entry(seek.map { RatioText.times($0.amplification) } ?? "–"),
                Table.Entry(ByteCountText.size(candidate.memoryByteCount)),
            ]
        }
        let window = ByteCountText.size((choice ?? candidates.first)?.configuration.windowByteCount ?? 0)
        let first = ranges.first.map(ByteCountText.size) ?? ""
        return Table(
            caption:
                "The p90 of reads of each length; ciphertext bytes fetched per byte of those of \(first); windows of "
                + "\(window).",
            columns: [.text("Strategy, chunk")] + ranges.map { .number(ByteCountText.size($0)) }
                + [.number("fetched"), .number("memory")], rows: rows)
    }

    private func windowTable(_ shown: [Candidate]) -> Table {
        let windows = candidates.map(\.configuration.windowByteCount).unique
        var series: [Configuration] = []
        for candidate in shown {
            var configuration = candidate.configuration
            configuration.windowByteCount = 0
            if !series.contains(configuration) { series.append(configuration) }
        }
        let rows = series.map { one -> [Table.Entry] in
            [
                Table.Entry(PlanText.row(one))
            ]
                + windows.map { window in
                    var configuration = one
                    configuration.windowByteCount = window
                    let candidate = candidates.first { $0.configuration == configuration }
                    return candidate.map { Table.Entry(ByteCountText.rate($0.downloadBytesPerSecond)) } ?? .absent
                }
        }
        return Table(
            caption: "Plaintext per second, one request after the other.",
            columns: [.text("Strategy, chunk")] + windows.map { .number(ByteCountText.size($0)) }, rows: rows)
    }

    private func seekChart(_ shown: [Candidate]) -> LineChart? {
        guard let range = candidates.first?.seeks.first?.rangeByteCount else { return nil }
        return chart(
            shown, "seek", "Reads of \(ByteCountText.size(range)) by chunk size",
            "How long a read takes, on logarithmic axes: lines are medians, bands reach to the 90th percentile. "
                + "Strategies without chunks are drawn across.", .nanoseconds
        ) { seek in
            let words = "\(PlanText.time(seek.medianNanoseconds)), p90 \(PlanText.time(seek.slowNanoseconds))"
            return (Double(seek.medianNanoseconds), Double(seek.slowNanoseconds), words)
        }
    }

    private func amplificationChart(_ shown: [Candidate]) -> LineChart? {
        guard let range = candidates.first?.seeks.first?.rangeByteCount else { return nil }
        return chart(
            shown, "amplification", "Ciphertext fetched for reads of \(ByteCountText.size(range)) by chunk size",
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
        for series in shown.map({ PlanText.series($0.configuration) }).unique {
            let members = shown.filter { PlanText.series($0.configuration) == series }
            let points = members.flatMap { member -> [LineChart.Point] in
                guard let seek = member.seeks.first else { return [] }
                let (low, high, words) = value(seek)
                return (member.configuration.chunkByteCount.map { [$0] } ?? [smallest, largest]).map { size in
                    let chunk = member.configuration.chunkByteCount.map { ", \(ByteCountText.size($0)) chunks" } ?? ""
                    return LineChart.Point(
                        byteCount: size, value: low, low: low, high: high, words: "\(series)\(chunk): \(words)")
                }
            }
            let sorted = points.sorted { $0.byteCount < $1.byteCount }
            lines.append(LineChart.Line(name: series, style: SeriesStyle(lines.count), points: sorted))
        }
        return LineChart(
            name: name, title: title, description: description, lines: lines, vertical: axis, marks: [],
            horizontalLabel: "chunk: plaintext that is encrypted in one piece")
    }
}

extension ComputedPlan.Candidate {
    fileprivate var json: JSONValue {
        [
            "strategy": .string(configuration.strategy), "chunkByteCount": JSONValue(configuration.chunkByteCount),
            "access": .string(configuration.access), "windowByteCount": .integer(configuration.windowByteCount),
            "firstByteNanoseconds": .integer(firstByteNanoseconds),
            "downloadBytesPerSecond": .integer(downloadBytesPerSecond), "memoryByteCount": .integer(memoryByteCount),
            "seeks": .array(
                seeks.map { seek in
                    [
                        "rangeByteCount": .integer(seek.rangeByteCount),
                        "medianNanoseconds": .integer(seek.medianNanoseconds),
                        "p90Nanoseconds": .integer(seek.slowNanoseconds), "requests": .number(seek.requestCount),
                        "amplification": .number(seek.amplification),
                    ]
                }),
        ]
    }
}
