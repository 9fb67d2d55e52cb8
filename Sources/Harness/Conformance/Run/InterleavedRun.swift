internal import Vectors

/// Puts one subject to groups that are open at the same time, and reads them in turn.
struct InterleavedRun {
    private let runs: [(group: VectorGroup, run: GroupRun)]

    init(groups: [VectorGroup], subject: ConformanceSubject) {
        self.runs = groups.map { ($0, GroupRun(group: $0, subject: subject)) }
    }

    /// Puts groups of the same interleaving together, where the first of them stands; all others stay alone.
    static func sets(of groups: some Sequence<VectorGroup>) -> [[VectorGroup]] {
        var sets: [[VectorGroup]] = []
        var places: [String: Int] = [:]
        for group in groups {
            if let name = group.interleaving, let place = places[name] {
                sets[place].append(group)
                continue
            }
            if let name = group.interleaving { places[name] = sets.count }
            sets.append([group])
        }
        return sets
    }

    /// Opens all, then puts the first read of each, the second of each, and so on.
    func run(into tally: inout Tally) {
        guard runs.count > 1 else {
            runs.first?.run.run(into: &tally)
            return
        }
        var open: [(run: GroupRun, opened: GroupRun.Opened, reads: [RangeRead])] = []
        for (group, run) in runs {
            guard let opened = run.open(into: &tally) else { continue }
            open.append((run, opened, Array(group.reads)))
        }
        for index in 0..<(open.map(\.reads.count).max() ?? 0) {
            for object in open where index < object.reads.count {
                object.run.run(object.reads[index], index: index, opened: object.opened, into: &tally)
            }
        }
    }
}
