package import RandomAccess
package import Results
internal import Support
package import Vectors

/// The classes of vectors that notice each injected fault.
package struct KillMatrix: Sendable {
    /// The outcome of each mutant, in the order of the mutants.
    package let outcomes: [MutantOutcome]
    /// The readers without a fault. They must pass: otherwise a killed mutant proves nothing.
    package let controls: [ConformanceRecord]
    /// True if every reader read the vectors to the end, and the user stopped nothing.
    package let isFinished: Bool

    /// The number of passed groups after which a flag counts as not noticing a mutant; never one that may kill it.
    package static let maxQuietCount = 10

    /// The mutants that were not killed.
    package var survivors: [MutantOutcome] { outcomes.filter { !$0.isKilled } }

    /// True if every mutant was killed, there was one at least, and the controls passed.
    package var isComplete: Bool {
        isFinished && !outcomes.isEmpty && survivors.isEmpty && controls.allSatisfy { $0.failed == 0 && $0.passed > 0 }
    }

    /// Runs mutants and controls on vectors.
    ///
    /// A mutant skips a group if all flags of the group are settled. A flag is settled once a vector of it failed, or
    /// once ``maxQuietCount`` groups with it passed; a flag that may kill the mutant is settled only by a failure. A
    /// mutant that remembers no reads also skips single reads whose flags are settled, and reads on one thread.
    ///
    /// - Parameters:
    ///   - mutants: The mutants.
    ///   - backend: The library that decrypts as it should.
    ///   - groups: The vectors.
    ///   - anyFlagKills: True if vectors of any class may kill a mutant. Not each format has vectors of each class.
    ///   - threadCount: The threads that share the work.
    ///   - shouldStop: Called before each piece of work. A run that it stops has no outcomes.
    ///   - progress: Called on any of the threads with the pieces that are done.
    /// - Returns: The outcomes of the mutants and the controls.
    package static func run(
        _ mutants: [Mutant] = Mutant.all, over backend: any CipherBackend, groups: [VectorGroup],
        anyFlagKills: Bool = false, threadCount: Int = 2, shouldStop: @escaping @Sendable () -> Bool = { false },
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) -> KillMatrix {
        var controls = [InProcessSubject(backend: backend)]
        // It knows the formats that textbooks have.
        if groups.contains(where: { $0.film == nil && ($0.playlist != nil || VectorSet.isPlain($0.strategy.format)) }) {
            controls.append(
                TextbookReader.subject(
                    "textbook", backend: backend, rules: TextbookRules(),
                    openPlaylist: TextbookPlaylistReader.opening(fault: nil, over: backend)))
        }
        let run = FlagRun(
            subjects: mutants.map { ($0.subject(over: backend), $0) } + controls.map { ($0, nil) },
            anyFlagKills: anyFlagKills, threadCount: threadCount)
        guard let records = run.run(groups, shouldStop: shouldStop, progress: progress) else {
            return KillMatrix(outcomes: [], controls: [], isFinished: false)
        }
        return KillMatrix(
            outcomes: zip(mutants, records).map { MutantOutcome(mutant: $0, record: $1, anyFlagKills: anyFlagKills) },
            controls: Array(records[mutants.count...]), isFinished: true)
    }
}

/// The outcome of one mutant.
package struct MutantOutcome: Sendable {
    /// The mutant.
    package let mutant: Mutant
    /// The counts of passed and failed vectors, flag by flag.
    package let record: ConformanceRecord
    /// True if vectors of any class may kill the mutant.
    package let anyFlagKills: Bool

    /// The flags of the vectors that it failed, in the order in which flags are listed.
    ///
    /// A mutant that passed nothing failed all flags: answers of `unsupported` alone show nothing.
    package var killedBy: [VectorFlag] {
        let flags = record.flags ?? []
        let failed = record.passed == 0 ? flags : flags.filter { $0.failed > 0 }
        let names = Set(failed.map(\.flag))
        return VectorFlag.allCases.filter { names.contains($0.rawValue) }
    }

    /// True if a vector of its own flag noticed it, or of any flag if that is enough.
    package var isKilled: Bool { anyFlagKills ? !killedBy.isEmpty : killedBy.contains(mutant.flag) }

    /// A vector that killed it, of its own flag if there is one.
    package var killer: ConformanceRecord.Failure? {
        record.failures.first { $0.flags.contains(mutant.flag.rawValue) }
            ?? (anyFlagKills ? record.failures.first : nil)
    }
}

