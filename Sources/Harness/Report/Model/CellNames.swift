import Results

/// Short names for the cells of a table. Parts that all cells share are left out.
struct CellNames {
    /// The parts that all cells share; empty if there is only one cell.
    let shared: String

    private let sharedParts: Set<String>

    init(_ cells: [Cell]) {
        let parts = cells.map(\.nameParts)
        let first = cells.count > 1 ? parts.first ?? [] : []
        let common = parts.dropFirst().reduce(Set(first)) { $0.intersection($1) }
        shared = first.filter(common.contains).joined(separator: " ")
        sharedParts = common
    }

    /// Returns the parts that tell a cell from the others of the table.
    func name(of cell: Cell) -> String {
        let parts = cell.nameParts.filter { !sharedParts.contains($0) }
        return parts.isEmpty ? cell.name : parts.joined(separator: " ")
    }
}

/// Groups of elements whose cells differ only in backend and window, so that names can be short.
enum CellGroups {
    struct Group<Element> {
        var title: String
        /// The group's elements, in their original order.
        var elements: [Element]
    }

    /// Returns the groups in the order of their first elements. Groups of one element are merged into one at the end.
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
