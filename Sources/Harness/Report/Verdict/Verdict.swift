package import Results

/// What a run found, in a few sentences that claim no more than the data carry.
///
/// The sentences are: which backend and window to take, and what that gains; what windows of 16 MB and of 100 MiB cost
/// against it; what decrypting whole chunks of 16 MB costs; what failed; how sure all this is. A backend that failed its
/// vectors, or that nothing was verified, comes first. Where data are missing, a sentence says so or is left out.
package struct Verdict: Hashable, Sendable {
    /// The sentences, without line breaks.
    package var lines: [String]

    /// Computes the verdict of a run.
    package init(_ results: RunResults) {
        self.init(RunSummary(results))
    }

    /// Computes the verdict of a run that is already summed up.
    init(_ summary: RunSummary) {
        let recommendation = RunRecommendation.ofReport(summary)
        let speed = [Self.take(recommendation)] + Self.sizes(recommendation, summary)
        let correctness = Self.correctness(summary)
        let records = summary.results.conformance
        let isVerified = records.contains { $0.passed > 0 } && !records.contains { $0.failed > 0 }
        lines =
            (isVerified ? speed + [correctness] : [correctness] + speed) + [Self.confidence(summary)].compactMap { $0 }
    }

    /// Joins parts with a comma, and the last one with `and`.
    static func list(_ parts: [String]) -> String {
        guard let last = parts.last, parts.count > 1 else { return parts.first ?? "" }
        return parts.dropLast().joined(separator: ", ") + " and " + last
    }
}
