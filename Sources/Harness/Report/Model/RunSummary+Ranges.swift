import Results

extension RunSummary {
    /// Reads of one configuration, one cell a backend.
    struct RangeGroup: Sendable {
        var workload: String
        var name: String
        var detail: String
        /// The cells in the order of the backends.
        var cells: [CellSummary]
    }

    /// The random workload that most cells measured the latency of, or `nil` if there is none.
    var mainRandomWorkload: String? { workloads("random").first }

    /// The configurations of the workloads of a kind: those that most cells measured first; in each, block access first,
    /// small chunks first, published ones last.
    ///
    /// Where several windows were measured, the one with the lowest median latency stands for the configuration.
    /// - Parameter kind: How the workloads begin: `random` or `trace`.
    /// - Returns: The configurations.
    func rangeGroups(_ kind: String) -> [RangeGroup] {
        let workloads = workloads(kind)
        var keys: [RangeKey] = []
        var members: [RangeKey: [CellSummary]] = [:]
        for cell in cells where cell.isRangeRead(kind) {
            let key = RangeKey(cell.cell)
            if members[key] == nil { keys.append(key) }
            members[key, default: []].append(cell)
        }
        var workloadOrder: [String: Int] = [:]
        for (index, workload) in workloads.enumerated() { workloadOrder[workload] = index }
        func rank(_ key: RangeKey) -> Int { workloadOrder[key.series.workload] ?? workloads.count }
        let order = keys.indices.sorted { (rank(keys[$0]), keys[$0].rank, $0) < (rank(keys[$1]), keys[$1].rank, $1) }
        return order.map { index in
            let key = keys[index]
            var quickest: [String: CellSummary] = [:]
            for cell in members[key] ?? [] {
                let name = cell.cell.backend
                if let known = quickest[name]?.latency, known.p50 <= cell.latency?.p50 ?? .max { continue }
                quickest[name] = cell
            }
            return RangeGroup(
                workload: key.series.workload, name: key.name, detail: key.detail,
                cells: backends.compactMap { quickest[$0] })
        }
    }

    /// The workloads of a kind, those that most cells measured the latency of first.
    private func workloads(_ kind: String) -> [String] {
        var order: [String] = []
        var counts: [String: Int] = [:]
        for cell in cells where cell.isRangeRead(kind) {
            if counts[cell.cell.workload] == nil { order.append(cell.cell.workload) }
            counts[cell.cell.workload, default: 0] += 1
        }
        func count(_ index: Int) -> Int { counts[order[index]] ?? 0 }
        return order.indices.sorted { (-count($0), $0) < (-count($1), $1) }.map { order[$0] }
    }
}

extension CellSummary {
    /// Whether this is a cell of ranges of a kind, whose ciphertext is not waited for, with latencies.
    fileprivate func isRangeRead(_ kind: String) -> Bool {
        latency != nil && cell.workload.hasPrefix(kind) && cell.isLocal
    }
}

/// What range reads must share to stand in one row; the window is left out on purpose.
private struct RangeKey: Hashable {
    var series: Series
    var label: String?

    init(_ cell: Cell) {
        series = Series(cell)
        label = cell.label
    }

    var name: String {
        if let label { return label }
        return series.chunkByteCount.map { "\(ByteCountText.size($0)) chunks" } ?? "one chunk"
    }

    var detail: String {
        let chunk = label == nil ? nil : series.chunkByteCount.map { "\(ByteCountText.size($0)) chunks" }
        let threads = series.threads > 1 ? RatioText.count(series.threads, "thread") : nil
        return [label == nil ? series.strategy : nil, chunk, series.access, threads].compactMap { $0 }.joined(
            separator: ", ")
    }

    /// A number that sorts block access before others, small chunks before large ones, and published ones last.
    var rank: UInt64 {
        let chunk = min(series.chunkByteCount ?? 0, 1 << 60)
        return chunk + (series.access == "block" ? 0 : 1 << 61) + (label == nil ? 0 : 1 << 62)
    }
}