/// A run of subjects over vectors that finds out which flags fail, and nothing else.
private struct FlagRun {
    /// A set of groups that are open together, with their reads.
    private struct Members: Sendable {
        let members: [InterleavedRun.Member]
        /// The same for one thread: more threads show nothing else of a mutant that remembers nothing.
        private let membersAlone: [InterleavedRun.Member]
        /// The distinct sets of flags of reads, and the index of the set of each read of each member.
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

        /// Returns the reads that have flags which are not settled; all reads if they depend on each other, and none if
        /// all flags are settled.
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

    /// The progress of one subject.
    private struct SubjectProgress: Sendable {
        var tally = Tally(capacity: 0)
        /// The flags that need no more vectors.
        private(set) var settled: Set<String> = []
        /// The number of groups that it has read, by flag.
        private var groupCounts: [String: Int] = [:]

        /// Runs the reads that are left for a mutant, or all reads for a control.
        mutating func run(_ set: Members, subject: InProcessSubject, mutant: Mutant?, anyFlagKills: Bool) {
            guard let mutant else { return InterleavedRun.run(set.members, subject: subject, into: &tally) }
            let before = tally.executedCount
            InterleavedRun.run(set.left(having: settled, remembers: mutant.remembers), subject: subject, into: &tally)
            guard tally.executedCount > before else { return }
            settled.formUnion(tally.failedFlags)
            guard !anyFlagKills else { return }
            for flag in set.flags where !settled.contains(flag) && flag != mutant.flag.rawValue {
                groupCounts[flag, default: 0] += 1
                if groupCounts[flag] == KillMatrix.maxQuietCount { settled.insert(flag) }
            }
        }
    }

    /// The subjects. The counts of a mutant are of the reads that it was put to.
    let subjects: [(subject: InProcessSubject, mutant: Mutant?)]
    let anyFlagKills: Bool
    let threadCount: Int

    /// The number of sets of groups whose reads are held at a time, for all subjects.
    private static let batchSetCount = 64

    /// Runs the subjects over the groups.
    ///
    /// - Parameters:
    ///   - groups: The groups.
    ///   - shouldStop: Called before each piece of work.
    ///   - progress: Called on any of the threads with the pieces that are done.
    /// - Returns: A record for each subject, in order; `nil` if the run was stopped.
    func run(
        _ groups: [VectorGroup], shouldStop: @escaping @Sendable () -> Bool,
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) -> [ConformanceRecord]? {
        let sets = InterleavedRun.sets(of: groups) { $0 }
        let total = subjects.count * ((sets.count + Self.batchSetCount - 1) / Self.batchSetCount)
        var courses = subjects.map { _ in SubjectProgress() }
        for (turn, start) in stride(from: 0, to: sets.count, by: Self.batchSetCount).enumerated() {
            let batch = Parallel.map(Array(sets[start..<min(start + Self.batchSetCount, sets.count)]), Members.init)
            let (before, subjects) = (courses, subjects)
            // A mutant runs the batch in order. Controls, which take all vectors, come first, and threads share them.
            let pieces = subjects.indices.reversed().flatMap { index in
                subjects[index].mutant == nil ? batch.indices.map { (index, $0..<$0 + 1) } : [(index, batch.indices)]
            }
            let found = SharedWork.run(
                itemCount: pieces.count, threadCount: threadCount, shouldStop: shouldStop,
                finished: { _, finished in
                    progress(turn * subjects.count + finished * subjects.count / pieces.count, total)
                }
            ) { item in
                let (index, range) = pieces[item]
                let (subject, mutant) = subjects[index]
                var course = mutant == nil ? SubjectProgress() : before[index]
                for set in batch[range] {
                    course.run(set, subject: subject, mutant: mutant, anyFlagKills: anyFlagKills)
                }
                return course
            }.compactMap { $0 }
            guard found.count == pieces.count else { return nil }
            for ((index, _), course) in zip(pieces, found) {
                if subjects[index].mutant == nil {
                    courses[index].tally.merge(course.tally)
                } else {
                    courses[index] = course
                }
            }
        }
        return subjects.indices.map { courses[$0].tally.record(subject: subjects[$0].subject.name) }
    }
}
