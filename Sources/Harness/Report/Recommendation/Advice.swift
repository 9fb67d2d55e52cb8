/// The recommended configuration under given budgets, and the facts behind it.
///
/// The rule: of the candidates that keep all budgets, those near the best (``NearBest``) are compared. The choice is
/// the one of these with the smallest memory, then the earliest first byte, then the smallest window.
package struct Advice: Sendable {
    package let budgets: Budgets
    /// All candidates, in the given order.
    package let candidates: [Candidate]
    package let fitting: [Candidate]
    /// The candidates that fit and are near the best of those that fit, preferred first. The choice is one of them.
    package let nearBest: NearBest
    /// The best of the other candidates that fit; `nil` if no other fits.
    package let runnerUp: RunnerUp?
    /// The cost of each given budget; empty if nothing fits.
    package let costs: [BudgetCost]
    /// The smallest raises after which something fits; empty if something fits already, or if no raise helps.
    package let raises: [BudgetRelaxation]
    /// The number of candidates that lack the figure of a given budget. Budgets for which all candidates have a figure
    /// are left out.
    package let withoutFigure: [(budget: Budget, count: Int)]
    /// The Pareto front of all candidates, whatever the budgets.
    package let front: [Candidate]

    /// The next best configuration.
    ///
    /// It is the choice among those that fit and differ from the choice in more than the window. If there are none, it
    /// is the choice among the other windows.
    package struct RunnerUp: Hashable, Sendable {
        package var candidate: Candidate
        /// True if only its window differs from the choice's.
        package var differsInWindowOnly: Bool
        package var isTie: Bool
    }

    /// The cost of one budget: the choice without it, with the other budgets kept.
    package struct BudgetCost: Hashable, Sendable {
        package var budget: Budget
        package var alternative: Candidate
        /// True if the data show that the alternative is faster than the choice.
        package var isFaster: Bool
    }

    /// Chooses among candidates by the rule of ``Advice``.
    ///
    /// Complexity: O(n²) for n candidates.
    /// - Parameters:
    ///   - candidates: The candidates; their `id`s are unique.
    ///   - budgets: The budgets that the choice must keep.
    package init(candidates: [Candidate], budgets: Budgets) {
        self.candidates = candidates
        self.budgets = budgets
        let fitting = candidates.filter { $0.keeps(budgets) }
        let nearBest = NearBest(fitting)
        let choice = nearBest.members.first
        self.fitting = fitting
        self.nearBest = nearBest
        runnerUp = choice.flatMap { Self.runnerUp(to: $0, in: fitting) }
        costs = choice.map { Self.costs(of: budgets, choice: $0, candidates: candidates) } ?? []
        raises = choice == nil ? BudgetRelaxation.smallest(for: candidates, budgets: budgets) : []
        withoutFigure = budgets.given.compactMap { budget in
            let count = candidates.count { $0.figure(budget) == nil }
            return count > 0 ? (budget, count) : nil
        }
        front = Candidate.front(of: candidates)
    }

    /// The choice; `nil` if nothing fits.
    package var choice: Candidate? { nearBest.members.first }

    private static func runnerUp(to choice: Candidate, in fitting: [Candidate]) -> RunnerUp? {
        let others = fitting.filter { $0.id != choice.id }
        let different = others.filter { $0.family != choice.family }
        guard let candidate = NearBest(different.isEmpty ? others : different).members.first else { return nil }
        return RunnerUp(
            candidate: candidate, differsInWindowOnly: different.isEmpty, isTie: candidate.ties(with: choice))
    }

    private static func costs(of budgets: Budgets, choice: Candidate, candidates: [Candidate]) -> [BudgetCost] {
        budgets.given.compactMap { budget in
            let others = budgets.without(budget)
            return NearBest(candidates.filter { $0.keeps(others) }).members.first.map {
                BudgetCost(
                    budget: budget, alternative: $0,
                    isFaster: $0.comparedMerit > choice.comparedMerit && !$0.ties(with: choice))
            }
        }
    }
}

/// A budget that would have to be raised (for throughput, lowered), with its new value.
package struct Raise: Hashable, Sendable {
    package var budget: Budget
    /// The given limit, in the unit of the budget's figure.
    package var given: Double
    /// The minimum that would be needed; for throughput, the maximum.
    package var needed: Double

    /// The factor by which the budget must be raised (for throughput, lowered); more than 1. It is infinite if the
    /// smaller value is 0.
    package var factor: Double {
        let (more, less) = budget == .throughput ? (given, needed) : (needed, given)
        return less > 0 ? more / less : .infinity
    }
}

/// Raises after which a candidate fits.
package struct BudgetRelaxation: Hashable, Sendable {
    /// The raises, one per budget, in the order of `Budget.allCases`.
    package var raises: [Raise]
    /// A candidate that fits after the raises. It need not be the choice: others may fit as well.
    package var candidate: Candidate

    package var factor: Double { raises.reduce(1) { $0 * $1.factor } }

    /// Returns the smallest raises for budgets that no candidate keeps.
    ///
    /// Candidates that lack a limited figure are ignored. Of the others, those that break the fewest budgets count. For
    /// each set of broken budgets, the result has the candidate whose raises have the smallest product of factors.
    /// - Returns: One entry per set, smallest factor first; empty if every candidate lacks a figure.
    static func smallest(for candidates: [Candidate], budgets: Budgets) -> [BudgetRelaxation] {
        let sets = candidates.compactMap { candidate -> BudgetRelaxation? in
            var raises: [Raise] = []
            for budget in budgets.given {
                guard let needed = candidate.figure(budget), let given = budgets.limit(budget) else { return nil }
                guard !candidate.keeps(budget, of: budgets) else { continue }
                raises.append(Raise(budget: budget, given: given, needed: needed))
            }
            return BudgetRelaxation(raises: raises, candidate: candidate)
        }
        guard let fewest = sets.map(\.raises.count).min() else { return [] }
        var best: [[Budget]: BudgetRelaxation] = [:]
        for set in sets where set.raises.count == fewest {
            let key = set.raises.map(\.budget)
            guard let known = best[key], !set.isSmaller(than: known) else {
                best[key] = set
                continue
            }
        }
        return best.values.sorted { $0.isSmaller(than: $1) }
    }

    private func isSmaller(than other: BudgetRelaxation) -> Bool {
        if factor != other.factor { return factor < other.factor }
        let (order, otherOrder) = (raises.map(\.budget.order), other.raises.map(\.budget.order))
        if order != otherOrder { return order.lexicographicallyPrecedes(otherOrder) }
        return Candidate.isPreferred(candidate, to: other.candidate)
    }
}

extension Budget {
    fileprivate var order: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
