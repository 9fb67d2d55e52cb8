import Results
import Support

extension RunRecommendation {
    /// The recommendation for a terminal of 80 columns.
    package var text: String {
        var parts = [
            facts.map { WrappedText.lines($0.value, first: WrappedText.padded($0.name, to: 12)) }.joined(
                separator: "\n")
        ]
        parts.append(headline)
        if !chosen.isEmpty { parts.append(figureTable(chosen.map { ($0.role, $0.candidate) })) }
        if !steps.isEmpty {
            parts.append(
                "ONE STEP FROM IT\n"
                    + steps.map { WrappedText.lines($0.text(from: choice), first: "- ") }.joined(separator: "\n"))
        }
        parts.append("WHY\n" + reasons.map { WrappedText.lines($0, first: "- ") }.joined(separator: "\n"))
        parts.append("PARETO FRONT\n" + frontText)
        if let security = securityText { parts.append("SECURITY\n" + security) }
        parts.append(Self.figureNotes.map { WrappedText.lines($0) }.joined(separator: "\n"))
        return parts.joined(separator: "\n\n")
    }

    /// The request and its results.
    var facts: [(name: String, value: String)] {
        let header = summary.results.header
        return [
            ("Results", "\(name) (\(header.host.cpuModel), \(header.startedAt))"),
            ("Workload", workloadText),
            ("Compared", comparedText),
            ("Budgets", BudgetText.list(request.budgets) ?? "none"),
            ("Integrity", integrityText),
        ]
    }

    private var headline: String {
        guard let choice = advice.choice else { return "NOTHING FITS" }
        // With too few processes, nothing is shown and nothing is recommended.
        var lines = [WrappedText.lines(label(choice), first: choice.isJudged ? "TAKE        " : "FASTEST     ")]
        if let runnerUp = advice.runnerUp {
            lines.append(WrappedText.lines(label(runnerUp.candidate), first: "RUNNER-UP   "))
        }
        return lines.joined(separator: "\n")
    }

    private func figureTable(_ rows: [(String, Candidate)]) -> String {
        let merit = pool.merit
        let head =
            [""] + (merit == .latency ? ["latency", "95 % interval", "throughput"] : ["throughput", "95 % interval"])
            + ["memory", "first byte", "fetched"]
        let texts =
            [head]
            + rows.map { role, candidate in
                let figures = Figures(candidate, rankedBy: merit)
                return [role]
                    + (merit == .latency
                        ? [figures.latency, figures.interval, figures.throughput]
                        : [figures.throughput, figures.interval])
                    + [figures.memory, figures.firstByte, figures.fetched]
            }
        return Self.aligned(texts)
    }

    private var frontText: String {
        let isLimited = !advice.budgets.given.isEmpty
        let fitting = advice.front.filter { $0.keeps(advice.budgets) }
        let front = fitting + advice.front.filter { !$0.keeps(advice.budgets) }
        let shown = front.prefix(Self.maxFrontLines)
        let merit = pool.merit
        let head =
            [merit == .latency ? "latency" : "throughput", "memory", "first byte", "fetched"]
            + (isLimited ? ["fits"] : [])
        let rows = shown.enumerated().map { index, candidate in
            let figures = Figures(candidate, rankedBy: merit)
            return [
                merit == .latency ? figures.latency : figures.throughput, figures.memory, figures.firstByte,
                figures.fetched,
            ]
                + (isLimited ? [index < fitting.count ? "yes" : "no"] : [])
        }
        let figures = Self.aligned([head] + rows, leftColumns: 0).split(separator: "\n").map(String.init)
        var lines = [figures.first ?? ""]
        for (candidate, line) in zip(shown, figures.dropFirst()) {
            lines.append(WrappedText.lines(label(candidate), first: line + "  ", indent: line.count + 2))
        }
        let more = front.count - shown.count
        if more > 0 { lines.append("and \(more) more; --format markdown has all") }
        return (lines + [WrappedText.lines(Self.frontNote)]).joined(separator: "\n")
    }

