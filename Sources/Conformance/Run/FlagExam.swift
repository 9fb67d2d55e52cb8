package import Results
package import Vectors

/// Puts subjects to vectors to learn which classes of bugs they have, and no more than that.
package struct FlagExam: Sendable {
    private let groups: [(group: VectorGroup, flags: Set<VectorFlag>)]

    /// Creates an exam; walks once through all reads.
    package init(groups: [VectorGroup]) {
        self.groups = groups.map { group in
            (group, group.reads.reduce(into: Set(group.flags)) { $0.formUnion($1.flags) })
        }
    }

    /// Puts a subject to the groups, on this thread.
    ///
    /// With `stopsEarly`, groups are left out all of whose flags have failed already; the counts are then of what was
    /// run.
    package func run(_ subject: ConformanceSubject, stopsEarly: Bool) -> ConformanceRecord {
        var tally = Tally(capacity: 20)
        var failed: Set<VectorFlag> = []
        for (group, flags) in groups where !stopsEarly || !flags.isSubset(of: failed) {
            var part = Tally(capacity: 20)
            GroupRun(group: group, subject: subject).run(into: &part)
            failed.formUnion(part.failedFlags)
            tally.merge(part)
        }
        return tally.record(subject: subject.name)
    }
}
