import Glibc

/// Student's t distribution.
package enum StudentDistribution {
    /// Returns the probability that a t variable is at least as far from 0 as `value`, in either direction.
    ///
    /// It is the regularised incomplete beta function at d ÷ (d + t²) with a = d ÷ 2 and b = ½.
    /// - Source: NIST Digital Library of Mathematical Functions, §8.17.22 (continued fraction), evaluated as by Lentz
    ///   1976.
    /// - Parameters:
    ///   - value: The statistic; NaN counts as 0.
    ///   - degreesOfFreedom: At least 1.
    /// - Returns: The probability, from 0 to 1.
    package static func twoSidedTail(_ value: Double, degreesOfFreedom: Int) -> Double {
        precondition(degreesOfFreedom > 0, "a t distribution with \(degreesOfFreedom) degrees of freedom")
        guard !value.isNaN, value != 0 else { return 1 }
        guard value.isFinite else { return 0 }
        let freedom = Double(degreesOfFreedom)
        return incompleteBeta(freedom / (freedom + value * value), freedom / 2, 0.5)
    }

    /// Returns the value that a t variable exceeds with a given probability.
    ///
    /// - Parameters:
    ///   - probability: Above 0, below one half.
    ///   - degreesOfFreedom: At least 1.
    /// - Returns: The value, above 0, to 1 part in 10¹².
    package static func upperQuantile(_ probability: Double, degreesOfFreedom: Int) -> Double {
        precondition(probability > 0 && probability < 0.5, "a tail of \(probability): expected above 0, below one half")
        if probability == usualTail, usualQuantiles.indices.contains(degreesOfFreedom - 1) {
            return usualQuantiles[degreesOfFreedom - 1]
        }
        return quantile(probability, degreesOfFreedom)
    }

    /// The tail of a 95 % interval, and its quantiles from one degree of freedom on. They are stored because every
    /// figure of a report needs one.
    private static let usualTail = 0.025
    private static let usualQuantiles = (1...32).map { quantile(usualTail, $0) }

    private static func quantile(_ probability: Double, _ degreesOfFreedom: Int) -> Double {
        var (low, high) = (0.0, 1.0)
        while twoSidedTail(high, degreesOfFreedom: degreesOfFreedom) > 2 * probability {
            (low, high) = (high, high * 2)
        }
        while high - low > 1e-12 * high {
            let middle = (low + high) / 2
            guard middle > low, middle < high else { break }
            if twoSidedTail(middle, degreesOfFreedom: degreesOfFreedom) > 2 * probability {
                low = middle
            } else {
                high = middle
            }
        }
        return high
    }

    private static func incompleteBeta(_ x: Double, _ a: Double, _ b: Double) -> Double {
        guard x > 0 else { return 0 }
        guard x < 1 else { return 1 }
        let front = exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * log(x) + b * log1p(-x))
        // The fraction converges quickly on one side of the mean; the other side is computed as the complement.
        return x < (a + 1) / (a + b + 2)
            ? front * fraction(x, a, b) / a : 1 - front * fraction(1 - x, b, a) / b
    }

    private static func fraction(_ x: Double, _ a: Double, _ b: Double) -> Double {
        let minimum = 1e-300
        func kept(_ value: Double) -> Double { value.magnitude < minimum ? minimum : value }
        var numerator = 1.0
        var denominator = 1 / kept(1 - (a + b) * x / (a + 1))
        var value = denominator
        for step in 1...300 {
            let m = Double(step)
            let even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
            let odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
            var change = 1.0
            for term in [even, odd] {
                denominator = 1 / kept(1 + term * denominator)
                numerator = kept(1 + term / numerator)
                change = denominator * numerator
                value *= change
            }
            if (change - 1).magnitude < 1e-14 { break }
        }
        return value
    }
}

/// Returns the logarithm of the gamma function. The corresponding C function is `lgamma_r`, which has no shared state.
func logGamma(_ value: Double) -> Double {
    var sign: Int32 = 0
    return lgamma_r(value, &sign)
}
