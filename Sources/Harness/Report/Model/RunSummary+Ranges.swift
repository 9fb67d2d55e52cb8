import Results

extension RunSummary {
    /// Range reads of one configuration, one cell per backend.
    struct RangeGroup: Sendable {
        var workload: String
        var name: String
        var detail: String
        /// The cells in the order of the backends.
        var cells: [CellSummary]
    }

    /// The random workload that has the most cells with latencies, or `nil` if there is none.
    var mainRandomWorkload: String? { workloads("random").first?.key }

    /// Returns the configurations of the workloads of a kind, those of the workload with the most cells first. Within a
    /// workload, block access comes first, small chunks come before large ones, and published configurations come last.
    ///
    /// If several windows were measured, the one with the lowest median latency represents the configuration.
    /// - Parameter kind: The prefix of the workloads: `random` or `trace`.
    /// - Returns: The configurations.
    func rangeGroups(_ kind: String) -> [RangeGroup] {
        workloads(kind).flatMap { _, cells in
            let names = RangeNames(cells.map(\.cell))
            let groups = cells.grouped { RangeKey($0.cell) }.enumerated()
            return groups.sorted { ($0.element.key.rank, $0.offset) < ($1.element.key.rank, $1.offset) }.map {
                _, group in
                let (key, cells) = group
                return RangeGroup(
                    workload: key.series.workload, name: key.name,
                    detail: names.detail(of: key, readsWhole: cells.first?.facts?.isTagged == true),
                    cells: backends.compactMap { name in Self.quickest(in: cells.filter { $0.cell.backend == name }) })
            }
        }
    }

    /// Returns the workloads of a kind with their cells that have latencies, those with the most cells first.
    private func workloads(_ kind: String) -> [(key: String, elements: [CellSummary])] {
        cells.filter { $0.isRangeRead(kind) }.grouped(by: \.cell.workload).enumerated()
            .sorted { ($1.element.elements.count, $0.offset) < ($0.element.elements.count, $1.offset) }
            .map(\.element)
    }
}

extension CellSummary {
    /// Returns whether this is a cell of range reads of a kind, with latencies.
    fileprivate func isRangeRead(_ kind: String) -> Bool { latency != nil && cell.workload.hasPrefix(kind) }
}

/// The members that range reads must share to be in one row. The window is left out on purpose.
private struct RangeKey: Hashable {
    var series: Series
    var label: String?

    init(_ cell: Cell) {
        series = Series(cell)
        label = cell.label
    }

    var name: String {
        if let label { return label }
        return series.cell.chunkText.map { "\($0) chunks" } ?? "one chunk"
    }

    /// A number that sorts block access before others, small chunks before large ones, and published ones last.
    var rank: UInt64 {
        let chunk = min(series.chunkByteCount ?? 0, 1 << 60)
        return chunk + (series.access == .block ? 0 : 1 << 61) + (label == nil ? 0 : 1 << 62)
    }
}

/// Names of configurations in a table or picture. A part that differs between any two of them is in all names.
private struct RangeNames {
    private let differs: [Bool]

    private static let parts: [@Sendable (Cell) -> String?] = [
        { $0.keyName }, { "of \(ByteCountText.size($0.objectByteCount))" },
        { cell in cell.isLocal && cell.source == "file" ? nil : ComparisonGroup(cell).location },
    ]

    init(_ cells: [Cell]) {
        differs = Self.parts.map { Set(cells.map($0)).count > 1 }
    }

    func detail(of key: RangeKey, readsWhole: Bool) -> String {
        let cell = key.series.cell
        let access = readsWhole && cell.access == .block ? "whole chunks" : cell.access.rawValue
        let threads = cell.threads > 1 ? RatioText.count(cell.threads, "thread") : nil
        let told = zip(Self.parts, differs).filter(\.1).map { $0.0(cell) }
        return ([cell.strategy, access, threads] + told).compactMap { $0 }.joined(separator: ", ")
    }
}
