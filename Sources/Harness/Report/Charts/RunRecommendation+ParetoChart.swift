import Results

extension RunRecommendation {
    /// Throughput against memory, or `nil` if no compared configuration has a memory figure.
    var paretoChart: ParetoChart? {
        let all = pool.cells.compactMap(point)
        guard !all.isEmpty else { return nil }
        let points = Self.drawn(all)
        let drawn = points.count < all.count ? " \(points.count) of them are drawn." : ""
        let names = summary.backends.filter { name in pool.cells.contains { $0.cell.backend == name } }
        let choice =
            advice.choice.map { candidate in
                let figures = Figures(candidate)
                return " The choice is \(label(candidate)): \(figures.throughput) and \(figures.memory)."
            } ?? ""
        return ParetoChart(
            title: "Throughput against memory",
            description:
                "Each shape is one measured configuration, \(comparedText).\(drawn) Both axes are logarithmic. The dashed "
                + "line is the front: the most throughput that can be had for at most that much memory.\(choice) The table "
                + "below the picture has the values.",
            backends: names.map { ($0, summary.style(of: $0)) }, points: points,
            choiceName: advice.choice.map { label($0) })
    }

    /// The most points of a picture; more cannot be told apart.
    private static let maxPoints = 400

    /// Where there are too many points, the front, the choice, and of the others every few.
    private static func drawn(_ points: [ParetoChart.Point]) -> [ParetoChart.Point] {
        guard points.count > maxPoints else { return points }
        let front = Set(
            ParetoChart(title: "", description: "", backends: [], points: points, choiceName: nil).front)
        let step = points.count / maxPoints + 1
        return points.enumerated().filter { index, point in
            point.isChoice || index.isMultiple(of: step) || front.contains(point)
        }.map(\.element)
    }

    private func point(_ summary: CellSummary) -> ParetoChart.Point? {
        guard let speed = summary.speed, let memory = summary.memory else { return nil }
        let window = summary.cell.windowByteCount
        let isMarked = Self.commonSizes.contains(window) || Self.commonSizes.contains(summary.cell.chunkByteCount ?? 0)
        let mark =
            Self.commonSizes.contains(window)
            ? ByteCountText.size(window) : "\(ByteCountText.size(summary.cell.chunkByteCount ?? 0)) chunks"
        return ParetoChart.Point(
            style: self.summary.style(of: summary.cell.backend),
            memory: max(memory.growthByteCount, ParetoChart.minMemory), bytesPerSecond: speed.bytesPerSecond,
            low: speed.hasInterval ? speed.bytesPerSecondLow : speed.bytesPerSecond,
            high: speed.hasInterval ? speed.bytesPerSecondHigh : speed.bytesPerSecond,
            mark: isMarked ? mark : nil, isChoice: summary.cell.id == advice.choice?.id,
            words: "\(summary.cell.backend), \(ByteCountText.size(window)) windows: "
                + "\(ByteCountText.rate(speed.bytesPerSecond)), \(ByteCountText.growth(memory.growthByteCount))")
    }

    /// The sizes of the two articles.
    private static let commonSizes: Set<UInt64> = [16_000_000, 104_857_600]
}
