import Results

extension Verdict {
    /// Says how much the figures rest on; nothing where nothing was timed.
    static func confidence(_ summary: RunSummary) -> String? {
        var parts: [String] = []
        if !summary.results.isComplete { parts.append("INCOMPLETE RUN, cells are missing") }
        let timed = summary.cells.filter { $0.speed != nil }
        let rounds = timed.map(\.rounds.count)
        if let fewest = rounds.min(), let maximum = rounds.max() {
            let count = fewest == maximum ? "\(maximum)" : "\(fewest) to \(maximum)"
            parts.append("each figure is the median of \(count) fresh process\(maximum == 1 ? "" : "es")")
        }
        let single = timed.count { $0.speed?.hasInterval == false }
        if single > 0, single == timed.count {
            parts.append("one process gives no interval, so that no difference here is shown to be more than noise")
        } else if single > 0 {
            parts.append(
                "\(RatioText.count(single, "figure")) of one process \(single == 1 ? "has" : "have") no interval")
        }
        let widths = timed.compactMap(\.speed).filter(\.hasInterval).map(\.nanoseconds.relativeHalfWidth).sorted()
        if let widest = widths.last {
            let typical = RatioText.percent(widths[widths.count / 2])
            parts.append(
                widths.count == 1
                    ? "its 95 % interval is ±\(typical)"
                    : "half of the 95 % intervals are within ±\(typical), the widest is ±\(RatioText.percent(widest))")
        }
        return parts.isEmpty ? nil : "How sure: \(parts.joined(separator: "; "))."
    }
}
