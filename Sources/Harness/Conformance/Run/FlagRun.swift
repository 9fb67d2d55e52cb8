package import Results
package import Vectors

/// Puts subjects to vectors to learn which classes of bugs they have, and no more than that.
package struct FlagRun: Sendable {
    /// Groups that are open together, and all their flags.
    private let sets: [(groups: [VectorGroup], flags: Set<VectorFlag>)]

    /// Creates an exam; walks once through all reads.
    package init(groups: [VectorGroup]) {
        self.sets = InterleavedRun.sets(of: groups).map { groups in
            let flags = groups.reduce(into: Set<VectorFlag>()) { flags, group in
                flags = group.reads.reduce(into: flags.union(group.flags)) { $0.formUnion($1.flags) }
            }
            return (groups, flags)
        }
    }

    /// Puts a subject to the groups, on this thread.
    ///
    /// With `stopsEarly`, groups are left out all of whose flags have failed already; the counts are then of what was
    /// run.
    package func run(_ subject: ConformanceSubject, stopsEarly: Bool) -> ConformanceRecord {
        var tally = Tally(capacity: 20)
        for (groups, flags) in sets where !stopsEarly || !flags.isSubset(of: tally.failedFlags) {
            InterleavedRun(groups: groups, subject: subject).run(into: &tally)
        }
        return tally.record(subject: subject.name)
    }
}
