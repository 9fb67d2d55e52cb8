package import RandomAccess
package import Results
internal import Support
package import Vectors

/// Which classes of vectors notice which planted faults.
package struct KillMatrix: Sendable {
    /// What came of each mutant, in their order.
    package let outcomes: [MutantOutcome]
    /// The readers that have no fault, and must pass: otherwise being killed proves nothing.
    package let controls: [ConformanceRecord]
    /// Whether every reader was put to the vectors, and nothing was stopped.
    package let isFinished: Bool

    /// The number of groups after which a flag that is not a mutant's own is taken not to notice it.
    package static let maxQuietCount = 10

    /// The mutants that no vector of their own class noticed.
    package var survivors: [MutantOutcome] { outcomes.filter { !$0.isKilledByItsFlag } }

    /// Whether every mutant was killed by its own class, there were any, and the controls passed.
    package var isComplete: Bool {
        isFinished && !outcomes.isEmpty && survivors.isEmpty && controls.allSatisfy { $0.failed == 0 && $0.passed > 0 }
    }

    /// Puts mutants to vectors.
    ///
    /// A mutant is not put to a group whose flags are all settled: they noticed it, or did not in ``maxQuietCount`` groups,
    /// which never settles the mutant's own flag. One that remembers no reads is not put to such a read either, and reads
    /// on one thread. `progress` is called with how much of the work is done, on any of the threads; what `shouldStop`
    /// stops has no outcomes.
    package static func run(
        _ mutants: [Mutant] = Mutant.all, over backend: any CipherBackend, groups: [VectorGroup],
        threadCount: Int = 2, shouldStop: @escaping @Sendable () -> Bool = { false },
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) -> KillMatrix {
        var controls = [ConformanceSubject(backend: backend)]
        // It knows the formats that textbooks have.
        if groups.contains(where: { $0.playlist != nil || VectorSet.isPlain($0.strategy.format) }) {
            controls.append(
                TextbookReader.subject(
                    "textbook", backend: backend, rules: TextbookRules(),
                    openPlaylist: TextbookPlaylistReader.opening(fault: nil, over: backend)))
        }
        let run = FlagRun(
            subjects: mutants.map { ($0.subject(over: backend), $0) } + controls.map { ($0, nil) },
            threadCount: threadCount)
        guard let records = run.run(groups, shouldStop: shouldStop, progress: progress) else {
            return KillMatrix(outcomes: [], controls: [], isFinished: false)
        }
        return KillMatrix(
            outcomes: zip(mutants, records).map { MutantOutcome(mutant: $0, record: $1) },
            controls: Array(records[mutants.count...]), isFinished: true)
    }
}

/// What the vectors made of one mutant.
package struct MutantOutcome: Sendable {
    /// The mutant.
    package let mutant: Mutant
    /// How it did, flag by flag.
    package let record: ConformanceRecord

    /// The flags of vectors that it failed, in the order in which flags are listed.
    ///
    /// To pass nothing is to fail everything: what only ever says `unsupported` has shown nothing.
    package var killedBy: [VectorFlag] {
        let flags = record.flags ?? []
        let failed = record.passed == 0 ? flags : flags.filter { $0.failed > 0 }
        let names = Set(failed.map(\.flag))
        return VectorFlag.allCases.filter { names.contains($0.rawValue) }
    }

    /// Whether any vector noticed it.
    package var isKilled: Bool { !killedBy.isEmpty }

    /// Whether a vector noticed it that stands for its fault.
    package var isKilledByItsFlag: Bool { killedBy.contains(mutant.flag) }
}

/// Puts subjects to vectors to learn which classes of bugs they have, and no more than that.
private struct FlagRun {
    /// A set of groups that are open together, with their reads.
    private struct Members: Sendable {
        let members: [InterleavedRun.Member]
        /// The same for one thread: several get nothing else from a mutant that remembers nothing.
        private let membersAlone: [InterleavedRun.Member]
        /// The different flags of reads, and which of them each read of each member has.
        private let kinds: [Set<String>], kindOfRead: [[Int]]
        private let openingFlags: Set<String>
        /// The flags of the openings and of all reads.
        let flags: Set<String>

