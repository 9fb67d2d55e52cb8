import Results

extension RunRecommendation {
    /// What each filter costs, said like the cost of a budget: the choice that there would be without it, all else kept.
    ///
    /// Filters that ask for other circumstances cost nothing: figures of those are not compared.
    func filterCosts(_ choice: Candidate) -> [String] {
        Self.filters.compactMap { filter in
            guard let option = filter.option(request) else { return nil }
            var request = request
            filter.remove(&request)
            guard
                let other = try? RunRecommendation(summary, named: name, request: request),
                other.pool.circumstances == pool.circumstances, let free = other.advice.choice
            else { return nil }
            guard free.id != choice.id else { return "\(option) costs nothing: without it the choice is the same." }
            let rate = ByteCountText.rate(free.bytesPerSecond)
            let head = "without it the choice would be \(other.label(free)), \(rate)"
            guard free.bytesPerSecond > choice.bytesPerSecond, let ratio = other.ratio(of: free, over: choice),
                !ratio.isTie
            else { return "\(option) costs no throughput that the data show: \(head)." }
            return "\(option) costs throughput: \(head), \(ratio.text) as fast."
        }
    }

    private struct Filter: Sendable {
        var option: @Sendable (RecommendationRequest) -> String?
        var remove: @Sendable (inout RecommendationRequest) -> Void
    }

    private static let filters = [
        Filter(option: { $0.backend.map { "--backend \($0)" } }, remove: { $0.backend = nil }),
        Filter(option: { $0.strategy.map { "--strategy \($0)" } }, remove: { $0.strategy = nil }),
        Filter(
            option: { $0.chunkByteCount.map { "--chunk-size \(BudgetText.exact($0))" } },
            remove: { $0.chunkByteCount = nil }),
        Filter(option: { $0.access.map { "--access \($0)" } }, remove: { $0.access = nil }),
        Filter(option: { $0.threads.map { "--threads \($0)" } }, remove: { $0.threads = nil }),
        Filter(option: { $0.source.map { "--source \($0)" } }, remove: { $0.source = nil }),
    ]
}
