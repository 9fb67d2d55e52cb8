import Results

/// Which configuration to take on which kind of host, among cells that are compared with each other, and what it costs to
/// take another kind's.
struct ScalingLaw: Sendable {
    /// What is compared, in words.
    var name: String
    /// The hosts that measured it, by their indices.
    var hostCount: Int
    /// The kinds of hosts that did, with their choices.
    var choices: [Choice]
    /// The choice that is near the best on every host; `nil` where there is none.
    var everywhere: Candidate?

    private let names: ConfigurationNames
    private let cells: [String: Cell]

    /// What to take on one kind of host.
    struct Choice: Sendable {
        /// The kind's index.
        var kind: Int
        var candidate: Candidate
        /// Whether it is near the best on all hosts of the kind.
        var isShared: Bool
        /// What each host found: its index, and its candidates by their `id`s.
        var hosts: [(index: Int, candidates: [String: Candidate])]
    }

    /// Finds the laws of cells that several hosts measured, in the order of the cells.
    static func all(of hosts: [RunSummary], _ kinds: [Fleet.Kind]) -> [ScalingLaw] {
        let measured = hosts.indices.flatMap { host in
            hosts[host].cells.filter { $0.speed != nil }.map { (host: host, summary: $0) }
        }
        return measured.grouped { ComparedKey($0.summary.cell) }.compactMap { key, elements in
            let byHost = elements.grouped(by: \.host).filter { $0.elements.count > 1 }
                .map { host, elements in (host, elements.compactMap { Candidate($0.summary) }) }
            guard byHost.count > 1 else { return nil }
            return ScalingLaw(
                key, hosts: Dictionary(uniqueKeysWithValues: byHost), kinds, cells: elements.map(\.summary.cell))
        }
    }

    private init?(_ key: ComparedKey, hosts: [Int: [Candidate]], _ kinds: [Fleet.Kind], cells: [Cell]) {
        let near = hosts.mapValues { NearBest($0).members }
        let everywhere = Self.common(hosts.keys.sorted().compactMap { near[$0] })
        choices = kinds.indices.compactMap { kind in
            let measured = kinds[kind].hosts.filter { hosts[$0] != nil }
            let lists = measured.compactMap { near[$0] }
            let common = everywhere ?? Self.common(lists)
            guard let candidate = common ?? lists.first?.first else { return nil }
            return Choice(
                kind: kind, candidate: candidate, isShared: common != nil,
                hosts: measured.map { host in
                    (host, Dictionary((hosts[host] ?? []).map { ($0.id, $0) }) { first, _ in first })
                })
        }
        self.everywhere = everywhere
        name = "\(key.workload), \(key.group.description)"
        hostCount = hosts.count
        names = ConfigurationNames(cells)
        self.cells = Dictionary(cells.map { ($0.id, $0) }) { first, _ in first }
    }

    /// The candidate that is preferred among those that are in all lists.
    private static func common(_ lists: [[Candidate]]) -> Candidate? {
        let ids = lists.dropFirst().reduce(Set(lists.first?.map(\.id) ?? [])) { $0.intersection($1.map(\.id)) }
        return lists.first?.first { ids.contains($0.id) }
    }

    /// What a configuration is called.
    func label(_ candidate: Candidate) -> String { cells[candidate.id].map { names.name(of: $0) } ?? candidate.id }

    /// The different choices, in the order of the kinds.
    var distinct: [Candidate] { choices.map(\.candidate).grouped(by: \.id).map { $0.elements[0] } }

    /// What it costs to take a candidate on a kind of host instead of its choice, on the host where it costs the least and
    /// on the one where it costs the most; `nil` where it was not measured.
    func cost(of candidate: Candidate, on choice: Choice) -> (min: SpeedRatio, max: SpeedRatio)? {
        let ratios = choice.hosts.compactMap { _, candidates -> SpeedRatio? in
            guard let one = candidates[candidate.id], let other = candidates[choice.candidate.id] else { return nil }
            return SpeedRatio(of: one.sample, over: other.sample)
        }.sorted { $0.ratio > $1.ratio }
        guard let first = ratios.first, let last = ratios.last else { return nil }
        return (first, last)
    }

    /// What holds, in a sentence.
    func sentence(_ kinds: [Fleet.Kind]) -> String {
        let count = "\(RatioText.count(hostCount, "host")) of \(RatioText.count(choices.count, "kind"))"
        if let everywhere { return "\(name): \(label(everywhere)) is near the best on all \(count)." }
        let parts = choices.grouped(by: \.candidate.id).map { _, choices in
            let names = choices.map { kinds[$0.kind].name }
            let isShared = choices.allSatisfy(\.isShared)
            return "\(label(choices[0].candidate)) on \(Verdict.list(names))"
                + (isShared ? "" : " (not on all hosts of it)")
        }
        let costs = choices.flatMap { choice in distinct.compactMap { self.cost(of: $0, on: choice)?.max } }
        let worst = costs.min { $0.ratio < $1.ratio }
        let cost = worst.flatMap { $0.ratio < 1 ? " A wrong choice costs up to \($0.lossText)." : nil } ?? ""
        return "\(name): no configuration is near the best on all \(count): \(parts.joined(separator: "; ")).\(cost)"
    }
}
