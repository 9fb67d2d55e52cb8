package import Results

/// What a run found, in at most five lines that claim no more than the data carry.
///
/// The lines are: correctness; the fastest sequential read; what chunks as in article 000 cost; what windows as in
/// article 004 cost; how the backends compare and how sure all this is. Where data are missing, a line says so or is
/// left out.
package struct Verdict: Hashable, Sendable {
    /// The lines, without line breaks.
    package var lines: [String]

    /// Computes the verdict of a run.
    package init(_ results: RunResults) {
        self.init(RunSummary(results))
    }

    /// Computes the verdict of a run that is already summed up.
    init(_ summary: RunSummary) {
        lines = [
            Self.correctness(summary),
            Self.fastest(summary),
            Self.wholeChunks(summary),
            Self.freshWindows(summary),
            Self.confidence(summary),
        ].compactMap { $0 }
    }

    /// Joins parts with a comma, and the last one with `and`.
    static func list(_ parts: [String]) -> String {
        guard let last = parts.last, parts.count > 1 else { return parts.first ?? "" }
        return parts.dropLast().joined(separator: ", ") + " and " + last
    }
}