        init(_ groups: [VectorGroup]) {
            members = groups.map { ($0.holdingShortCiphertext(), $0.reads.numbered) }
            membersAlone = members.map { ($0.group.onOneThread(), $0.reads) }
            var known: [[VectorFlag]] = []
            var last = 0
            kindOfRead = members.map { member in
                member.reads.map { _, read in
                    // Neighbours mostly have the same flags.
                    if known.isEmpty || known[last] != read.flags {
                        last = known.firstIndex(of: read.flags) ?? known.count
                        if last == known.count { known.append(read.flags) }
                    }
                    return last
                }
            }
            kinds = known.map { Set($0.map(\.rawValue)) }
            openingFlags = Set(groups.flatMap(\.flags).map(\.rawValue))
            flags = kinds.reduce(openingFlags) { $0.union($1) }
        }

        /// What is left for a subject of which some flags are settled: nothing if there are no others. Where reads do not
        /// depend on each other, those are left that have others.
        func left(having settled: Set<String>, remembers: Bool) -> [InterleavedRun.Member] {
            let isLeft = kinds.map { !$0.isSubset(of: settled) }
            guard isLeft.contains(true) || !openingFlags.isSubset(of: settled) else { return [] }
            if remembers { return members }
            guard isLeft.contains(false) else { return membersAlone }
            return zip(membersAlone, kindOfRead).map { member, kinds in
                (member.group, zip(member.reads, kinds).filter { isLeft[$1] }.map(\.0))
            }
        }
    }

    /// How far a subject has come.
    private struct Course: Sendable {
        var tally = Tally(capacity: 0)
        /// The flags whose vectors would tell nothing new.
        private(set) var settled: Set<String> = []
        /// The groups with each flag that it was put to.
        private var groupCounts: [String: Int] = [:]

        /// Puts a mutant to what tells something new of it, or a reader without a fault to everything.
        mutating func run(_ set: Members, subject: ConformanceSubject, mutant: Mutant?) {
            guard let mutant else { return InterleavedRun.run(set.members, subject: subject, into: &tally) }
            let before = tally.executedCount
            InterleavedRun.run(set.left(having: settled, remembers: mutant.remembers), subject: subject, into: &tally)
            guard tally.executedCount > before else { return }
            settled.formUnion(tally.failedFlags)
            for flag in set.flags where !settled.contains(flag) && flag != mutant.flag.rawValue {
                groupCounts[flag, default: 0] += 1
                if groupCounts[flag] == KillMatrix.maxQuietCount { settled.insert(flag) }
            }
        }
    }

    /// The subjects, of which those with faults are left alone by what would tell nothing new; their counts are then of
    /// what was run.
    let subjects: [(subject: ConformanceSubject, mutant: Mutant?)]
    let threadCount: Int

    /// The reads of so many sets of groups are made at a time, and once for all subjects.
    private static let batchSetCount = 64

    /// Puts the subjects to the groups.
    ///
    /// - Parameters:
    ///   - groups: The groups.
    ///   - shouldStop: Is asked before each piece of work.
    ///   - progress: Is called with how much of the work is done, on any of the threads.
    /// - Returns: A record for each subject, in order; `nil` if it was stopped.
    func run(
        _ groups: [VectorGroup], shouldStop: @escaping @Sendable () -> Bool,
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) -> [ConformanceRecord]? {
        let sets = InterleavedRun.sets(of: groups) { $0 }
        let total = subjects.count * ((sets.count + Self.batchSetCount - 1) / Self.batchSetCount)
        var courses = subjects.map { _ in Course() }
        for (turn, start) in stride(from: 0, to: sets.count, by: Self.batchSetCount).enumerated() {
            let batch = Parallel.map(Array(sets[start..<min(start + Self.batchSetCount, sets.count)]), Members.init)
            let (before, subjects) = (courses, subjects)
            let found = SharedWork.run(
                itemCount: subjects.count, threadCount: threadCount, shouldStop: shouldStop,
                finished: { _, finished in progress(turn * subjects.count + finished, total) }
            ) { item in
                // The last ones, which take all vectors, come first.
                let index = subjects.count - 1 - item
                let (subject, mutant) = subjects[index]
                var course = before[index]
                for set in batch { course.run(set, subject: subject, mutant: mutant) }
                return course
            }.compactMap { $0 }
            guard found.count == subjects.count else { return nil }
            courses = found.reversed()
        }
        return subjects.indices.map { courses[$0].tally.record(subject: subjects[$0].subject.name) }
    }
}
