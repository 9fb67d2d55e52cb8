import Results

extension RunSummary {
    /// Throughput of the main series by backend and window, or `nil` if there is nothing to compare.
    var heatMap: HeatMap? {
        let grid = grid
        guard let best, let speed = best.speed, let main, grid.backends.count * grid.windows.count > 1 else {
            return nil
        }
        let windows = grid.windows.prefix(Self.maxColumns)
        let names = grid.backends.prefix(Self.maxLines)
        let missing = grid.windows.count - windows.count
        return HeatMap(
            name: "heat", title: "Throughput by backend and window",
            description:
                "The median throughput of \(main.description), as numbers on shades that go from slow to fast; "
                + "a frame stands around the best and what ties with it."
                + (missing > 0 ? " \(RatioText.count(missing, "larger window")) left out." : "") + Self.remark(grid),
            rows: Array(names), columns: windows.map(ByteCountText.size),
            values: names.map { name in
                windows.map { window in
                    guard let own = grid[name, window]?.speed else { return nil }
                    let isBest = own.ties(with: speed)
                    let words = ByteCountText.rate(own.bytesPerSecond)
                    let parts = words.split(separator: " ")
                    let tie = own == speed ? ", the best" : isBest ? ", ties with the best" : ""
                    return HeatMap.Value(
                        value: Double(own.bytesPerSecond), number: parts.first.map(String.init) ?? words,
                        unit: parts.last.map(String.init) ?? "",
                        words: "\(name), \(ByteCountText.size(window)) window: \(words)\(tie)", isBest: isBest)
                }
            })
    }

    /// More columns than this are too narrow for numbers.
    private static let maxColumns = 16
}
