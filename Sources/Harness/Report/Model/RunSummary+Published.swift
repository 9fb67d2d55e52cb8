import Results

extension RunSummary {
    /// A configuration as it was published, beside a better one of the same backend.
    struct Comparison: Sendable {
        var published: CellSummary
        var alternative: CellSummary
    }

    /// Returns the cell that reproduces something published and was measured; rather one of the backend named.
    /// - Parameters:
    ///   - access: How the cell reads, such as `chunk-cache`.
    ///   - workload: How the cell's workload begins.
    ///   - backend: The backend that is preferred.
    /// - Returns: The cell, or `nil` if there is none.
    func published(access: String, workload: String, preferring backend: String?) -> CellSummary? {
        let candidates = cells.filter {
            $0.speed != nil && $0.cell.label != nil && $0.cell.access == access && $0.cell.workload.hasPrefix(workload)
        }
        return candidates.first { $0.cell.backend == backend } ?? candidates.first
    }

    /// Returns the ordinary cell that does the same work with the same backend by reading only the blocks it needs.
    ///
    /// The same chunks are preferred, then the same strategy, so that as little as possible differs. Of several windows
    /// the one with the lowest median latency is taken for random reads; otherwise the smallest that ties with the
    /// fastest, because a larger one costs memory and is not known to give anything for it.
    func alternative(to published: CellSummary) -> CellSummary? {
        let work = Work(published.cell)
        return Self.alternative(
            to: published.cell, among: cells.filter { Self.isOrdinary($0) && Work($0.cell) == work })
    }

    /// Every published configuration that was measured and has an alternative, one configuration after the other.
    var comparisons: [Comparison] {
        let published = labelledCells.filter { $0.speed != nil }
        guard !published.isEmpty else { return [] }
        let ordinary = Dictionary(grouping: cells.filter(Self.isOrdinary)) { Work($0.cell) }
        return published.grouped(by: \.cell.label).flatMap(\.elements).compactMap { published in
            Self.alternative(to: published.cell, among: ordinary[Work(published.cell)] ?? []).map {
                Comparison(published: published, alternative: $0)
            }
        }
    }

    /// Whether a cell reads by block, reproduces nothing and has a speed.
    private static func isOrdinary(_ cell: CellSummary) -> Bool {
        cell.speed != nil && cell.cell.label == nil && cell.cell.access == "block"
    }

    private static func alternative(to cell: Cell, among candidates: [CellSummary]) -> CellSummary? {
        let sameStrategy = candidates.filter { $0.cell.strategy == cell.strategy }
        let sameChunks = sameStrategy.filter { $0.cell.chunkByteCount == cell.chunkByteCount }
        let closest = [sameChunks, sameStrategy, candidates].first { !$0.isEmpty } ?? []
        if cell.workload.hasPrefix("random"), let quickest = quickest(in: closest) { return quickest }
        return smallestTie(in: closest)
    }

    /// The cell with the lowest median latency; of equals the first.
    static func quickest(in cells: [CellSummary]) -> CellSummary? {
        cells.filter { $0.latency != nil }.min { $0.latency?.p50 ?? .max < $1.latency?.p50 ?? .max }
    }
}

/// What two cells must share to do the same work, whatever their format.
private struct Work: Hashable {
    var backend: String
    var workload: String
    var threads: Int
    var keyByteCount: Int
    var objectByteCount: UInt64
    var source: String
    var isLocal: Bool

    init(_ cell: Cell) {
        backend = cell.backend
        workload = cell.workload
        threads = cell.threads
        keyByteCount = cell.keyByteCount
        objectByteCount = cell.objectByteCount
        source = cell.source
        isLocal = cell.isLocal
    }
}
