import Results

/// Short names for the cells of a table: what all of them share is said once.
struct CellNames {
    /// What all cells share, or nothing where there is one cell only.
    let shared: String

    private let sharedParts: Set<Substring>

    /// Takes the cells of a table.
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

    /// A part with its byte count as people write it: `window=64KiB`.
    private static func readable(_ part: Substring) -> String {
        let sides = part.split(separator: "=", maxSplits: 1)
        guard sides.count == 2, ["window", "chunk", "object"].contains(sides[0]), let byteCount = UInt64(sides[1]),
            byteCount % 1000 == 0 || byteCount % 1024 == 0
        else {
            return String(part)
        }
        return "\(sides[0])=\(ByteCountText.size(byteCount).filter { !$0.isWhitespace })"
    }
}

/// Puts things of cells together that differ in backend and window only, so that names can be short.
enum CellGroups {
    /// A group.
    struct Group<Element> {
        /// What its cells share.
        var title: String
        /// Its elements, in their order.
        var elements: [Element]
    }

    /// Returns the groups in the order of their first elements; those of one element are put together at the end.
    static func groups<Element>(_ elements: [Element], of cell: (Element) -> Cell) -> [Group<Element>] {
        var order: [Series] = []
        var members: [Series: [Element]] = [:]
        for element in elements {
            let series = Series(cell(element))
            if members[series] == nil { order.append(series) }
            members[series, default: []].append(element)
        }
        let groups = order.compactMap { series -> Group<Element>? in
            guard let elements = members[series], elements.count > 1 else { return nil }
            return Group(title: "\(series.workload), \(series.description)", elements: elements)
        }
        let single = order.filter { members[$0]?.count == 1 }.flatMap { members[$0] ?? [] }
        guard !single.isEmpty else { return groups }
        return groups + [Group(title: groups.isEmpty ? "single reads" : "other reads", elements: single)]
    }
}
