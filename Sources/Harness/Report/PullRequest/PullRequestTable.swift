import Results

/// The one table of a comment: a row a backend, with its throughput by window as a line of letters.
struct PullRequestTable {
    private static let maxRows = 12
    private static let maxWindows = 24

    /// The table and what its letters stand for.
    let markdown: String

    /// Makes the table, or returns `nil` if no cell has a speed.
    init?(_ summary: RunSummary) {
        guard let made = Self.ofBackends(summary) ?? Self.ofCells(summary) else { return nil }
        markdown = made
    }

    /// The backends of the sequential read that most cells share.
    private static func ofBackends(_ summary: RunSummary) -> String? {
        guard let main = summary.main else { return nil }
        let all = summary.grid.windows
        let windows = thinned(all)
        let names = summary.grid.backends
        func rates(_ name: String) -> [Double?] {
            windows.map { window in
                summary.grid[name, window]?.speed.map { Double($0.bytesPerSecond) }
            }
        }
        guard let first = windows.first, let last = windows.last,
            let line = Sparkline(covering: names.flatMap(rates).compactMap { $0 })
        else { return nil }
        let rows = names.prefix(maxRows).compactMap { name -> [String]? in
            guard let best = RunSummary.fastest(in: summary.grid.cells(of: name)), let speed = best.speed else {
                return nil
            }
            return [
                RunSummary.short(name, 40), ByteCountText.size(best.cell.windowByteCount),
                ByteCountText.rate(speed.bytesPerSecond), speed.rangeText,
                best.memory.map { ByteCountText.growth($0.growthByteCount) } ?? "–",
                best.firstByte.map { DurationText.text(nanoseconds: $0.p50) } ?? "–",
                line.text(rates(name)),
            ].map(escaped)
        }
        var legend =
            "Throughput by window from \(ByteCountText.size(first)) to \(ByteCountText.size(last)), logarithmic: "
            + "▁ is \(ByteCountText.rate(UInt64(line.low))), █ \(ByteCountText.rate(UInt64(line.high))), one step "
            + "\(RatioText.times(line.step)). \(Sparkline.absent) was not measured."
        if windows.count < all.count { legend += " \(windows.count) of \(all.count) windows are drawn." }
        if names.count > maxRows { legend += " \(names.count - maxRows) more backends are in the full report." }
        return """
            \(RunSummary.short(main.description, 200)), sequential, each backend's fastest window:

            | Backend | Window | Throughput | 95 % | Memory | First byte | By window |
            | --- | ---: | ---: | ---: | ---: | ---: | --- |
            \(rows.map { "| \($0.joined(separator: " | ")) |" }.joined(separator: "\n"))

            \(legend)
            """
    }

    /// The first cells, where no ordinary sequential read was measured.
    private static func ofCells(_ summary: RunSummary) -> String? {
        let cells = summary.cells.filter { $0.speed != nil }
        guard !cells.isEmpty else { return nil }
        let rows = cells.prefix(maxRows).map { cell in
            [
                RunSummary.short(cell.cell.label.map { "\($0): \(cell.cell.id)" } ?? cell.cell.id, 160),
                cell.speed.map { ByteCountText.rate($0.bytesPerSecond) } ?? "–",
                cell.latency.map { DurationText.text(nanoseconds: $0.p50) } ?? "–",
                cell.memory.map { ByteCountText.growth($0.growthByteCount) } ?? "–",
            ].map(escaped)
        }
        let more = cells.count > maxRows ? "\n\n\(cells.count - maxRows) more cells are in the full report." : ""
        return """
            | Cell | Throughput | Median read | Memory |
            | --- | ---: | ---: | ---: |
            \(rows.map { "| \($0.joined(separator: " | ")) |" }.joined(separator: "\n"))\(more)
            """
    }

    /// Takes as many windows as letters fit, the first and the last among them.
    private static func thinned(_ windows: [UInt64]) -> [UInt64] {
        guard windows.count > maxWindows else { return windows }
        return (0..<maxWindows).map { windows[$0 * (windows.count - 1) / (maxWindows - 1)] }
    }

    /// `< 256 KiB` would begin an element.
    private static func escaped(_ text: String) -> String {
        text.hasPrefix("< ") ? "&lt;" + text.dropFirst() : text
    }
}
