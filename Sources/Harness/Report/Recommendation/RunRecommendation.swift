package import Results

/// What to take of one run's configurations, and why.
package struct RunRecommendation: Sendable {
    /// What was asked for.
    let request: RecommendationRequest
    /// What the results are called, such as their path.
    package let name: String
    /// The run.
    let summary: RunSummary
    /// The cells that were chosen from.
    let pool: CandidatePool
    /// The choice and all that follows from it.
    package let advice: Advice

    /// Whether nobody asked: filters are the report's own, and what they cost is not said.
    var isOfReport = false

    private let cells: [String: CellSummary]
    private let names: ConfigurationNames

    /// Chooses among the configurations of a run.
    ///
    /// - Parameters:
    ///   - results: The run.
    ///   - name: What the results are called, such as their path.
    ///   - request: What is asked for.
    /// - Throws: `RecommendationError` where there is nothing to choose from.
    package init(
        _ results: RunResults, named name: String, request: RecommendationRequest
    ) throws(RecommendationError) {
        try self.init(RunSummary(results), named: name, request: request)
    }

    /// Chooses among the configurations of a run that is summed up.
    init(_ summary: RunSummary, named name: String, request: RecommendationRequest) throws(RecommendationError) {
        self.request = request
        self.name = name
        self.summary = summary
        pool = try CandidatePool(summary, request)
        advice = Advice(candidates: pool.cells.compactMap { Candidate($0) }, budgets: request.budgets)
        cells = Dictionary(pool.cells.map { ($0.cell.id, $0) }) { first, _ in first }
        names = ConfigurationNames(pool.cells.map(\.cell))
    }

    /// Whether something fits.
    package var hasChoice: Bool { advice.choice != nil }

    /// The cell of the choice.
    var choice: CellSummary? { advice.choice.flatMap { cells[$0.id] } }

    /// The cell of the runner-up.
    var runnerUp: CellSummary? { advice.runnerUp.flatMap { cells[$0.candidate.id] } }

    /// The cell of a candidate.
    func cell(_ candidate: Candidate) -> CellSummary? { cells[candidate.id] }

    /// A candidate's name, short and unique among the candidates, with what it reproduces.
    func label(_ candidate: Candidate) -> String {
        guard let cell = cells[candidate.id]?.cell else { return candidate.id }
        return names.name(of: cell) + (cell.label.map { " (\($0))" } ?? "")
    }

    /// How much faster one candidate is than another.
    func ratio(of one: Candidate, over other: Candidate) -> SpeedRatio? {
        guard let one = cells[one.id], let other = cells[other.id] else { return nil }
        return SpeedRatio(of: one, over: other, seed: summary.results.header.seed)
    }

    /// What was chosen from, in words.
    var comparedText: String {
        "\(RatioText.count(pool.cells.count, "configuration")) with figures: \(sharedText), \(pool.circumstances.description)"
    }

    /// What was measured, in words: the workload, and what it stands for.
    var workloadText: String {
        let meaning =
            switch pool.workload {
            case "sequential": "the object read from start to end"
            case let text where text.hasPrefix("random:"):
                "reads of \(Verdict.readSize(text)) at random places"
            case let text where text.hasPrefix("trace:"):
                "the requests of the player trace \(text.dropFirst("trace:".count))"
            default: "as named"
            }
        guard let reason = pool.workloadReason, let asked = request.workload else {
            return "\(pool.workload): \(meaning)"
        }
        return "\(asked), for which \(pool.workload) stands: \(reason)"
    }

    /// What all compared cells share beside their circumstances.
    private var sharedText: String {
        func shared(_ value: (Cell) -> String?) -> String? {
            let values = Set(pool.cells.map { value($0.cell) })
            return values.count == 1 ? values.first ?? nil : nil
        }
        let strategies = Set(pool.cells.map(\.cell.strategy))
        return [
            strategies.count == 1 ? strategies.first : "\(strategies.count) strategies",
            shared { $0.threads == 1 ? "one thread" : nil },
        ].compactMap { $0 }.joined(separator: ", ")
    }
}
