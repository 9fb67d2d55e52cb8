import Results

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
