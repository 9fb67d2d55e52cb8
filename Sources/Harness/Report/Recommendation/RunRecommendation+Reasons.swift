import Results

extension RunRecommendation {
    /// The reasons for the choice, or the reasons why there is none, in sentences.
    package var reasons: [String] {
        (advice.choice.map(choiceReasons) ?? raiseReasons) + setAsideReasons + leftOutReasons
    }

    private func choiceReasons(_ choice: Candidate) -> [String] {
        [lacksIntegrity ? caveat : nil].compactMap { $0 } + [originReason(choice)]
            + [unjudgedReason(choice), runnerUpReason(choice)].compactMap { $0 }
            + [integrityCost].compactMap { $0 } + advice.costs.map { costReason($0, choice) }
            + (isOfReport ? [] : filterCosts(choice)) + choiceAlternatives(choice) + cautions(choice)
    }

    private func originReason(_ choice: Candidate) -> String {
        let near = advice.nearBest
        let count = advice.fitting.count
        guard count > 1 else {
            return advice.candidates.count > 1
                ? "It is the only one of \(advice.candidates.count) configurations that fits."
                : "It is the only configuration that was measured, so nothing was compared."
        }
        guard let bound = near.bounds[choice.id] else {
            return "It is the fastest of \(among(count)). Nothing is shown: that takes three processes of each."
        }
        let judgedCount = count - near.unjudgedCount
        guard judgedCount > 1 else { return "It is the only one that was timed in three processes or more." }
        let head = "\(NearBest.claim(bound, among: judgedCount, threadsText))."
        guard near.isShown else {
            return "\(head) More rounds would narrow this."
        }
        guard near.members.count > 1 else { return head }
        let others = near.members.count - 1
        return "\(head) \(RatioText.count(others, "other")) \(others == 1 ? "is" : "are") shown to be within "
            + "\(RatioText.percent(NearBest.margin)) of the best as well. \(preference(choice))"
    }

    private func among(_ count: Int) -> String {
        "the \(RatioText.count(count, "configuration"))" + (advice.budgets.given.isEmpty ? "" : " that fit")
    }

    /// A note on configurations of fewer than three processes, which were not compared; `nil` if there are none.
    private func unjudgedReason(_ choice: Candidate) -> String? {
        let unjudged = advice.fitting.filter { !$0.isJudged }
        guard choice.isJudged, let fastest = Candidate.fastest(of: unjudged) else { return nil }
        let head =
            "\(RatioText.count(unjudged.count, "configuration")) of fewer than three processes "
            + "\(unjudged.count == 1 ? "was" : "were") not compared: nothing can be shown of "
            + (unjudged.count == 1 ? "it." : "them.")
        guard fastest.comparedMerit > choice.comparedMerit else { return head }
        return "\(head) One was faster than the choice: \(label(fastest)), \(figure(fastest))."
    }

    /// The reason why the choice is preferred to the others near the best.
    private func preference(_ choice: Candidate) -> String {
        let members = advice.nearBest.members
        guard let next = members.dropFirst().first else { return "" }
        let all = members.count > 2 ? "Of those \(members.count)" : "Of the two"
        if choice.comparedMemory != next.comparedMemory { return "\(all) it needs the least memory." }
        if choice.firstByteNanoseconds != next.firstByteNanoseconds {
            return "\(all), none needs less memory, and of those that need as little it has the soonest first byte."
        }
        return "\(all), none needs less memory or has a sooner first byte; it has the smallest window."
    }

    private func runnerUpReason(_ choice: Candidate) -> String? {
        guard let runnerUp = advice.runnerUp else { return nil }
        let candidate = runnerUp.candidate
        let what = runnerUp.differsInWindowOnly ? "Runner-up, which differs in the window only" : "Runner-up"
        let head = "\(what): \(label(candidate)), \(figure(candidate))"
        let ratio = ratio(of: choice, over: candidate)
        if ratio.isTie { return "\(head), which ties with the choice." }
        return ratio.ratio >= 1
            ? "\(head). The choice is \(ratio.text) as fast." : "\(head), \(inverse(ratio)) as fast as the choice."
    }

    private func inverse(_ ratio: SpeedRatio) -> String {
        var other = ratio
        (other.low, other.ratio, other.high) = (1 / ratio.high, 1 / ratio.ratio, 1 / ratio.low)
        return other.text
    }

    private func costReason(_ cost: Advice.BudgetCost, _ choice: Candidate) -> String {
        let limit = advice.budgets.limit(cost.budget).map { BudgetText.limit(cost.budget, $0) } ?? ""
        let budget = "The \(BudgetText.name(cost.budget)) budget of \(limit)"
        if cost.alternative.id == choice.id { return "\(budget) costs nothing: without it the choice is the same." }
        let other = "\(label(cost.alternative)) (\(figure(cost.alternative)))"
        let ratio = ratio(of: cost.alternative, over: choice)
        guard cost.isFaster, !ratio.isTie else {
            return "\(budget) costs no \(meritName) that the data show: without it the choice would be \(other)."
        }
        return "\(budget) costs \(meritName): without it the choice would be \(other), \(ratio.text) as fast."
    }

    private func cautions(_ choice: Candidate) -> [String] {
        var cautions: [String] = []
        if choice.interval == nil {
            cautions.append(
                "It was timed in fewer than three processes, so that how much it varies is not known.")
        }
        if let minimum = advice.budgets.bytesPerSecond, let low = choice.interval?.lowerBound, low < minimum {
            cautions.append(
                "Its 95 % interval begins at \(ByteCountText.rate(low)), below the throughput budget: it may not keep "
                    + "it."
            )
        }
        if let maximum = advice.budgets.memoryByteCount, maximum < CellSummary.memoryResolution {
            cautions.append(
                "A memory budget below \(ByteCountText.size(CellSummary.memoryResolution)) cannot be judged: the "
                    + "kernel's counters do not tell less apart."
            )
        }
        return cautions
    }

