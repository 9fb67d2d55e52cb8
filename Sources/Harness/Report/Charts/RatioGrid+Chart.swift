import Results

extension RatioGrid {
    /// The ratios as a forest plot: a row a window, a lane a backend.
    /// - Parameter style: The number of a backend, from which its colour and shape follow.
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
                title: "throughput ÷ that of \(reference)", base: 2, label: Self.label, minimum: 0.125, reference: 1),
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
        let ratio = pair.ratio
        return RowChart.Lane(
            style: style, line: (ratio.low, ratio.high), ticks: pair.hasInterval ? [ratio.low, ratio.high] : [],
            point: ratio.ratio, label: RatioText.times(ratio.ratio),
            words: "\(name): \(RatioText.times(ratio.ratio)), \(pair.hasInterval ? "95 %: " : "")\(pair.intervalText)")
    }

    private static func label(power: Int) -> String? {
        switch power {
        case 0...20: "\(1 << power)×"
        case -20 ... -1: "1/\(1 << -power)×"
        default: nil
        }
    }
}
