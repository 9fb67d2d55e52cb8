/// A history for a terminal: lines of letters, at most 80 columns where names allow.
enum TrendText {
    private static let lineLength = 32

    /// Returns the text.
    static func render(_ history: History) -> String {
        var parts = history.findings.map { WrappedText.lines($0) }
        for host in history.hosts {
            let title = "\(host.host.name), \(host.host.cpuModel): \(RatioText.count(host.runs.count, "run"))"
            parts.append(WrappedText.lines(title))
            parts += changes(host)
            guard !host.cells.isEmpty else { continue }
            parts.append(
                "OVER TIME\n"
                    + WrappedText.lines(
                        "each line from its least (▁) to its greatest ratio (█), logarithmic; | marks a change of level; "
                            + "the figure is the latest ratio"))
            parts += TrendPictures.groups(host.cells).map { group in
                let names = CellNames(group.cells.map(\.cell))
                return WrappedText.lines(group.title) + "\n"
                    + group.cells.map { line($0, names) }.joined(separator: "\n")
            }
        }
        if !history.skipped.isEmpty {
            parts.append(
                "SKIPPED\n"
                    + history.skipped.map { WrappedText.lines("\($0.path): \($0.reason)", indent: 4) }
                    .joined(separator: "\n"))
        }
        if let reference = history.reference, let anchor = history.hosts.compactMap(\.anchor).first {
            parts.append(
                WrappedText.lines(
                    "Ratios are throughput ÷ that of the same configuration of \(reference) in the same run; where there "
                        + "is none, and for \(reference) itself, ÷ that of \(anchor.id)."))
        }
        return TextRenderer.plainLines(parts.joined(separator: "\n\n"))
    }

    /// Returns as many values as a line has room for: the middle one of each group of neighbours.
    static func thinned(_ values: [Double?]) -> [Double?] {
        guard values.count > lineLength else { return values }
        return (0..<lineLength).map { place in
            let range = place * values.count / lineLength..<(place + 1) * values.count / lineLength
            let known = values[range].compactMap { $0 }.sorted()
            return known.isEmpty ? nil : known[known.count / 2]
        }
    }

    /// More cells than these of one run are counted and not listed.
    private static let mostCells = 6

    /// The changes by the run from which on they are there: what changes together has one reason more often than many.
    private static func changes(_ host: HostHistory) -> [String] {
        let all = host.changedCells.flatMap { cell in cell.changes.map { (cell: cell.cell, change: $0) } }
        let groups = Dictionary(grouping: all, by: \.change.run).sorted { $0.key < $1.key }
        guard !groups.isEmpty else { return [] }
        let texts = groups.map { number, changes in
            let run = host.runs[number]
            let ordered = changes.enumerated()
                .sorted { ($1.element.change.distance, $0.offset) < ($0.element.change.distance, $1.offset) }
                .map(\.element)
            var lines = [
                "run \(number + 1), \(run.header.startedAt), \(run.path): \(RatioText.count(changes.count, "cell"))"
            ]
            lines += (ordered.first?.change.differences ?? []).map {
                WrappedText.lines("\($0.name): \($0.a) → \($0.b)", first: "  ", indent: 4)
            }
            lines += ordered.prefix(mostCells).map {
                WrappedText.lines(
                    $0.cell.id, first: "  \(WrappedText.padded($0.change.text, to: 8, isNumeric: true))  ")
            }
            if ordered.count > mostCells { lines.append("  and \(ordered.count - mostCells) more, not as large") }
            return lines.joined(separator: "\n")
        }
        return ["CHANGES, by the first run on the new level\n" + texts.joined(separator: "\n")]
    }

    private static func line(_ cell: CellHistory, _ names: CellNames) -> String {
        let values = cell.ratios.compactMap { $0 }
        let letters = Sparkline(covering: values).map { $0.text(thinned(cell.ratios)) } ?? ""
        let width = min(cell.ratios.count, lineLength)
        var line = Array(letters)
        for change in cell.changes.reversed() {
            let place = cell.ratios.count > lineLength ? change.run * lineLength / cell.ratios.count : change.run
            line.insert("|", at: min(place, line.count))
        }
        let latest = WrappedText.padded(values.last.map(RatioText.times) ?? "–", to: 8, isNumeric: true)
        return "\(WrappedText.padded(String(line), to: width + 2)) \(latest)  \(names.name(of: cell.cell))"
    }
}
