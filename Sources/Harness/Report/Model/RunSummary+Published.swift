import Results
import Support

extension RunSummary {
    /// A configuration as it was published, beside a better one of the same backend.
    struct Comparison: Sendable {
        var published: CellSummary
        var alternative: CellSummary
    }

    /// Returns a measured cell that reproduces a published configuration, preferably one of the backend named.
    /// - Parameters:
    ///   - access: The cell's access policy.
    ///   - workload: The prefix of the cell's workload.
    ///   - backend: The backend that is preferred.
    /// - Returns: The cell, or `nil` if there is none.
    func published(access: AccessPolicy, workload: String, preferring backend: String?) -> CellSummary? {
        let candidates = cells.filter {
            $0.speed != nil && $0.cell.label != nil && $0.cell.access == access && $0.cell.workload.hasPrefix(workload)
        }
        return candidates.first { $0.cell.backend == backend } ?? candidates.first
    }

    /// Returns the ordinary cell that does the same work with the same backend by reading only the blocks it needs.
    ///
    /// Prefers the same strategy, then the same format, so that as little as possible differs. Of several windows, it
    /// takes the one with the lowest median latency for random reads, and otherwise the recommended one.
    func alternative(to published: CellSummary) -> CellSummary? {
        let work = published.cell.work
        return Self.alternative(
            to: published.cell, among: cells.filter { Self.isOrdinary($0) && $0.cell.work == work })
    }

    /// The published configurations that were measured and have an alternative, grouped by configuration.
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

    /// Returns whether a cell reads only the blocks it needs, reproduces nothing published and has a speed.
    private static func isOrdinary(_ cell: CellSummary) -> Bool {
        cell.speed != nil && cell.cell.label == nil && cell.cell.access == .block
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

    /// Returns the cell with the lowest median latency; of equal ones, the first.
    static func quickest(in cells: [CellSummary]) -> CellSummary? {
        cells.filter { $0.latency != nil }.min { $0.latency?.p50 ?? .max < $1.latency?.p50 ?? .max }
    }
}

extension Cell {
    /// The members that two cells must share to do the same work. The other members, such as those of the format, are
    /// blank.
    fileprivate var work: Cell {
        var work = Cell(
            backend: backend, strategy: "", windowByteCount: 0, workload: workload, threads: threads,
            keyByteCount: keyByteCount, objectByteCount: objectByteCount, source: source)
        work.isCold = !isLocal
        return work
    }
}
