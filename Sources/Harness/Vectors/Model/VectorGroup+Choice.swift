extension Sequence<VectorGroup> {
    /// The groups that vectors with these identifiers, or groups with these names, belong to; with those that are open at
    /// the same time.
    package func having(_ ids: [String]) -> [VectorGroup] {
        let chosen = filter { group in ids.contains { $0 == group.id || $0.hasPrefix(group.id + " ") } }
        let names = Set(chosen.map(\.id))
        let together = Set(chosen.compactMap(\.interleaving))
        return filter { names.contains($0.id) || $0.interleaving.map(together.contains) ?? false }
    }
}
