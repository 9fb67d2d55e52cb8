import Results

extension RunRecommendation {
    /// The recommendation for a terminal of 80 columns.
    package var text: String { TextRenderer.render(document, allIn: "--format markdown") }

    package var markdown: String { String(MarkdownRenderer.render(document).dropLast()) }

    private var document: Document {
        // With too few processes, nothing is shown and nothing is recommended.
        let title = advice.choice.map { "\($0.isJudged ? "Take" : "Fastest, and nothing shown:") \(label($0))" }
        let sections: [(title: String, blocks: [Document.Block])] = [
            ("", [.facts(facts)] + (chosen.isEmpty ? [] : [.table(chosenTable)])),
            ("One step from it", steps.isEmpty ? [] : [.list(steps.map { $0.text(from: choice) })]),
            ("Why", [.list(reasons)]), ("Pareto front", [.table(frontTable)]),
            ("Security", Self.securityBlocks(SecurityTable(pool.cells))),
            ("About the figures", [.list(Self.figureNotes)]),
        ]
        return Document(
            title: title ?? "Nothing fits",
            sections: sections.filter { !$0.blocks.isEmpty }.map { .init(title: $0.title, blocks: $0.blocks) })
    }

    /// The request and its results.
    private var facts: [(name: String, value: String)] {
        let header = summary.results.header
        return [
            ("Results", "\(name) (\(header.host.cpuModel), \(header.startedAt))"),
            ("Workload", workloadText),
            ("Compared", comparedText),
            ("Budgets", BudgetText.list(request.budgets) ?? "none"),
            ("Integrity", integrityText),
        ] + (choice?.cell.chunkText.map { [("Chunk", $0)] } ?? [])
    }

    private var chosenTable: Table {
        Table(
            caption: "The choice and the runner-up.", columns: [.text("")] + figureColumns,
            rows: chosen.map { role, candidate in
                [Table.Entry(role, detail: label(candidate))] + entries(candidate)
            })
    }

    /// The Pareto front, those that keep the budgets first.
    var frontTable: Table {
        let fits = advice.budgets.given.isEmpty ? nil : { (candidate: Candidate) in candidate.keeps(advice.budgets) }
        let front = advice.front.filter { fits?($0) ?? true } + advice.front.filter { !(fits?($0) ?? true) }
        return Table(
            caption: "The Pareto front. \(Self.frontNote)",
            columns: [.text("Configuration")] + figureColumns + (fits == nil ? [] : [.text("Fits")]),
            rows: front.map { candidate in
                [Table.Entry(label(candidate))] + entries(candidate)
                    + (fits.map { [$0(candidate) ? "yes" : "no"] } ?? [])
            })
    }

    /// The figures in tables of candidates, first the one that ranks them.
    private var figures: [Figure] {
        let throughput = Figure.throughput.plain
        return (pool.merit == .latency ? [Figure.latency.plain.titled("Median read"), throughput] : [throughput])
            + [.growth.plain.titled("Memory"), .firstByte.plain.titled("First byte"), .fetched.titled("Fetched")]
    }

    var figureColumns: [Table.Column] { figures.columns }

    /// Returns a candidate's figures under `figureColumns`. The first one has its interval, or the reason for none.
    func entries(_ candidate: Candidate) -> [Table.Entry] {
        var entries = cell(candidate).map(figures.entries) ?? figures.map { _ in .absent }
        entries[0].detail = intervalText(candidate)
        return entries
    }

    /// Returns the interval of the figure that ranks candidates, or the reason why there is none.
    func intervalText(_ candidate: Candidate) -> String {
        pool.merit.intervalText(of: candidate) ?? RatioText.count(candidate.merit.count, "process", "processes")
    }

    /// The demand for integrity and the extent to which it is met, in words.
    var integrityText: String {
        switch request.integrity {
        case .unneeded: "not asked for: something else guards the file (--integrity none)"
        case .noticed where lacksIntegrity: "nothing measured notices changes"
        case .noticed: "changes must be noticed"
        }
    }

    /// The security properties with their meanings.
    static func securityBlocks(_ security: SecurityTable) -> [Document.Block] {
        (security.profiles.isEmpty ? [] : [.table(security.table)])
            + (security.summary.isEmpty ? [] : [.list(security.summary)])
            + (security.profiles.isEmpty ? [] : [.foldedTable(security.details)])
    }
}

