import Results

extension RunRecommendation {
    /// What a report recommends, or `nil` where nothing was timed.
    ///
    /// It speaks of what most of the report compares: sequential reads of one format, on one object, with as many threads.
    static func ofReport(_ summary: RunSummary, budgets: Budgets = Budgets()) -> RunRecommendation? {
        var request = RecommendationRequest()
        request.budgets = budgets
        if let main = summary.main {
            request.workload = main.workload
            request.strategy = main.strategy
            request.chunkByteCount = main.chunkByteCount
            request.threads = main.threads
            request.keyByteCount = main.keyByteCount
            request.source = main.source
            request.objectByteCount = main.objectByteCount
        }
        var recommendation = try? RunRecommendation(summary, named: "this run", request: request)
        recommendation?.isOfReport = true
        return recommendation
    }

    /// Budgets that show what constraints do: none, those of a small player, and a reader that must answer at once.
    static let exampleBudgets = [
        Budgets(),
        Budgets(memoryByteCount: 64 << 20, firstByteNanoseconds: 5_000_000),
        Budgets(firstByteNanoseconds: 20_000),
    ]

    /// The options that ask for the budgets.
    static func options(_ budgets: Budgets) -> String {
        budgets.given.map { budget in
            BudgetText.option(Raise(budget: budget, given: 1, needed: budgets.limit(budget) ?? 1))
        }.joined(separator: " ")
    }
}
