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
    /// the one with the lowest median latency is taken for random reads, and otherwise the one that is recommended.
    func alternative(to published: CellSummary) -> CellSummary? {
        let work = published.cell.work
        return Self.alternative(
            to: published.cell, among: cells.filter { Self.isOrdinary($0) && $0.cell.work == work })
    }

    /// Every published configuration that was measured and has an alternative, one configuration after the other.
    var comparisons: [Comparison] {
        let published = labelledCells.filter { $0.speed != nil }
        guard !published.isEmpty else { return [] }
        let ordinary = Dictionary(grouping: cells.filter(Self.isOrdinary)) { $0.cell.work }
        return published.grouped(by: \.cell.label).flatMap(\.elements).compactMap { published in
            Self.alternative(to: published.cell, among: ordinary[published.cell.work] ?? []).map {
                Comparison(published: published, alternative: $0)
            }
        }
    }

    /// Says whether a cell reads only the blocks it needs, reproduces nothing and has a speed.
    private static func isOrdinary(_ cell: CellSummary) -> Bool {
        cell.speed != nil && cell.cell.label == nil && cell.cell.access == "block"
            && cell.facts?.isTagged != true
    }

    private static func alternative(to cell: Cell, among candidates: [CellSummary]) -> CellSummary? {
        let sameFormat = candidates.filter { $0.cell.format == cell.format }
        let sameStrategy = sameFormat.filter { $0.cell.strategy == cell.strategy }
        let closest = [sameStrategy, sameFormat, candidates].first { !$0.isEmpty } ?? []
        if cell.workload.hasPrefix("random"), let quickest = quickest(in: closest) { return quickest }
        let choice = NearBest(closest.compactMap { Candidate($0) }).members.first
        return closest.first { $0.cell.id == choice?.id }
    }

    /// The cell with the lowest median latency; of equals the first.
    static func quickest(in cells: [CellSummary]) -> CellSummary? {
        cells.filter { $0.latency != nil }.min { $0.latency?.p50 ?? .max < $1.latency?.p50 ?? .max }
    }
}

extension Cell {
    /// What two cells must share to do the same work, whatever their format: the rest of the cell is that of any other.
    fileprivate var work: Cell {
        var work = Cell(
            backend: backend, strategy: "", windowByteCount: 0, workload: workload, threads: threads,
            keyByteCount: keyByteCount, objectByteCount: objectByteCount, source: source)
        work.isCold = !isLocal
        return work
    }
}
