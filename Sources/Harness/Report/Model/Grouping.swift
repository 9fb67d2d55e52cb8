extension Sequence {
    /// Returns the elements grouped by key, in the order of the first element of each group.
    func grouped<Key: Hashable>(by key: (Element) -> Key) -> [(key: Key, elements: [Element])] {
        var indices: [Key: Int] = [:]
        var groups: [(key: Key, elements: [Element])] = []
        for element in self {
            let key = key(element)
            if let index = indices[key] {
                groups[index].elements.append(element)
            } else {
                indices[key] = groups.count
                groups.append((key, [element]))
            }
        }
        return groups
    }
}

extension Sequence where Element: Hashable {
    /// The elements without duplicates, in the order in which they first appear.
    var unique: [Element] {
        var known: Set<Element> = []
        return filter { known.insert($0).inserted }
    }
}
