import Results

extension RunRecommendation {
    /// The recommendation as GitHub-flavoured Markdown.
    package var markdown: String {
        var blocks: [Document.Block] = [.facts(facts)]
        if !chosen.isEmpty { blocks.append(.table(chosenTable)) }
        blocks += [.list(reasons), .table(frontTable)]
        blocks += Self.securityBlocks(SecurityTable(pool.cells.map(\.cell)))
        blocks.append(.list(Self.figureNotes))
        let title = advice.choice.map { "Take \(label($0))" } ?? "Nothing fits"
        return (["# \(MarkupText.markdown(title))"] + blocks.map(MarkdownRenderer.block)).joined(separator: "\n\n")
    }

    private var chosenTable: Table {
        Table(
            caption: "The choice and the runner-up.", columns: [.text("")] + Self.figureColumns,
            rows: chosen.map { role, candidate in
                [Table.Entry(role, detail: label(candidate))] + Self.entries(candidate)
            })
    }

    /// The Pareto front with its figures.
    var frontTable: Table {
        Table(
            caption: "The Pareto front. \(Self.frontNote)", columns: [.text("Configuration")] + Self.figureColumns,
            rows: advice.front.map { [Table.Entry(label($0))] + Self.entries($0) })
    }

    /// The columns of figures.
    static let figureColumns: [Table.Column] = [
        .number("Throughput"), .number("Memory"), .number("First byte"), .number("Fetched"),
    ]

    /// A candidate's figures under `figureColumns`.
    static func entries(_ candidate: Candidate) -> [Table.Entry] {
        let figures = Figures(candidate)
        return [
            Table.Entry(figures.throughput, detail: figures.interval), Table.Entry(figures.memory),
            Table.Entry(figures.firstByte), Table.Entry(figures.fetched),
        ]
    }

    /// The security properties with what they mean.
    static func securityBlocks(_ security: SecurityTable) -> [Document.Block] {
        (security.profiles.isEmpty ? [] : [.table(security.table)])
            + (security.summary.isEmpty ? [] : [.list(security.summary)])
            + (security.profiles.isEmpty ? [] : [.foldedTable(security.details)])
    }
}
