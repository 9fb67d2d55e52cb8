import Results

extension RunRecommendation {
    /// What would have to be raised, where nothing fits.
    var raiseReasons: [String] {
        let count = RatioText.count(advice.candidates.count, "configuration")
        let head = "Nothing fits: of \(count) none keeps these budgets: \(BudgetText.list(advice.budgets) ?? "none")."
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
            + also
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
                "\(verb) \(BudgetText.name(raise.budget)) from \(given) to \(needed)\(factor) (\(BudgetText.option(raise)))"
        }
        return
            "\(Verdict.list(raises)); then \(label(set.candidate)) fits, \(ByteCountText.rate(set.candidate.bytesPerSecond))"
    }

    /// Which configurations could not be judged.
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
        if !summary.results.isComplete {
            reasons.append("The run was broken off: configurations may be missing.")
        }
        return reasons
    }

    /// Which configurations were measured under other circumstances.
    var leftOutReasons: [String] {
        pool.others.map { other, count in
            let options = other.options(insteadOf: pool.circumstances)
            return "Not compared: \(RatioText.count(count, "configuration")), \(other.description)"
                + (options.isEmpty ? "." : " (\(options)).")
        }
    }
}
