import Results

extension RunSummary {
    /// Random reads of one configuration, one cell a backend.
    struct RangeGroup: Sendable {
        /// A short name for the configuration.
        var name: String
        /// What else tells it from others.
        var detail: String
        /// The cells in the order of the backends.
        var cells: [CellSummary]
    }

    /// The random workload that most cells measured the latency of, or `nil` if there is none.
    var mainRandomWorkload: String? {
        var counts: [(workload: String, count: Int)] = []
        for cell in cells
        where cell.latency != nil && cell.cell.workload.hasPrefix("random") && Series(cell.cell).isLocal {
            if let index = counts.firstIndex(where: { $0.workload == cell.cell.workload }) {
                counts[index].count += 1
            } else {
                counts.append((cell.cell.workload, 1))
            }
        }
        var most: (workload: String, count: Int)?
        for entry in counts where entry.count > (most?.count ?? 0) { most = entry }
        return most?.workload
    }

    /// The configurations of the main random workload: block access first, small chunks first, published ones last.
    ///
    /// Where several windows were measured, the one with the lowest median latency stands for the configuration.
    var rangeGroups: [RangeGroup] {
        guard let workload = mainRandomWorkload else { return [] }
        var keys: [RangeKey] = []
        var members: [RangeKey: [CellSummary]] = [:]
        for cell in cells where cell.latency != nil && cell.cell.workload == workload && Series(cell.cell).isLocal {
            let key = RangeKey(cell.cell)
            if members[key] == nil { keys.append(key) }
            members[key, default: []].append(cell)
        }
        let order = keys.indices.sorted { (keys[$0].rank, $0) < (keys[$1].rank, $1) }
        return order.map { index in
            let group = members[keys[index]] ?? []
            let cells = backends.compactMap { name in
                group.filter { $0.cell.backend == name }
                    .min { ($0.latency?.p50 ?? .max) < ($1.latency?.p50 ?? .max) }
            }
            return RangeGroup(name: keys[index].name, detail: keys[index].detail, cells: cells)
        }
    }

    /// Latency and amplification of random reads by configuration, or `nil` if none was measured.
    var rangeChart: RangeChart? {
        let groups = rangeGroups
        guard let workload = mainRandomWorkload, !groups.isEmpty else { return nil }
        let names = backends.filter { name in groups.contains { $0.cells.contains { $0.cell.backend == name } } }
        return RangeChart(
            title: "Random reads (\(workload)) by access and chunk size",
            description: "For each configuration, the median and 99th percentile of a read's latency for every backend "
                + "on a logarithmic scale, and the ciphertext bytes fetched per plaintext byte delivered. The table "
                + "beside the picture has all values.",
            backends: names.map { ($0, style(of: $0)) },
            rows: groups.map { group in
                RangeChart.Row(
                    name: group.name, detail: group.detail,
                    fetched: group.cells.compactMap { $0.amplification?.fetched }.max(),
                    marks: group.cells.compactMap { cell in
                        cell.latency.map {
                            RangeChart.Mark(style: style(of: cell.cell.backend), p50: $0.p50, p99: $0.p99)
                        }
                    }
                )
            }
        )
    }
}

/// What random reads must share to stand in one row; the window is left out on purpose.
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
