/// Small pictures side by side, one per cell: its ratio in each run, its levels, and the runs at which they change.
struct TrendChart: Picture {
    private static let panelHeight = 92.0
    private static let gap = 16.0
    private static let top = 56.0

    var name: String
    var title: String
    var description: String
    /// The panels, in rows from left to right.
    var panels: [Panel]

    struct Panel: Sendable {
        var name: String
        /// One value per run, all above 0; `nil` for a missing value.
        var values: [Double?]
        /// The levels: the runs of each, and its value.
        var levels: [(runs: Range<Int>, value: Double)]
        /// The start and end values of a drift; such a panel has no levels.
        var drift: (before: Double, after: Double)?

        /// A description of the panel.
        var words: String {
            let known = values.compactMap { $0 }
            guard let latest = known.last, let minimum = known.min(), let maximum = known.max() else {
                return "\(name): no ratios"
            }
            var steps = zip(levels, levels.dropFirst()).map { before, after in
                "\(TrendChart.change(after.value / before.value)) from run \(after.runs.lowerBound + 1) on"
            }
            if let drift { steps.append("a drift by \(TrendChart.change(drift.after / drift.before))") }
            return "\(name): \(RatioText.times(latest)) in the latest run, \(RatioText.times(minimum)) to "
                + "\(RatioText.times(maximum)) in all; \(steps.isEmpty ? "no change" : steps.joined(separator: ", "))"
        }
    }

    func draw(width: Double, to svg: inout SVGWriter) -> Double {
        let columns = Self.isWide(width) ? 4 : 2
        let panelWidth = (width - 32 - Self.gap * Double(columns - 1)) / Double(columns)
        for (index, panel) in panels.enumerated() {
            let left = 16 + Double(index % columns) * (panelWidth + Self.gap)
            let top = Self.top + Double(index / columns) * (Self.panelHeight + Self.gap)
            svg.value(panel.words) { draw(panel, left: left, top: top, width: panelWidth, to: &$0) }
        }
        let rows = Double((panels.count + columns - 1) / columns)
        return Self.top + rows * (Self.panelHeight + Self.gap)
    }

    private func draw(_ panel: Panel, left: Double, top: Double, width: Double, to svg: inout SVGWriter) {
        let latest = panel.values.last { $0 != nil }.flatMap { $0 }.map(RatioText.times) ?? "–"
        let available = width - TextWidth.estimate(latest) - 8
        svg.label(TextWidth.shortened(panel.name, to: available), x: left, y: top, class: "small")
        svg.label(latest, x: left + width, y: top, anchor: "end", class: "small")
        let (plotTop, plotBottom) = (top + 8, top + Self.panelHeight - 8)
        svg.line(from: (left, plotBottom), to: (left + width, plotBottom), class: "grid")
        guard let scale = Self.scale(panel.values.compactMap { $0 }, from: plotBottom - 4, to: plotTop + 4) else {
            return
        }
        let step = width / Double(max(panel.values.count, 1))
        func x(_ run: Int) -> Double { left + (Double(run) + 0.5) * step }
        let isMany = panel.values.count > 60
        for stretch in Self.stretches(panel.values) {
            if stretch.count > 1 { svg.path(stretch.map { (x($0.run), scale($0.value)) }, class: "leader trace") }
            guard !isMany || stretch.count == 1 else { continue }
            for point in stretch {
                let dot = Marker.commands(shape: 0, x: x(point.run), y: scale(point.value), radius: 1.8)
                svg.path(commands: dot, class: "bar")
            }
        }
        if let drift = panel.drift {
            let end = (x(panel.values.count - 1), scale(drift.after))
            svg.line(from: (x(0), scale(drift.before)), to: end, class: "whisker s1")
            svg.label(Self.change(drift.after / drift.before), x: left + 5, y: plotTop + 9, class: "small end")
        }
        for (index, level) in panel.levels.enumerated() {
            let (from, to) = (left + Double(level.runs.lowerBound) * step, left + Double(level.runs.upperBound) * step)
            let y = scale(level.value)
            svg.line(from: (from, y), to: (to, y), class: "whisker s0")
            guard index > 0 else { continue }
            svg.line(from: (from, plotTop), to: (from, plotBottom), class: "whisker s1")
            let change = Self.change(level.value / panel.levels[index - 1].value)
            // The label is beside the line if it fits; in the last quarter of a panel it is on the left.
            let isRight = from > left + width * 0.7
            svg.label(
                change, x: from + (isRight ? -5 : 5), y: plotTop + 9, anchor: isRight ? "end" : "start",
                class: "small end")
        }
    }