    /// The choices for users who do not want what budgets do not limit: several threads, a mapped file, another format.
    func choiceAlternatives(_ choice: Candidate) -> [String] {
        guard let cell = cell(choice)?.cell else { return [] }
        var sentences: [String?] = []
        if cell.threads > 1 {
            sentences.append(alternative("With one thread (--threads 1)") { $0.threads == 1 })
        }
        if cell.source == "mmap" {
            sentences.append(alternative("Without mapping the file (--source file)") { $0.source == "file" })
        }
        sentences += pool.cells.map(\.cell.format).unique.filter { $0 != cell.format }.map { name in
            alternative("With the format \(name) (--strategy \(name))") { $0.format == name }
        }
        return sentences.compactMap { $0 }
    }

    private func alternative(_ condition: String, _ admits: (Cell) -> Bool) -> String? {
        let fitting = advice.fitting.filter { candidate in cell(candidate).map { admits($0.cell) } ?? false }
        return NearBest(fitting).members.first.map {
            "\(condition) the choice would be \(label($0)), \(figure($0))."
        }
    }

    /// The cost of each filter, phrased like the cost of a budget: the choice without it, all else kept.
    ///
    /// Filters that select another group have no cost, since figures of different groups are not compared.
    func filterCosts(_ choice: Candidate) -> [String] {
        Self.filters.compactMap { filter in
            guard let option = filter.option(request) else { return nil }
            var request = request
            filter.remove(&request)
            guard
                let other = try? RunRecommendation(summary, named: name, request: request),
                other.pool.group == pool.group, let free = other.advice.choice
            else { return nil }
            guard free.id != choice.id else { return "\(option) costs nothing: without it the choice is the same." }
            let head = "without it the choice would be \(other.label(free)), \(other.figure(free))"
            let ratio = other.ratio(of: free, over: choice)
            guard free.comparedMerit > choice.comparedMerit, !ratio.isTie else {
                return "\(option) costs no \(meritName) that the data show: \(head)."
            }
            return "\(option) costs \(meritName): \(head), \(ratio.text) as fast."
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

    /// The budgets that would have to be raised, if nothing fits.
    var raiseReasons: [String] {
        let count = RatioText.count(advice.candidates.count, "configuration")
        let head = "None of \(count) fits these budgets: \(BudgetText.list(advice.budgets) ?? "none")."
        guard let smallest = advice.raises.first else {
            return [
                "\(head) No raise helps, because no configuration has a figure for each of these; leave out "
                    + "\(Verdict.list(advice.withoutFigure.map { BudgetText.name($0.budget) }))."
            ]
        }
        let isSingle = smallest.raises.count == 1
        let also = advice.raises.dropFirst().map { "Or \(text($0))." }
        return [
            head,
            (isSingle ? "Smallest single raise: " : "No single raise suffices. Smallest set: ") + text(smallest) + ".",
        ]
            + also + [unguardedFit].compactMap { $0 }
    }

    private func text(_ set: BudgetRelaxation) -> String {
        let raises = set.raises.map { raise in
            let verb = raise.budget == .throughput ? "lower" : "raise"
            let given = BudgetText.limit(raise.budget, raise.given)
            let needed = BudgetText.figure(raise.budget, raise.needed)
            let factor =
                raise.factor.isFinite
                ? ", \(RatioText.times(raise.budget == .throughput ? 1 / raise.factor : raise.factor))" : ""
            return
                "\(verb) \(BudgetText.name(raise.budget)) from \(given) to \(needed)\(factor) "
                + "(\(BudgetText.option(raise)))"
        }
        return
            "\(Verdict.list(raises)); then \(label(set.candidate)) fits, \(figure(set.candidate))"
    }

    var setAsideReasons: [String] {
        var reasons = advice.withoutFigure.map { budget, count in
            "\(RatioText.count(count, "configuration")) of \(advice.candidates.count) set aside: no "
                + "\(BudgetText.name(budget)) figure, so that the budget cannot be judged."
        }
        if !pool.withoutFigures.isEmpty {
            let count = RatioText.count(pool.withoutFigures.count, "more configuration")
            let first = pool.withoutFigures.first?.missingReason.map { "; the first: \($0)" } ?? ""
            reasons.append("\(count) without trusted figures\(first).")
        }
        if pool.unranked > 0 {
            reasons.append(
                "\(RatioText.count(pool.unranked, "configuration")) set aside: no latency, by which random reads are "
                    + "ranked, or fewer than \(CellSummary.minChunkCount) chunks, of which a reader often holds one."
            )
        }
        if !pool.setAside.isEmpty {
            let lack =
                pool.protection == .integrity
                ? "their formats notice no change (--integrity none)"
                : "equal content can be seen in the ciphertext (--strategy with iv-rule=fixed takes it)"
            reasons.append("\(RatioText.count(pool.setAside.count, "configuration")) set aside: \(lack).")
        }
        if !summary.results.isComplete {
            reasons.append("The run was broken off: configurations may be missing.")
        }
        return reasons
    }

    /// The configurations that were measured in other groups.
    var leftOutReasons: [String] {
        pool.others.map { other, count in
            let options = other.options(insteadOf: pool.group)
            return "Not compared: \(RatioText.count(count, "configuration")), \(other.description)"
                + (options.isEmpty ? "." : " (\(options)).")
        }
    }
}
