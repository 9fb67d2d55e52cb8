import Glibc

/// How much of the allowed error may be used up by when, so that data may be looked at before all are there.
///
/// The function is α ln(1 + (e − 1) t), which spends about evenly, as Pocock's boundaries do. A look may use what the
/// function has grown by since the look before. These parts are added up, as Bonferroni does, without regard to looks
/// being correlated: that needs no joint distribution, holds for the signed-rank statistic too, and gives away some
/// power. The looks' number and times need not be fixed beforehand, but must not depend on what was seen.
/// - Source: Lan and DeMets, "Discrete Sequential Boundaries for Clinical Trials", Biometrika 70 (1983), their α₂*;
///   the intervals at each look are repeated confidence intervals in the sense of Jennison and Turnbull, "Interim
///   Analyses: The Repeated Confidence Interval Approach", Journal of the Royal Statistical Society B 51 (1989).
package struct AlphaSpending: Hashable, Sendable {
    /// The error that all looks together may have.
    package let total: Double

    /// Creates a spending function.
    package init(total: Double) {
        self.total = total
    }

    /// What may be spent up to an information time from 0 to 1: the part of the planned data that is there.
    package func spent(at time: Double) -> Double {
        total * log(1 + (exp(1) - 1) * min(max(time, 0), 1))
    }

    /// What a look may use, by its information time and that of the look before, which is 0 for the first.
    package func increment(from earlier: Double, to time: Double) -> Double {
        max(0, spent(at: time) - spent(at: earlier))
    }
}
