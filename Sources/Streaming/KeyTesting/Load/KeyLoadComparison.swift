/// Whether a simulation foretells what a real run does.
package struct KeyLoadComparison: Hashable, Sendable {
    /// How far the peaks may be apart: a tenth of the simulated one, and five requests, which chance alone makes of small
    /// numbers.
    package static let peakShare = 0.1
    /// See ``peakShare``.
    package static let peakRequests = 5.0
    /// How far the 99.9th percentiles of lateness may be apart: a tenth of the simulated one, and 100 ms.
    package static let latenessShare = 0.1
    /// See ``latenessShare``.
    package static let latenessNanoseconds = 100_000_000.0

    /// What was simulated.
    package let simulated: KeyLoadResult
    /// What was run.
    package let run: KeyLoadResult

    /// Compares two results of one plan.
    package init(simulated: KeyLoadResult, run: KeyLoadResult) {
        self.simulated = simulated
        self.run = run
    }

    /// Whether the peaks are as near to each other as they must be.
    package var isPeakNear: Bool {
        let distance = Double(abs(simulated.peakPerSecond - run.peakPerSecond))
        return distance <= Self.peakShare * Double(simulated.peakPerSecond) + Self.peakRequests
    }

    /// Whether the 99.9th percentiles of lateness are. Two clients without a key are equally late.
    package var isLatenessNear: Bool {
        switch (simulated.lateness(tenthsOfPercent: 999), run.lateness(tenthsOfPercent: 999)) {
        case (nil, nil): true
        case (let first?, let second?):
            abs(Double(first) - Double(second)) <= Self.latenessShare * Double(first) + Self.latenessNanoseconds
        default: false
        }
    }

    /// Whether both are.
    package var agrees: Bool { isPeakNear && isLatenessNear }
}
