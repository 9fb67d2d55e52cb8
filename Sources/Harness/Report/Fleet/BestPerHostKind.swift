import Results
import Statistics

/// The best configuration for each kind of host, among cells that are compared with each other, and the cost of another
/// kind's choice.
///
/// The hosts of a kind are samples of it. With three hosts or more, each host contributes one value per configuration,
/// so that more hosts tell more, and an odd host is one value. With fewer hosts, each process is a value.
struct BestPerHostKind: Sendable {
    /// The compared cells, in words.
    var name: String
    /// The number of hosts that measured the cells.
    var hostCount: Int
    /// The kinds of those hosts, with their choices.
    var choices: [Choice]
    /// The result that the data show.
    var finding: Finding

    private let names: ConfigurationNames
    private let cells: [String: Cell]

    /// The result for all kinds together, with 95 % confidence.
    enum Finding: Sendable {
        /// This candidate is near the best on each kind.
        case shared(Candidate)
        /// For each candidate there is a kind on which another one is faster by more than the margin.
        case different
        /// Neither is shown. This candidate is nearest to the best. `bound` is the maximum factor by which another one
        /// may be faster, if it is known.
        case undecided(Candidate, bound: Double?)
    }

    /// The choice for one kind of host.
    struct Choice: Sendable {
        /// The kind's index.
        var kind: Int
        var candidate: Candidate
        /// The pooled candidates of the kind's hosts, by `id`.
        var candidates: [String: Candidate]
        /// The hosts by index, each with its candidates.
        var hosts: [(index: Int, candidates: [Candidate])]
    }

    /// Returns the laws for cells that several hosts measured, in the order of the cells.
    static func all(of hosts: [RunSummary], _ kinds: [Fleet.Kind]) -> [BestPerHostKind] {
        let measured = hosts.indices.flatMap { host in
            hosts[host].cells.filter { $0.speed != nil }.map { (host: host, summary: $0) }
        }
        // The hosts' candidates share their names, which would otherwise take more memory than their figures.
        var names: Set<String> = []
        func candidates(_ summaries: [CellSummary]) -> [Candidate] {
            var candidates: [Candidate] = []
            candidates.reserveCapacity(summaries.count)
            for var candidate in summaries.lazy.compactMap({ Candidate($0) }) {
                candidate.id = names.insert(candidate.id).memberAfterInsert
                candidate.family = names.insert(candidate.family).memberAfterInsert
                candidates.append(candidate)
            }
            return candidates
        }
        return measured.grouped { ComparedKey($0.summary.cell) }.compactMap { key, elements in
            let byHost = elements.grouped(by: \.host).filter { $0.elements.count > 1 }
                .map { host, elements in (host, candidates(elements.map(\.summary))) }
            guard byHost.count > 1 else { return nil }
            return BestPerHostKind(
                key, hosts: Dictionary(uniqueKeysWithValues: byHost), kinds,
                cells: elements.lazy.map(\.summary.cell).unique)
        }
    }

    private init?(_ key: ComparedKey, hosts: [Int: [Candidate]], _ kinds: [Fleet.Kind], cells: [Cell]) {
        choices = kinds.indices.compactMap { kind in
            let measured = kinds[kind].hosts.filter { hosts[$0] != nil }
            let candidates = Candidate.pooled(measured.compactMap { hosts[$0] })
            guard candidates.count > 1, let choice = NearBest(candidates).members.first else { return nil }
            return Choice(
                kind: kind, candidate: choice, candidates: Self.byID(candidates),
                hosts: measured.map { ($0, hosts[$0] ?? []) })
        }
        guard let finding = Self.finding(choices) else { return nil }
        self.finding = finding
        if case .shared(let candidate) = finding {
            for index in choices.indices {
                choices[index].candidate = choices[index].candidates[candidate.id] ?? choices[index].candidate
            }
        }
        name = "\(key.workload), \(key.group.description)"
        hostCount = choices.reduce(0) { $0 + $1.hosts.count }
        names = ConfigurationNames(cells)
        self.cells = Dictionary(cells.map { ($0.id, $0) }) { first, _ in first }
    }

    private static func byID(_ candidates: [Candidate]) -> [String: Candidate] {
        Dictionary(candidates.map { ($0.id, $0) }) { first, _ in first }
    }

    private static func finding(_ choices: [Choice]) -> Finding? {
        let common = (choices.first?.candidates.values.sorted { Candidate.isPreferred($0, to: $1) } ?? [])
            .filter { candidate in choices.allSatisfy { $0.candidates[candidate.id] != nil } }
        guard !common.isEmpty else { return nil }
        let bounds = choices.map { choice -> [String: Double] in
            let judged = choice.candidates.values.filter(\.isJudged).sorted { $0.id < $1.id }
            // The confidence is shared by all kinds.
            let confidence = 1 - 0.05 / Double(choices.count)
            let all = BestComparison(judged.map(\.sample), confidence: confidence).bounds
            return Dictionary(zip(judged, all).map { ($0.id, $1) }) { first, _ in first }
        }
        func bound(_ candidate: Candidate) -> Double { bounds.map { $0[candidate.id] ?? .infinity }.max() ?? .infinity }
        if let shared = common.first(where: { bound($0) <= 1 + NearBest.margin }) { return .shared(shared) }
        let pairs = Double(choices.reduce(0) { $0 + $1.candidates.count * ($1.candidates.count - 1) })
        func isRefuted(_ candidate: Candidate) -> Bool {
            choices.contains { choice in
                guard let own = choice.candidates[candidate.id] else { return true }
                return choice.candidates.values.contains { $0.isShownFaster(than: own, tail: 0.05 / pairs) }
            }
        }
        if common.allSatisfy(isRefuted) { return .different }
        guard let nearest = common.min(by: { bound($0) < bound($1) }) else { return nil }
        return .undecided(nearest, bound: bound(nearest).isFinite ? bound(nearest) : nil)
    }

