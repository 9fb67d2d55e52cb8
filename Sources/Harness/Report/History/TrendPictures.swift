/// The pictures of a machine's history: one a group of cells that differ in backend and window only.
struct TrendPictures: Sendable {
    /// More panels than these make a page slow and are looked at by nobody.
    private static let maxPanels = 160

    /// The pictures, in the order of their first cells.
    let charts: [TrendChart]
    /// How many cells have no panel.
    let leftOutCount: Int

    /// Makes pictures of all cells, or of the changed ones first where there are too many.
    init(_ host: HostHistory, number: Int) {
        let isMany = host.cells.count > Self.maxPanels
        let drawn =
            isMany
            ? Array((host.changedCells + host.cells.filter(\.changes.isEmpty)).prefix(Self.maxPanels)) : host.cells
        leftOutCount = host.cells.count - drawn.count
        let groups = CellGroups.groups(drawn, of: \.cell)
        charts = groups.enumerated().map { index, group in
            let (title, cells) = (group.title, group.elements)
            let names = CellNames(cells.map(\.cell))
            let changed = cells.count { !$0.changes.isEmpty }
            return TrendChart(
                name: "history-\(number)-\(index + 1)", title: title,
                description:
                    "\(RatioText.count(cells.count, "cell")) over \(RatioText.count(host.runs.count, "run")) as "
                    + "ratios to the reference, each on a logarithmic scale of its own; \(changed) with a change of level, "
                    + "which is marked by an upright line. The tables have all values.",
                panels: cells.map { Self.panel($0, names, host.runs.count) })
        }
    }

    private static func panel(_ cell: CellHistory, _ names: CellNames, _ runCount: Int) -> TrendChart.Panel {
        let ends = [0] + cell.changes.map(\.run) + [runCount]
        let values = cell.changes.isEmpty ? [] : cell.changes.map(\.before) + cell.changes.suffix(1).map(\.after)
        return TrendChart.Panel(
            name: cell.cell.label ?? names.name(of: cell.cell), values: cell.ratios,
            levels: values.enumerated().map { (ends[$0.offset]..<ends[$0.offset + 1], $0.element) })
    }
}
