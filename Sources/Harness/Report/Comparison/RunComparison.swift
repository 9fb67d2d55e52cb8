package import Results
import Support

/// Two runs side by side: the differences between them, and the ratio for each cell that both have.
///
/// This is not a gate. The two runs were made at different times, so a change of the machine cannot be told from a
/// change of the program. `chunkwise gate` measures both at once.
package struct RunComparison: Sendable {
    let runSet: RunSet<RunSummary>
    /// The differences between the runs, those of the machine first.
    package let differences: [RunDifference]
    /// The cells with figures in both runs, in the order of the first run.
    package let pairs: [CellPair]
    /// Cells that only the first run has.
    package let onlyInA: [Cell]
    /// Cells that only the second run has.
    package let onlyInB: [Cell]
    /// The cells of both runs without figures in at least one, with the reasons.
    package let withoutFigures: [MissingFigures]

    package struct MissingFigures: Hashable, Sendable {
        package var cell: Cell
        /// The reason why the first run has none; `nil` if it has figures.
        package var a: String?
        /// The reason why the second run has none; `nil` if it has figures.
        package var b: String?
    }

    /// Compares two runs, each with its name.
    package init(_ a: RunResults, named nameA: String, with b: RunResults, named nameB: String) {
        runSet = RunSet([RunSummary(a, named: nameA), RunSummary(b, named: nameB)])
        differences = runSet.differences
        let matches = runSet.matches()
        onlyInA = matches.filter { $0.figures[1] == nil }.map(\.cell)
        onlyInB = matches.filter { $0.figures[0] == nil }.map(\.cell)
        var (pairs, missing): ([CellPair], [MissingFigures]) = ([], [])
        for match in matches {
            guard let one = match.figures[0], let other = match.figures[1] else { continue }
            if let pair = CellPair(one, other) {
                pairs.append(pair)
            } else {
                missing.append(MissingFigures(cell: match.cell, a: one.missingReason, b: other.missingReason))
            }
        }
        self.pairs = pairs
        withoutFigures = missing
    }

    package var nameA: String { runSet.runs[0].name }

    package var nameB: String { runSet.runs[1].name }

    /// True if both runs were made on one machine, as far as their headers tell.
    package var isSameHost: Bool { !differences.contains(where: \.isOfHost) }

    /// Returns the relation by the interval of a pair; `notJudged` on different hosts.
    package func relation(_ pair: CellPair) -> CellPair.Relation { isSameHost ? pair.relation : .notJudged }

    /// The number of cells whose throughputs lie within 5 % of each other.
    package var within5PercentCount: Int { pairs.count(where: \.isWithin5Percent) }

    func count(_ relation: CellPair.Relation) -> Int { pairs.count { self.relation($0) == relation } }

    /// The caveats that a reader must know before any ratio.
    package var warnings: [String] {
        var warnings: [String] = []
        let hosts = differences.filter(\.isOfHost).map(\.name)
        if !hosts.isEmpty {
            warnings.append(
                "The runs come from different hosts (\(Verdict.list(hosts)) differ\(hosts.count == 1 ? "s" : "")): the "
                    + "ratios compare machines as well as programs. They are shown and not judged.")
        }
        for (letter, run) in zip(["A", "B"], runSet.runs) where !run.isComplete {
            warnings.append("Run \(letter) was broken off, cells may be missing.")
        }
        let others = pairs.count { !$0.isSamePlaintext }
        if others > 0 {
            warnings.append(
                "\(RatioText.count(others, "cell")) delivered other plaintext in B than in A: seed or object differ.")
        }
        let single = pairs.count { !$0.ratio.hasInterval }
        if single > 0 {
            warnings.append(
                "\(RatioText.count(single, "cell")) timed in fewer than three processes on a side: no interval, "
                    + "nothing is said of them."
            )
        }
        return warnings
    }

    package var text: String { TextRenderer.render(Document(self)) }

    /// The comparison as a page, Markdown and JSON.
    package var files: [ReportFile] {
        ([.html, .markdown, .json] as [ComparisonFormat]).map(file)
            + Document(self).charts.map { ReportFile(name: "\($0.name).svg", text: $0.standalone) }
    }

    /// Returns the comparison in one format.
    package func file(_ format: ComparisonFormat) -> ReportFile {
        switch format {
        case .text: ReportFile(name: "comparison.txt", text: text + "\n")
        case .html: ReportFile(name: "index.html", text: HTMLRenderer.render(Document(self)))
        case .markdown: ReportFile(name: "report.md", text: MarkdownRenderer.render(Document(self)))
        case .json: ReportFile(name: "comparison.json", text: json.text + "\n")
        }
    }
}

/// The output formats of a comparison.
package enum ComparisonFormat: String, CaseIterable, Sendable {
    case text
    case html
    case markdown
    case json
}

extension Document {
    init(_ comparison: RunComparison) {
        title = "Two runs side by side"
        subtitle = "\(comparison.nameA) and \(comparison.nameB)"
        warnings = comparison.warnings.map(Warning.init(plain:))
        verdict = comparison.findings
        sections = comparison.sections
    }
}
