import Results

extension RunRecommendation {
    /// Why this is the choice, or why there is none, in sentences.
    package var reasons: [String] {
        (advice.choice.map(choiceReasons) ?? raiseReasons) + setAsideReasons + leftOutReasons
    }

    private func choiceReasons(_ choice: Candidate) -> [String] {
        [originReason(choice)] + [runnerUpReason(choice)].compactMap { $0 }
            + advice.costs.map { costReason($0, choice) }
            + (isOfReport ? [] : filterCosts(choice)) + choiceAlternatives(choice) + cautions(choice)
    }

    /// How the choice came about.
    private func originReason(_ choice: Candidate) -> String {
        let count = advice.fitting.count
        let among =
            advice.budgets.given.isEmpty
            ? "the \(RatioText.count(count, "configuration"))"
            : "the \(RatioText.count(count, "configuration")) that fit"
        guard count > 1 else {
            return advice.candidates.count > 1
                ? "It is the only one of \(advice.candidates.count) configurations that fits."
                : "It is the only configuration that was measured, so nothing was compared."
        }
        guard advice.ties.count > 1, let fastest = Candidate.fastest(of: advice.fitting) else {
            let isAlone = advice.fitting.filter { $0.interval != nil }.count == count
            return "It is the fastest of \(among)"
                + (isAlone ? ", and no other one's 95 % interval reaches its own." : ".")
        }
        let others = advice.ties.count - 1
        let tie =
            choice.id == fastest.id
            ? "\(RatioText.count(others, "other")) of \(among) \(others == 1 ? "ties" : "tie") with it, the fastest: their 95 % intervals overlap."
            : "It ties with the fastest of \(among), \(label(fastest)) (\(ByteCountText.rate(fastest.bytesPerSecond))): their 95 % intervals overlap."
        return "\(tie) \(tieBreak(choice))"
    }

    /// What decided among those that tie.
    private func tieBreak(_ choice: Candidate) -> String {
        guard let next = advice.ties.dropFirst().first else { return "" }
        let all = advice.ties.count > 2 ? "Of those \(advice.ties.count)" : "Of the two"
        func memory(_ candidate: Candidate) -> UInt64? {
            candidate.memoryByteCount.map { max($0, Candidate.memoryResolutionByteCount) }
        }
        if memory(choice) != memory(next) { return "\(all) it needs the least memory." }
        if choice.firstByteNanoseconds != next.firstByteNanoseconds {
            return "\(all), none needs less memory, and of those that need as little it has the soonest first byte."
        }
        return "\(all), none needs less memory or has a sooner first byte; it has the smallest window."
    }

    private func runnerUpReason(_ choice: Candidate) -> String? {
        guard let runnerUp = advice.runnerUp else { return nil }
        let candidate = runnerUp.candidate
        let what = runnerUp.differsInWindowOnly ? "Runner-up, which differs in the window only" : "Runner-up"
        let rate = ByteCountText.rate(candidate.bytesPerSecond)
        let head = "\(what): \(label(candidate)), \(rate)"
        guard let ratio = ratio(of: choice, over: candidate) else { return "\(head)." }
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
        let other = "\(label(cost.alternative)) (\(ByteCountText.rate(cost.alternative.bytesPerSecond)))"
        guard cost.isFaster, let ratio = ratio(of: cost.alternative, over: choice), !ratio.isTie else {
            return "\(budget) costs no throughput that the data show: without it the choice would be \(other)."
        }
        return "\(budget) costs throughput: without it the choice would be \(other), \(ratio.text) as fast."
    }

    private func cautions(_ choice: Candidate) -> [String] {
        var cautions: [String] = []
        if choice.interval == nil {
            cautions.append(
                "It was timed in one process only, so nothing is known of how much it varies, and no tie can be seen.")
        }
        if let minimum = advice.budgets.bytesPerSecond, let low = choice.interval?.lowerBound, low < minimum {
            cautions.append(
                "Its 95 % interval begins at \(ByteCountText.rate(low)), below the throughput budget: it may not keep it."
            )
        }
        if let maximum = advice.budgets.memoryByteCount, maximum < Candidate.memoryResolutionByteCount {
            cautions.append(
                "A memory budget below \(ByteCountText.size(Candidate.memoryResolutionByteCount)) cannot be judged: the kernel's counters do not tell less apart."
            )
        }
        return cautions
    }
}
