import Results

extension Document {
    /// Which configuration to take under a few budgets, the picture of all of them, and what the strategies protect; `nil`
    /// where nothing was timed.
    static func recommendation(_ summary: RunSummary) -> Section? {
        let recommendations = RunRecommendation.exampleBudgets.compactMap {
            RunRecommendation.ofReport(summary, budgets: $0)
        }
        guard let free = recommendations.first else { return nil }
        // A budget on what nothing was measured of shows nothing.
        let examples = recommendations.filter { recommendation in
            !recommendation.advice.withoutFigure.contains { $0.count == recommendation.advice.candidates.count }
        }
        var blocks: [Block] = [
            .paragraph(
                "\(free.comparedText). Of those whose throughput ties with the fastest, the one with the least memory is "
                    + "taken, then the soonest first byte, then the smallest window."),
            .table(choiceTable(examples)),
            .list(free.reasons),
        ]
        if let chart = free.paretoChart { blocks.append(.chart(chart.chart(), narrow: chart.chart(width: 420))) }
        blocks.append(.table(free.frontTable))
        blocks.append(.foldedTable(candidateTable(free)))
        blocks.append(.list(RunRecommendation.figureNotes))
        blocks.append(.paragraph("What the strategies protect, beside their speed:"))
        blocks += RunRecommendation.securityBlocks(SecurityTable(summary.cells.filter { $0.speed != nil }.map(\.cell)))
        return Section(name: "recommendation", title: "Recommendation", blocks: blocks)
    }

    private static func choiceTable(_ recommendations: [RunRecommendation]) -> Table {
        Table(
            caption: "The choice under budgets. For others: chunkwise recommend FOLDER --memory … --first-byte …",
            columns: [.text("Budgets"), .text("Choice")] + RunRecommendation.figureColumns + [.text("Runner-up")],
            rows: recommendations.map { recommendation in
                let options = RunRecommendation.options(recommendation.request.budgets)
                let head = Table.Entry(
                    BudgetText.list(recommendation.request.budgets) ?? "none", detail: options.isEmpty ? nil : options)
                guard let choice = recommendation.advice.choice else {
                    let raise = recommendation.raiseReasons.last
                    return [head, Table.Entry("nothing fits", detail: raise, emphasis: .bad)]
                        + [Table.Entry](repeating: .absent, count: RunRecommendation.figureColumns.count + 1)
                }
                let runnerUp = recommendation.advice.runnerUp.map {
                    Table.Entry(recommendation.label($0.candidate), detail: $0.isTie ? "ties" : nil)
                }
                return [head, Table.Entry(recommendation.label(choice), emphasis: .good)]
                    + RunRecommendation.entries(choice) + [runnerUp ?? .absent]
            })
    }

    /// All configurations that were compared, fastest first: what the picture shows.
    private static func candidateTable(_ recommendation: RunRecommendation) -> Table {
        let candidates = recommendation.advice.candidates.sorted {
            ($1.bytesPerSecond, $0.id) < ($0.bytesPerSecond, $1.id)
        }
        let shown = candidates.prefix(400)
        let count = RatioText.count(candidates.count, "configuration")
        return Table(
            caption: shown.count < candidates.count
                ? "The \(shown.count) fastest of \(count) that the picture is of."
                : "The \(count) in the picture, fastest first.",
            columns: [.text("Configuration")] + RunRecommendation.figureColumns,
            rows: shown.map { [Table.Entry(recommendation.label($0))] + RunRecommendation.entries($0) })
    }
}