    /// Returns a factor as a change in percent with its sign: `+5.0 %`, `−12 %`.
    static func change(_ factor: Double) -> String {
        let sign = factor < 1 ? "−" : "+"
        return sign + RatioText.percent((factor - 1).magnitude)
    }

    /// Returns the runs with values, split at runs without one.
    private static func stretches(_ values: [Double?]) -> [[(run: Int, value: Double)]] {
        var stretches: [[(run: Int, value: Double)]] = []
        var isOpen = false
        for (run, value) in values.enumerated() {
            if let value {
                if !isOpen { stretches.append([]) }
                stretches[stretches.count - 1].append((run, value))
            }
            isOpen = value != nil
        }
        return stretches
    }

    /// Returns a logarithmic scale over all values. It covers at least 10 %, so that noise does not fill a panel.
    private static func scale(_ values: [Double], from start: Double, to end: Double) -> LogScale? {
        let positions = values.filter { $0 > 0 && $0.isFinite }.map { LogScale.position(of: $0, base: 2) }
        guard let low = positions.min(), let high = positions.max() else { return nil }
        let (middle, half) = ((low + high) / 2, max((high - low) / 2, 0.069))
        return LogScale(base: 2, lower: middle - half, upper: middle + half, start: start, end: end)
    }
}

/// The pictures of a machine's history: one for each group of cells that differ only in backend and window.
struct TrendPictures: Sendable {
    /// More panels than this make a page slow, and are too many to look at.
    private static let maxPanels = 160

    /// The pictures, in the order of their first cells.
    let charts: [TrendChart]
    let leftOutCount: Int

    /// Draws all cells, or the changed ones first if there are too many.
    init(_ host: HostHistory, number: Int) {
        let isMany = host.cells.count > Self.maxPanels
        let drawn =
            isMany
            ? Array((host.changedCells + host.cells.filter { !$0.isChanged }).prefix(Self.maxPanels)) : host.cells
        leftOutCount = host.cells.count - drawn.count
        let groups = CellGroups.groups(drawn, of: \.cell)
        charts = groups.enumerated().map { index, group in
            let (title, cells) = (group.title, group.elements)
            let names = CellNames(cells.map(\.cell))
            let changed = cells.count(where: \.isChanged)
            return TrendChart(
                name: "history-\(number)-\(index + 1)", title: title,
                description:
                    "\(RatioText.count(cells.count, "cell")) over \(RatioText.count(host.runs.count, "run")) as "
                    + "ratios to the reference, each on a logarithmic scale of its own; \(changed) with a change of "
                    + "level, marked by an upright line, or a drift, by a sloping one. The tables have all values.",
                panels: cells.map { Self.panel($0, names, host.runs.count) })
        }
    }

    private static func panel(_ cell: CellHistory, _ names: CellNames, _ runCount: Int) -> TrendChart.Panel {
        let ends = [0] + cell.changes.map(\.run) + [runCount]
        let values = cell.changes.isEmpty ? [] : cell.changes.map(\.before) + cell.changes.suffix(1).map(\.after)
        return TrendChart.Panel(
            name: cell.cell.label ?? names.name(of: cell.cell), values: cell.ratios,
            levels: values.enumerated().map { (ends[$0.offset]..<ends[$0.offset + 1], $0.element) },
            drift: cell.drift.map { ($0.before, $0.after) })
    }
}