extension Document {
    /// Returns the choices under a few budgets, the picture of all configurations, and the protection that the
    /// strategies give.
    ///
    /// - Parameter free: The recommendation without budgets.
    /// - Returns: The section.
    static func recommendation(_ free: RunRecommendation) -> Section {
        let summary = free.summary
        let recommendations =
            [free] + free.exampleBudgets.compactMap { RunRecommendation.ofReport(summary, budgets: $0) }
        // A budget on a figure that no candidate has makes a useless example.
        let examples = recommendations.filter { recommendation in
            !recommendation.advice.withoutFigure.contains { $0.count == recommendation.advice.candidates.count }
        }
        var blocks: [Block] = [
            .paragraph(
                "\(free.comparedText). Of those that are shown to be within 5 % of the best, the one with the least "
                    + "memory is taken, then the soonest first byte, then the smallest window."),
            .table(choiceTable(examples)),
            .list(free.reasons),
        ]
        if !free.steps.isEmpty { blocks.append(.table(stepTable(free))) }
        if let chart = free.paretoChart { blocks.append(.picture(chart)) }
        blocks.append(.table(free.frontTable))
        blocks.append(.foldedTable(candidateTable(free)))
        blocks.append(.list(RunRecommendation.figureNotes))
        blocks.append(.paragraph("What the strategies protect, beside their speed:"))
        blocks += RunRecommendation.securityBlocks(SecurityTable(summary.cells.filter { $0.speed != nil }))
        return Section(name: "recommendation", title: "Recommendation", blocks: blocks)
    }

    private static func choiceTable(_ recommendations: [RunRecommendation]) -> Table {
        Table(
            caption: "The choice under budgets. For others: chunkwise recommend FOLDER --memory … --first-byte …",
            columns: [.text("Budgets"), .text("Choice")] + (recommendations.first?.figureColumns ?? []) + [
                .text("Runner-up")
            ],
            rows: recommendations.map { recommendation in
                let options = RunRecommendation.options(recommendation.request.budgets)
                let head = Table.Entry(
                    BudgetText.list(recommendation.request.budgets) ?? "none", detail: options.isEmpty ? nil : options)
                guard let choice = recommendation.advice.choice else {
                    let raise = recommendation.raiseReasons.last
                    return [head, Table.Entry("nothing fits", detail: raise, emphasis: .bad)]
                        + [Table.Entry](repeating: .absent, count: recommendation.figureColumns.count + 1)
                }
                let runnerUp = recommendation.advice.runnerUp.map {
                    Table.Entry(recommendation.label($0.candidate), detail: $0.isTie ? "ties" : nil)
                }
                return [head, Table.Entry(recommendation.label(choice), emphasis: .good)]
                    + recommendation.entries(choice) + [runnerUp ?? .absent]
            })
    }

    /// One step from the choice in each measured direction, with its cost.
    private static func stepTable(_ recommendation: RunRecommendation) -> Table {
        let steps = recommendation.steps
        let before = steps.compactMap(\.seek).first?.before
        return Table(
            caption: "One step from the choice in each direction that was measured, all else kept.",
            columns: [
                .text("Step"), .number(recommendation.pool.merit == .latency ? "As fast" : "Throughput"),
                .number("Memory"), .number("First byte"), .number("A random read"),
            ],
            rows: (recommendation.choice.map { [stepRow("the choice", $0, nil, before)] } ?? [])
                + steps.map { stepRow($0.change, $0.cell, $0.ratio, $0.seek?.after) })
    }

    private static func stepRow(
        _ name: String, _ cell: CellSummary, _ ratio: SpeedRatio?, _ seek: LatencyRecord.Latency?
    ) -> [Table.Entry] {
        [
            Table.Entry(name), ratio.map { Table.Entry($0.isTie ? "ties" : $0.text) } ?? Table.Entry("1×"),
            Figure.growth.entry(cell), Figure.firstByte.entry(cell),
            seek.map { Table.Entry(DurationText.text(nanoseconds: $0.p50)) } ?? .absent,
        ]
    }

    /// All configurations in the picture, best first.
    private static func candidateTable(_ recommendation: RunRecommendation) -> Table {
        let candidates = recommendation.advice.candidates.sorted {
            ($1.comparedMerit, $0.id) < ($0.comparedMerit, $1.id)
        }
        let shown = candidates.prefix(400)
        let count = RatioText.count(candidates.count, "configuration")
        return Table(
            caption: shown.count < candidates.count
                ? "The \(shown.count) fastest of \(count) that the picture is of."
                : "The \(count) in the picture, best first.",
            columns: [.text("Configuration")] + recommendation.figureColumns,
            rows: shown.map { [Table.Entry(recommendation.label($0))] + recommendation.entries($0) })
    }
}
