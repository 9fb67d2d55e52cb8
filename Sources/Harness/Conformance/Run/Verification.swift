package import RandomAccess
package import Results
internal import Support
package import Vectors

/// How far a verification has come.
package struct VerificationProgress: Hashable, Sendable {
    /// The subject that finished a part.
    package let subject: String
    /// The parts that are finished, of all subjects.
    package let finished: Int
    /// All parts.
    package let total: Int
}

/// Runs vectors against our readers over backends, in this process.
package struct Verification: Sendable {
    /// The subjects.
    package let subjects: [ConformanceSubject]
    /// The threads that share the work.
    package let threadCount: Int
    /// The failures that a record lists; it counts all of them.
    package let listedFailureCount: Int

    package init(subjects: [ConformanceSubject], threadCount: Int = 2, listedFailureCount: Int = 20) {
        self.subjects = subjects
        self.threadCount = max(1, threadCount)
        self.listedFailureCount = listedFailureCount
    }

    /// Puts every subject to every group, and returns a record for each subject, in order.
    ///
    /// Each vector counts once for each subject: it passes if every reader that it was put to did as expected.
    /// `progress` is called after each part, and `shouldStop` asked before each, on any of the threads; what was stopped
    /// has records of the parts that were run.
    package func run(
        _ groups: some Sequence<VectorGroup>, progress: (@Sendable (VerificationProgress) -> Void)? = nil,
        shouldStop: @escaping @Sendable () -> Bool = { false }
    ) -> [ConformanceRecord] {
        let groups = InterleavedRun.sets(of: groups) { $0 }
        let partCount = min(16, groups.count)
        let total = subjects.count * partCount
        let (subjects, capacity) = (subjects, listedFailureCount)
        // Every subject's share of a part is done in a row, so that they share what is costly to expect.
        let tallies = SharedWork.run(
            itemCount: total, threadCount: threadCount, shouldStop: shouldStop,
            finished: { item, finished in
                let name = subjects[item % subjects.count].name
                progress?(VerificationProgress(subject: name, finished: finished, total: total))
            },
            { item in
                var tally = Tally(capacity: capacity)
                for index in stride(from: item / subjects.count, to: groups.count, by: partCount) {
                    InterleavedRun.run(groups[index], subject: subjects[item % subjects.count], into: &tally)
                }
                return tally
            })
        return subjects.enumerated().map { index, subject in
            var tally = Tally(capacity: capacity)
            for part in 0..<partCount { tallies[part * subjects.count + index].map { tally.merge($0) } }
            return tally.record(subject: subject.name)
        }
    }
}

/// The largest read for backends that would take minutes over more, by their names.
package let slowBackends = ["swift-reference": 1 << 20]

/// Puts our readers over some backends to vectors, and returns a record for each backend, in order.
///
/// `largestReadByteCounts` has, for backends that would take minutes over more, the largest read by their names; larger
/// reads count as not run. With `relocate`, they read what it opens instead of each source. `progress` is called after
/// each part of the work, and `shouldStop` asked before each, on any thread.
package func verify(
    backends: [any CipherBackend], groups: some Sequence<VectorGroup>, threadCount: Int = 2,
    largestReadByteCounts: [String: Int] = slowBackends, relocate: ConformanceSubject.Relocate? = nil,
    progress: (@Sendable (VerificationProgress) -> Void)? = nil,
    shouldStop: @escaping @Sendable () -> Bool = { false }
) -> [ConformanceRecord] {
    let subjects = backends.map {
        let subject = ConformanceSubject(backend: $0, largestReadByteCount: largestReadByteCounts[$0.name] ?? .max)
        return relocate.map { subject.relocated(by: $0) } ?? subject
    }
    return Verification(subjects: subjects, threadCount: threadCount).run(
        groups, progress: progress, shouldStop: shouldStop)
}

/// Puts subjects to vectors to learn which classes of bugs they have, and no more than that.
struct FlagRun {
    /// A set of groups that are open together, with their reads and all their flags.
    private struct Members: Sendable {
        let members: [InterleavedRun.Member]
        let flags: Set<String>

        init(_ groups: [VectorGroup]) {
            members = groups.map { ($0, $0.reads.numbered) }
            let flags = members.reduce(into: Set<VectorFlag>()) { flags, member in
                flags.formUnion(member.group.flags)
                for (_, read) in member.reads { flags.formUnion(read.flags) }
            }
            self.flags = Set(flags.map(\.rawValue))
        }
    }

    /// The subjects, of which the first `earlyCount` are left alone by groups all of whose flags they have failed already;
    /// their counts are then of what was run.
    let subjects: [ConformanceSubject]
    let earlyCount: Int
    let threadCount: Int

    /// So many sets of groups are made at a time, for all subjects: making reads takes as long as some of the reading.
    private static let batchSetCount = 64

    /// Puts the subjects to the groups.
    ///
    /// - Returns: A record for each subject, in order; `nil` if `shouldStop`, which is asked before each piece of work,
    ///   stopped it. `progress` is called with the share of the work that is done, on any of the threads.
    func run(
        _ groups: [VectorGroup], shouldStop: @escaping @Sendable () -> Bool,
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) -> [ConformanceRecord]? {
        let sets = InterleavedRun.sets(of: groups) { $0 }
        let total = subjects.count * ((sets.count + Self.batchSetCount - 1) / Self.batchSetCount)
        var tallies = subjects.map { _ in Tally(capacity: 20) }
        for (turn, start) in stride(from: 0, to: sets.count, by: Self.batchSetCount).enumerated() {
            let batch = Parallel.map(Array(sets[start..<min(start + Self.batchSetCount, sets.count)]), Members.init)
            let (before, subjects, earlyCount) = (tallies, subjects, earlyCount)
            let found = SharedWork.run(
                itemCount: subjects.count, threadCount: threadCount, shouldStop: shouldStop,
                finished: { _, finished in progress(turn * subjects.count + finished, total) }
            ) { item in
                // The last ones, which take all vectors, come first.
                let index = subjects.count - 1 - item
                var tally = before[index]
                for set in batch where index >= earlyCount || !set.flags.isSubset(of: tally.failedFlags) {
                    InterleavedRun.run(set.members, subject: subjects[index], into: &tally)
                }
                return tally
            }.compactMap { $0 }
            guard found.count == subjects.count else { return nil }
            tallies = found.reversed()
        }
        return zip(subjects, tallies).map { $1.record(subject: $0.name) }
    }
}