    /// Returns the name of a configuration.
    func label(_ candidate: Candidate) -> String { cells[candidate.id].map { names.name(of: $0) } ?? candidate.id }

    /// The distinct choices, in the order of the kinds.
    var distinct: [Candidate] { choices.map(\.candidate).grouped(by: \.id).map { $0.elements[0] } }

    /// Returns the cost of a candidate on a kind of host, relative to its choice; `nil` if the candidate was not
    /// measured there.
    func cost(of candidate: Candidate, on choice: Choice) -> SpeedRatio? {
        guard let one = choice.candidates[candidate.id] else { return nil }
        return SpeedRatio(of: one.sample, over: choice.candidate.sample)
    }

    /// The hosts on which another configuration is shown to be faster than their kind's choice, by more than the margin
    /// and with 95 % confidence for all hosts together.
    var exceptions: [(host: Int, faster: Candidate, ratio: SpeedRatio)] {
        choices.flatMap { choice in
            choice.hosts.compactMap { host, candidates in
                guard choice.hosts.count > 1, let own = candidates.first(where: { $0.id == choice.candidate.id })
                else { return nil }
                let tail = 0.05 / Double(hostCount * max(1, candidates.count - 1))
                let faster = candidates.filter { $0.isShownFaster(than: own, tail: tail) }
                return Candidate.fastest(of: faster).map {
                    (host, $0, SpeedRatio(of: $0.sample, over: own.sample))
                }
            }
        }
    }

    /// Returns the result in a sentence.
    func sentence(_ kinds: [Fleet.Kind], _ hosts: [RunSummary]) -> String {
        let count = "\(RatioText.count(choices.count, "kind")) of host, \(RatioText.count(hostCount, "host"))"
        let odd = exceptions.prefix(3).map {
            " On \(hosts[$0.host].name), \(label($0.faster)) is \($0.ratio.text) as fast."
        }.joined()
        let more = exceptions.count > 3 ? " Likewise on \(exceptions.count - 3) more." : ""
        return "\(name): \(text(kinds, count))\(odd)\(more)"
    }

    private func text(_ kinds: [Fleet.Kind], _ count: String) -> String {
        switch finding {
        case .shared(let candidate): return "\(label(candidate)) is near the best on \(count)."
        case .undecided(let candidate, let bound):
            let known: String
            if let bound {
                let more = RatioText.percent(bound - 1)
                known = "\(label(candidate)) is the nearest, and others may be up to \(more) faster"
            } else {
                known = "fewer than three processes on fewer than three hosts show nothing"
            }
            return "undecided whether one configuration is near the best on \(count): \(known)."
        case .different:
            let parts = choices.grouped(by: \.candidate.id).map { _, choices in
                "\(label(choices[0].candidate)) on \(Verdict.list(choices.map { kinds[$0.kind].name }))"
            }
            // Ties have no known cost.
            let costs = choices.flatMap { choice in distinct.compactMap { cost(of: $0, on: choice) } }
                .filter { $0.hasInterval && $0.high < 1 }
            let largest = costs.min { $0.ratio < $1.ratio }.map { " A wrong choice costs up to \($0.lossText)." } ?? ""
            return "no configuration is near the best on \(count): \(parts.joined(separator: "; ")).\(largest)"
        }
    }
}

extension Candidate {
    /// Returns the pooled candidates of several hosts of a kind. With three hosts or more, each host contributes one
    /// value, relative to its own level; with fewer, each process does.
    ///
    /// - Returns: The candidates that all hosts measured, scaled to the level of the middle host. Memory and first byte
    ///   are the maximum of all hosts.
    fileprivate static func pooled(_ hosts: [[Candidate]]) -> [Candidate] {
        guard hosts.count > 1, let first = hosts.first else { return hosts.first ?? [] }
        let byID = hosts.map { Dictionary($0.map { ($0.id, $0) }) { first, _ in first } }
        let common = first.filter { candidate in byID.allSatisfy { $0[candidate.id] != nil } }
        let levels = byID.map { candidates in
            LogSample(common.compactMap { candidates[$0.id]?.sample.estimate })?.geometricMean ?? 1
        }
        let middle = levels.sorted()[levels.count / 2]
        return common.compactMap { candidate in
            let own = byID.compactMap { $0[candidate.id] }
            let values = zip(own, levels).flatMap { one, level in
                let values = hosts.count < LogSample.minCount ? one.sample.values : [one.sample.estimate]
                return values.map { $0 / level * middle }
            }
            guard let sample = LogSample(values) else { return nil }
            return Candidate(
                id: candidate.id, family: candidate.family, windowByteCount: candidate.windowByteCount, sample: sample,
                memoryByteCount: own.compactMap(\.memoryByteCount).max(),
                firstByteNanoseconds: own.compactMap(\.firstByteNanoseconds).max(),
                amplification: candidate.amplification)
        }
    }

    /// Returns whether this candidate is shown to be faster than another one by more than the margin. `tail` is the
    /// maximum probability of a wrong `true`.
    fileprivate func isShownFaster(than other: Candidate, tail: Double) -> Bool {
        guard id != other.id, let interval = sample.ratioInterval(over: other.sample, tail: tail) else { return false }
        return interval.low > 1 + NearBest.margin
    }
}
