import Results

extension RunSummary {
    /// Returns latencies of range reads by workload and configuration, or `nil` if none were measured.
    /// - Parameters:
    ///   - kind: The prefix of the workloads: `random` or `trace`.
    ///   - name: The picture's name.
    ///   - title: The picture's title.
    /// - Returns: The picture, or `nil`.
    func latencyChart(_ kind: String, name: String, title: String) -> RowChart? {
        let groups = rangeGroups(kind)
        guard !groups.isEmpty else { return nil }
        let drawn = groups.prefix(RowChart.maxRows)
        let rows = rows(Array(drawn)) { $0.cells.compactMap(latencyLane) }
        let names = backends.filter { name in drawn.contains { $0.cells.contains { $0.cell.backend == name } } }
        return RowChart(
            name: name, title: title,
            description: "How long one read takes, on a logarithmic axis: from the median, which the backend's shape "
                + "stands on, over strokes at the 90th, 99th and 99.9th percentile, as far as the number of reads "
                + "supports them, to a ring at the longest read." + RowChart.remark(groups.count),
            legend: names.map { ChartLegend.Entry(text: $0, sample: .mark(SeriesStyle(style(of: $0)))) }
                + [ChartLegend.Entry(text: "shape: median; strokes: p90, p99, p99.9; ring: longest", sample: .none)],
            axis: .init(title: "latency of one read", scale: .nanoseconds),
            rows: rows, nameWidth: RowChart.nameWidth(of: rows))
    }

    /// Ciphertext bytes per plaintext byte by workload and configuration, or `nil` if none were measured.
    var amplificationChart: RowChart? {
        let groups = (rangeGroups("random") + rangeGroups("trace"))
            .filter { $0.cells.contains { $0.amplification != nil } }
        guard !groups.isEmpty else { return nil }
        let rows = rows(Array(groups.prefix(RowChart.maxRows)), lanes: amplificationLanes)
        return RowChart(
            name: "amplification", title: "Amplification by workload",
            description: "Ciphertext bytes that are fetched, and that are decrypted, for each plaintext byte that is "
                + "delivered, on a logarithmic axis; 1× is the least. The larger one of several backends is drawn."
                + RowChart.remark(groups.count),
            legend: [
                .init(text: "fetched (upper bar)", sample: .bar),
                .init(text: "decrypted (lower bar)", sample: .lightBar),
            ],
            axis: .init(title: "ciphertext bytes per plaintext byte", scale: .decades),
            rows: rows, nameWidth: RowChart.nameWidth(of: rows))
    }

    private func rows(_ groups: [RangeGroup], lanes: (RangeGroup) -> [RowChart.Lane]) -> [RowChart.Row] {
        var workload: String?
        return groups.map { group in
            defer { workload = group.workload }
            return RowChart.Row(
                heading: group.workload == workload ? nil : group.workload, name: group.name, detail: group.detail,
                lanes: lanes(group))
        }
    }

    private func latencyLane(_ cell: CellSummary) -> RowChart.Lane? {
        guard let latency = cell.latency else { return nil }
        let all = latency.percentiles.map { Double($0.nanoseconds) }
        return RowChart.Lane(
            style: SeriesStyle(style(of: cell.cell.backend)),
            line: (Double(latency.p50), Double(max(latency.max, latency.p50))),
            ticks: Array(all.dropFirst().dropLast()),
            point: Double(latency.p50), ring: Double(latency.max),
            label: DurationText.text(nanoseconds: latency.p50),
            words: "\(cell.cell.backend), \(cell.cell.workload), \(cell.cell.access): \(latency.words)")
    }

    private func amplificationLanes(_ group: RangeGroup) -> [RowChart.Lane] {
        func lane(_ word: String, isLight: Bool, _ member: (CellSummary.Amplification) -> Double?) -> RowChart.Lane? {
            group.cells.compactMap { $0.amplification.flatMap(member) }.max().map { ratio in
                RowChart.Lane(
                    style: SeriesStyle(0), bar: ratio, isLight: isLight, label: RatioText.times(ratio),
                    words: "\(group.workload), \(group.name), \(group.detail): \(RatioText.times(ratio)) \(word)")
            }
        }
        return [
            lane("fetched", isLight: false, { $0.fetched }), lane("decrypted", isLight: true, \.decrypted),
        ].compactMap { $0 }
    }
}

extension RatioGrid {
    /// Returns the ratios as a forest plot: one row per window, one lane per backend.
    /// - Parameter style: Returns the number of a backend, which determines its colour and shape.
    /// - Returns: The picture.
    func chart(style: (String) -> Int) -> RowChart {
        let reference = "\(best.cell.backend) with \(ByteCountText.size(best.cell.windowByteCount)) windows"
        let missing = windowCount - windows.count
        return RowChart(
            name: "ratios", title: "Throughput against the best",
            description:
                "Each backend and window against \(reference), the fastest of all: the ratio of the medians with "
                + "its 95 % interval, on a logarithmic axis; an arrow stands for less than an eighth. An interval that "
                + "holds 1 does not tell the two apart."
                + (missing > 0
                    ? " \(RatioText.count(missing, "larger window is", "larger windows are")) left out." : ""),
            legend: backends.map { ChartLegend.Entry(text: $0, sample: .mark(SeriesStyle(style($0)))) }
                + [ChartLegend.Entry(text: "line: 95 % interval", sample: .none)],
            axis: .init(
                title: "throughput ÷ that of \(reference)", scale: LogAxis(base: 2, label: Self.label), minimum: 0.125,
                reference: 1),
            rows: windows.map { window in
                RowChart.Row(
                    heading: nil, name: ByteCountText.size(window), detail: "",
                    lanes: backends.compactMap { lane($0, window, style: SeriesStyle(style($0))) })
            })
    }

    private func lane(_ backend: String, _ window: UInt64, style: SeriesStyle) -> RowChart.Lane? {
        let name = "\(backend), \(ByteCountText.size(window)) window"
        if isBest(backend, window) {
            return RowChart.Lane(style: style, point: 1, label: "reference", words: "\(name): the reference")
        }
        guard let pair = self[backend, window] else { return nil }
        return pair.lane(name, style: style)
    }

    private static func label(power: Int) -> String? {
        switch power {
        case 0...20: "\(1 << power)×"
        case -20 ... -1: "1/\(1 << -power)×"
        default: nil
        }
    }
}
