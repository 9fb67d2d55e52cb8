/// A budget that would have to be raised, or for throughput lowered, and to what.
package struct Raise: Hashable, Sendable {
    /// The budget.
    package var budget: Budget
    /// What it is, in the unit of its figure.
    package var given: Double
    /// What it would have to be at least, or for throughput at most.
    package var needed: Double

    /// Creates a raise.
    package init(budget: Budget, given: Double, needed: Double) {
        self.budget = budget
        self.given = given
        self.needed = needed
    }

    /// How many times the budget must be raised, or for throughput lowered; more than 1. Infinite where it is 0.
    package var factor: Double {
        let (more, less) = budget == .throughput ? (given, needed) : (needed, given)
        return less > 0 ? more / less : .infinity
    }
}

/// Raises after which a candidate fits.
package struct BudgetRelaxation: Hashable, Sendable {
    /// The raises, one a budget, in the order of `Budget.allCases`.
    package var raises: [Raise]
    /// The candidate that fits then. It need not be the choice: others may fit as well.
    package var candidate: Candidate

    /// The product of the raises' factors.
    package var factor: Double { raises.reduce(1) { $0 * $1.factor } }
}

extension BudgetRelaxation {
    /// Finds the smallest raises where nothing fits.
    ///
    /// Of the candidates that lack no figure that is limited, those count that break the fewest budgets. For each set of
    /// budgets that they break, the one is taken whose raises have the least product of factors.
    /// - Returns: One entry a set, smallest factor first; empty if every candidate lacks a figure.
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
