import Results

extension RunSummary {
    /// A configuration as it was published, beside a better one of the same backend.
    struct Comparison: Sendable {
        var published: CellSummary
        var alternative: CellSummary
    }

    /// Returns the cell that reproduces an article and was measured; rather one of the backend named.
    /// - Parameters:
    ///   - article: A text that the cell's label contains, such as `article 000`.
    ///   - workload: How the cell's workload begins.
    ///   - backend: The backend that is preferred.
    /// - Returns: The cell, or `nil` if there is none.
    func published(_ article: String, workload: String, preferring backend: String?) -> CellSummary? {
        let candidates = cells.filter {
            $0.speed != nil && $0.cell.workload.hasPrefix(workload) && Self.contains($0.cell.label, article)
        }
        return candidates.first { $0.cell.backend == backend } ?? candidates.first
    }

    /// Returns the ordinary cell that does the same work with the same backend by reading only the blocks it needs.
    ///
    /// The same chunks are preferred, then the same strategy, so that as little as possible differs. Of several windows
    /// the one with the lowest median latency is taken for random reads; otherwise the smallest that ties with the
    /// fastest, because a larger one costs memory and is not known to give anything for it.
    func alternative(to published: CellSummary) -> CellSummary? {
        let cell = published.cell
        let candidates = cells.filter {
            $0.speed != nil && $0.cell.label == nil && $0.cell.access == "block" && $0.cell.backend == cell.backend
                && $0.cell.workload == cell.workload && $0.cell.threads == cell.threads
                && $0.cell.keyByteCount == cell.keyByteCount && $0.cell.objectByteCount == cell.objectByteCount
                && $0.cell.source == cell.source && Series($0.cell).isLocal == Series(cell).isLocal
        }
        let sameStrategy = candidates.filter { $0.cell.strategy == cell.strategy }
        let sameChunks = sameStrategy.filter { $0.cell.chunkByteCount == cell.chunkByteCount }
        let closest = [sameChunks, sameStrategy, candidates].first { !$0.isEmpty } ?? []
        if cell.workload.hasPrefix("random"), let quickest = Self.quickest(in: closest) { return quickest }
        return Self.smallestTie(in: closest)
    }

    /// Every published configuration that was measured and has an alternative, one configuration after the other.
    var comparisons: [Comparison] {
        var labels: [String] = []
        for label in labelledCells.compactMap(\.cell.label) where !labels.contains(label) { labels.append(label) }
        return labels.flatMap { label in
            labelledCells.compactMap { published in
                guard published.cell.label == label, published.speed != nil,
                    let alternative = alternative(to: published)
                else { return nil }
                return Comparison(published: published, alternative: alternative)
            }
        }
    }

    private static func quickest(in cells: [CellSummary]) -> CellSummary? {
        var best: CellSummary?
        for cell in cells {
            guard let latency = cell.latency else { continue }
            if let current = best?.latency, current.p50 <= latency.p50 { continue }
            best = cell
        }
        return best
    }

    /// Says whether a label contains a text; written out because `String.contains` with a string needs Foundation or
    /// the string-processing library.
    private static func contains(_ label: String?, _ text: String) -> Bool {
        guard let label else { return false }
        return label.indices.contains { label[$0...].hasPrefix(text) }
    }
}
