package import RandomAccess
package import Results
internal import Support
internal import Vectors

/// Finds the injected fault that a subject's failures resemble most. Mutants, readers with one fault each, get the same
/// requests as the subject, and their answers are compared with its own.
///
/// Each answer that differs from a right reader's counts, even if only one of the two is wrong. The finder names a
/// mutant if three of five of these answers are the same from both. Being wrong in the same places is not enough to
/// show the same fault.
package struct CauseFinder {
    /// Groups that are open together, the reads that are compared, and the subject's answers.
    private struct AskedGroups: Sendable {
        let members: [InterleavedRun.Member]
        let answers: Answers
    }

    private typealias Answers = [AnswerLog.Request: LoggedAnswer]

    /// The similarity of a mutant. Its parts are integers, so that the order of additions does not matter.
    private struct Match: Sendable {
        let mutant: Mutant
        /// The weight of the equal answers; `weight` is that of all wrong ones.
        var sameWeight = 0
        var weight = 0
        var sameCount = 0
        var wrongCount = 0
        var score: Double { weight == 0 ? 0 : Double(sameWeight) / Double(weight) }
    }

    private let backend: any CipherBackend
    private var failed: [AskedGroups] = []
    private var passed: [AskedGroups] = []
    /// The number of groups of each kind.
    private var counts: [String: Int] = [:]

    /// The max number of sets of groups that are compared, of the failed ones and of the others each.
    private static let maxSetCount = 100
    /// The max number of sets with the same flags and strategy.
    private static let maxAlikeCount = 4
    /// The max number of reads of a group, from the first on.
    private static let maxReadCount = 600
    private static let maxByteCount: UInt64 = 8 << 20
    /// The likeness that a mutant needs to be called the cause.
    private static let minLikeness = 0.6
    /// The weight of a read, where an opening has 1: if anything is wrong with a chain, its padding is wrong as well.
    private static let readWeight = 10

    /// The mutants are readers over `backend`, which has no fault.
    package init(backend: any CipherBackend) {
        self.backend = backend
    }

    /// Runs groups that are open together against a subject, as ``InterleavedRun`` does, and keeps the answers that may
    /// reveal a fault.
    mutating func run(_ members: [InterleavedRun.Member], subject: any SubjectUnderTest, into tally: inout Tally) {
        guard let first = members.first?.group, Self.isComparable(members) else {
            return InterleavedRun.run(members, subject: subject, into: &tally)
        }
        let log = AnswerLog()
        let failedCount = tally.failedCount
        InterleavedRun.run(members, subject: Self.logged(subject, members, log), into: &tally)
        let hasFailed = tally.failedCount > failedCount
        let kind = "\(hasFailed) \(first.strategyName) \(first.flags.map(\.rawValue))"
        guard (hasFailed ? failed : passed).count < Self.maxSetCount, !log.answers.isEmpty,
            counts[kind, default: 0] < (hasFailed ? Self.maxAlikeCount : 1)
        else { return }
        counts[kind, default: 0] += 1
        let asked = AskedGroups(
            members: members.map { ($0.group, Array($0.reads.prefix(Self.maxReadCount))) }, answers: log.answers)
        if hasFailed { failed.append(asked) } else { passed.append(asked) }
    }

    /// Says whether all mutants can run the groups in little time.
    private static func isComparable(_ members: [InterleavedRun.Member]) -> Bool {
        members.allSatisfy { group, reads in
            !group.hasStrategy || (group.strategy.chunkByteCount ?? 0) <= maxByteCount || group.strategy.isStreaming
        }
            && members.reduce(0) { $0 + $1.reads.prefix(maxReadCount).reduce(0) { $0 + UInt64($1.read.count) } }
                <= maxByteCount
    }

    private static func logged(
        _ subject: any SubjectUnderTest, _ members: [InterleavedRun.Member], _ log: AnswerLog
    ) -> LoggedSubject {
        let numbers = members.enumerated().map { ($1.group.id, $0) }
        return LoggedSubject(base: subject, log: log, groups: Dictionary(numbers) { first, _ in first })
    }

    private func answers(
        _ reader: InProcessSubject, _ members: [InterleavedRun.Member], windowByteCount: Int = .max
    ) -> Answers {
        let log = AnswerLog()
        var tally = Tally(capacity: 0, counting: .findings)
        InterleavedRun.run(
            members,
            subject: Self.logged(
                ServedReader(base: reader, windowByteCount: windowByteCount), members, log), into: &tally)
        return log.answers
    }

    /// Returns the fault that the failures resemble most; `nil` if no failure can be compared.
    package func cause() -> ConformanceRecord.Cause? {
        guard !failed.isEmpty else { return nil }
        let right = InProcessSubject(backend: backend)
        let compared = Parallel.map(failed + passed) { asked in (asked, answers(right, asked.members)) }
        let matches = Parallel.map(Mutant.all) { mutant in
            let reader = mutant.subject(over: backend)
            var match = Match(mutant: mutant)
            for (asked, right) in compared[..<failed.count] { add(asked, right, reader, to: &match) }
            // A mutant that shares no wrong answer with the failures is not a cause.
            guard match.sameCount > 0 else { return match }
            for (asked, right) in compared[failed.count...] { add(asked, right, reader, to: &match) }
            return match
        }.sorted { ($0.score, $0.sameCount) > ($1.score, $1.sameCount) }
        guard let best = matches.first else { return nil }
        let others = matches.dropFirst().filter { $0.score == best.score && $0.sameCount == best.sameCount }
        let isAlike = best.score >= Self.minLikeness
        return ConformanceRecord.Cause(
            mutant: isAlike ? best.mutant.name : nil, fault: isAlike ? best.mutant.summary : nil,
            flag: isAlike ? best.mutant.flag.rawValue : nil, sameCount: best.sameCount, wrongCount: best.wrongCount,
            likeness: (best.score * 1000).rounded() / 1000, others: isAlike ? others.map(\.mutant.name) : [])
    }

    private func add(_ asked: AskedGroups, _ right: Answers, _ reader: InProcessSubject, to match: inout Match) {
        let mutants = answers(reader, asked.members, windowByteCount: match.mutant.windowByteCount)
        for (request, right) in right {
            // No mutant dies or hangs, so this answer resembles none of them.
            guard let own = asked.answers[request], own != LoggedAnswer.none else { continue }
            let its = mutants[request] ?? right
            let isWrong = own != right && !own.isRight(despite: request.fault)
            let isItsWrong = its != right && !its.isRight(despite: request.fault)
            guard isWrong || isItsWrong else { continue }
            let weight = request.offset == nil ? 1 : Self.readWeight
            match.weight += weight
            match.wrongCount += 1
            guard own == its else { continue }
            match.sameWeight += weight
            match.sameCount += 1
        }
    }
}
