import Results

/// Short names for the cells of a table: what all of them share is said once.
struct CellNames {
    /// What all cells share, or nothing where there is one cell only.
    let shared: String

    private let sharedParts: Set<Substring>

    init(_ cells: [Cell]) {
        let parts = cells.map { $0.id.split(separator: " ") }
        let first = cells.count > 1 ? parts.first ?? [] : []
        let common = parts.dropFirst().reduce(Set(first)) { $0.intersection($1) }
        shared = first.filter(common.contains).map(Self.readable).joined(separator: " ")
        sharedParts = common
    }

    /// What tells a cell from the others of the table.
    func name(of cell: Cell) -> String {
        let parts = cell.id.split(separator: " ").filter { !sharedParts.contains($0) }
        return (parts.isEmpty ? cell.id.split(separator: " ") : parts).map(Self.readable).joined(separator: " ")
    }

    /// A whole cell, in the units in which people write.
    static func readable(_ cell: Cell) -> String {
        cell.id.split(separator: " ").map(readable).joined(separator: " ")
    }

    /// A part with its value as people write it: `window=64KiB`, `latency=20ms`.
    private static func readable(_ part: Substring) -> String {
        let sides = part.split(separator: "=", maxSplits: 1)
        guard sides.count == 2 else { return String(part) }
        let digits = sides[1].prefix { $0.isASCII && $0.isNumber }
        guard let value = UInt64(digits) else { return String(part) }
        let text: String? =
            switch (sides[0], sides[1].dropFirst(digits.count)) {
            case ("window", ""), ("chunk", ""), ("object", ""):
                value % 1000 == 0 || value % 1024 == 0 ? ByteCountText.size(value) : nil
            case ("bandwidth", "B/s"): ByteCountText.size(value) + "/s"
            case ("latency", "ns"): whole(nanoseconds: value)
            default: nil
            }
        return text.map { "\(sides[0])=\($0.filter { !$0.isWhitespace })" } ?? String(part)
    }

    /// A duration in the largest unit in which it is whole.
    private static func whole(nanoseconds: UInt64) -> String {
        let units = [("s", UInt64(1_000_000_000)), ("ms", 1_000_000), ("µs", 1000)]
        let unit = units.first { nanoseconds >= $0.1 && nanoseconds.isMultiple(of: $0.1) } ?? ("ns", 1)
        return "\(nanoseconds / unit.1)\(unit.0)"
    }
}

/// Puts things of cells together that differ in backend and window only, so that names can be short.
enum CellGroups {
    struct Group<Element> {
        var title: String
        /// Its elements, in their order.
        var elements: [Element]
    }

    /// Returns the groups in the order of their first elements; those of one element are put together at the end.
    static func groups<Element>(_ elements: [Element], of cell: (Element) -> Cell) -> [Group<Element>] {
        let all = elements.grouped { Series(cell($0)) }
        let groups = all.filter { $0.elements.count > 1 }.map { series, elements in
            Group(title: "\(series.workload), \(series.description)", elements: elements)
        }
        let single = all.map(\.elements).filter { $0.count == 1 }.flatMap { $0 }
        guard !single.isEmpty else { return groups }
        return groups + [Group(title: groups.isEmpty ? "single reads" : "other reads", elements: single)]
    }
}
