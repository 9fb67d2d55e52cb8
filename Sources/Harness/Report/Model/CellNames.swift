import Results

/// Short names for the cells of a table: what all of them share is said once.
struct CellNames {
    /// What all cells share, or nothing where there is one cell only.
    let shared: String

    private let sharedParts: Set<String>

    init(_ cells: [Cell]) {
        let parts = cells.map(\.nameParts)
        let first = cells.count > 1 ? parts.first ?? [] : []
        let common = parts.dropFirst().reduce(Set(first)) { $0.intersection($1) }
        shared = first.filter(common.contains).joined(separator: " ")
        sharedParts = common
    }

    /// What tells a cell from the others of the table.
    func name(of cell: Cell) -> String {
        let parts = cell.nameParts.filter { !sharedParts.contains($0) }
        return parts.isEmpty ? cell.name : parts.joined(separator: " ")
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