    private static let maxFrontLines = 12

    /// The properties of the compared strategies, with as many side by side as fit.
    private var securityText: String? {
        let security = SecurityTable(pool.cells)
        guard !security.profiles.isEmpty || !security.unknown.isEmpty else { return nil }
        let heads = SecurityProperty.allCases.map(\.words.title)
        let first = (heads.map(\.count).max() ?? 0) + 2
        var tables: [[SecurityProfile]] = []
        var width = 0
        for profile in security.profiles {
            let needed =
                2
                + ([profile.title] + SecurityProperty.allCases.map { profile[$0].text }).reduce(0) { max($0, $1.count) }
            if tables.isEmpty || first + width + needed > WrappedText.width {
                tables.append([])
                width = 0
            }
            width += needed
            tables[tables.count - 1].append(profile)
        }
        let texts = tables.map { profiles in
            Self.aligned(
                [[""] + profiles.map(\.title)]
                    + SecurityProperty.allCases.map { property in
                        [property.words.title] + profiles.map { $0[property].text }
                    }, leftColumns: profiles.count + 1)
        }
        let details = security.profiles.isEmpty ? [] : ["What each answer means, and its source: --format markdown."]
        return (texts + [(security.summary + details).map { WrappedText.lines($0) }.joined(separator: "\n")])
            .joined(separator: "\n\n")
    }

    /// Returns rows as aligned columns: the first ones to the left, numbers to the right.
    private static func aligned(_ rows: [[String]], leftColumns: Int = 1) -> String {
        TextTable(
            rows.map { $0.map(PlainText.line) }, rightAligned: Set((rows.first ?? []).indices.dropFirst(leftColumns)),
            limit: .max
        ).text
    }

    package var markdown: String {
        var blocks: [Document.Block] = [.facts(facts)]
        if !chosen.isEmpty { blocks.append(.table(chosenTable)) }
        if !steps.isEmpty { blocks.append(.list(steps.map { "One step: \($0.text(from: choice))." })) }
        blocks += [.list(reasons), .table(frontTable)]
        blocks += Self.securityBlocks(SecurityTable(pool.cells))
        blocks.append(.list(Self.figureNotes))
        let title =
            advice.choice.map { "\($0.isJudged ? "Take" : "Fastest, and nothing shown:") \(label($0))" }
            ?? "Nothing fits"
        return (["# \(MarkupText.markdown(title))"] + blocks.map(MarkdownRenderer.block)).joined(separator: "\n\n")
    }

    private var chosenTable: Table {
        Table(
            caption: "The choice and the runner-up.", columns: [.text("")] + figureColumns,
            rows: chosen.map { role, candidate in
                [Table.Entry(role, detail: label(candidate))] + entries(candidate)
            })
    }

    var frontTable: Table {
        Table(
            caption: "The Pareto front. \(Self.frontNote)", columns: [.text("Configuration")] + figureColumns,
            rows: advice.front.map { [Table.Entry(label($0))] + entries($0) })
    }

    var figureColumns: [Table.Column] {
        (pool.merit == .latency ? [.number("Median read"), .number("Throughput")] : [.number("Throughput")])
            + [.number("Memory"), .number("First byte"), .number("Fetched")]
    }

    /// Returns a candidate's figures under `figureColumns`.
    func entries(_ candidate: Candidate) -> [Table.Entry] {
        let figures = Figures(candidate, rankedBy: pool.merit)
        let first =
            pool.merit == .latency
            ? [Table.Entry(figures.latency, detail: figures.interval), Table.Entry(figures.throughput)]
            : [Table.Entry(figures.throughput, detail: figures.interval)]
        return first + [Table.Entry(figures.memory), Table.Entry(figures.firstByte), Table.Entry(figures.fetched)]
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
