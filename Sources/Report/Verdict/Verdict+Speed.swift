import Results

extension Verdict {
    /// Names the fastest backend and window for sequential reads, and the smallest window that the data cannot tell
    /// from it.
    static func fastest(_ summary: RunSummary) -> String {
        guard let best = summary.best, let speed = best.speed else {
            return "No sequential read was measured, so there is no fastest backend or window to name."
        }
        let tied = summary.mainCells.filter { $0.speed?.ties(with: speed) ?? false }
        let others = summary.backends.filter { name in
            name != best.cell.backend && tied.contains { $0.cell.backend == name }
        }
        let window = ByteCountText.size(best.cell.windowByteCount)
        let head =
            "Fastest sequential \(best.cell.strategy): \(best.cell.backend), \(window) windows, \(ByteCountText.rate(speed.bytesPerSecond))"
        let smallest =
            tied.filter { $0.cell.backend == best.cell.backend }.map(\.cell.windowByteCount).min()
            ?? best.cell.windowByteCount
        var remarks: [String] = []
        if smallest < best.cell.windowByteCount {
            remarks.append("\(ByteCountText.size(smallest)) is the smallest window that ties")
        }
        if !others.isEmpty { remarks.append("\(list(others)) \(others.count == 1 ? "ties" : "tie")") }
        if remarks.isEmpty { remarks.append(tied.count > 1 ? "no smaller window ties" : "nothing ties") }
        return "\(head); \(remarks.joined(separator: ", "))."
    }

    /// Compares the backends at their best, and says what failed and how sure the figures are.
    static func confidence(_ summary: RunSummary) -> String? {
        var parts: [String] = []
        if !summary.results.isComplete { parts.append("INCOMPLETE RUN, cells are missing") }
        if let comparison = backendComparison(summary) { parts.append(comparison) }
        let missing = summary.cellsWithoutFigures.count
        if missing > 0 {
            parts.append("\(RatioText.count(missing, "cell")) of \(summary.cells.count) without figures")
        }
        if let precision = precision(summary) { parts.append(precision) }
        return parts.isEmpty ? nil : parts.joined(separator: "; ") + "."
    }

    private static func backendComparison(_ summary: RunSummary) -> String? {
        guard let best = summary.best, let speed = best.speed else { return nil }
        let others = summary.backends.compactMap { name -> String? in
            guard name != best.cell.backend,
                let other = RunSummary.fastest(in: summary.mainCells.filter { $0.cell.backend == name })?.speed
            else { return nil }
            if other.ties(with: speed) { return "\(name) ties" }
            return "\(name) \(RatioText.times(Double(other.bytesPerSecond) / Double(speed.bytesPerSecond)))"
        }
        return others.isEmpty ? nil : "Best against \(best.cell.backend)'s: \(others.joined(separator: ", "))"
    }

    private static func precision(_ summary: RunSummary) -> String? {
        let widths = summary.cells.compactMap(\.speed).filter(\.hasInterval).map(\.nanoseconds.relativeHalfWidth)
            .sorted()
        guard !widths.isEmpty else { return nil }
        let rounds = summary.cells.filter { $0.speed != nil }.map(\.rounds.count)
        guard let fewest = rounds.min(), let most = rounds.max() else { return nil }
        let count = fewest == most ? RatioText.count(most, "round") : "\(fewest)–\(most) rounds"
        return "\(count), typical interval ±\(RatioText.percent(widths[widths.count / 2]))"
    }
}
