internal import Results
internal import Vectors

/// The result of one check.
struct Verdict: Sendable {
    /// The subject of a failure. Those of reads are listed first, since users look for them.
    enum Subject: UInt64, Sendable {
        /// Plaintext.
        case bytes
        /// An expected error.
        case error
        /// Fetches, and the subject's use of the protocol.
        case adapter
    }

    /// The vector's identifier.
    var id: String
    /// The classes of bugs that the vector stands for.
    var flags: [String]
    var subject: Subject
    /// The mismatch, or `nil`.
    var mismatch: String?
    /// The size of the counterexample: the object's length, the read's length, its offset.
    var size: [UInt64] = [0, 0, 0]
    /// True for a verdict on a vector; false for one on another check made beside it.
    var isVector = true

    /// A verdict on the subject's use of the protocol.
    static func adapter(_ id: String, _ flag: ExternalFlag, size: [UInt64] = [0, 0, 0], _ mismatch: String?) -> Verdict
    {
        Verdict(
            id: id, flags: [flag.rawValue], subject: .adapter, mismatch: mismatch, size: size, isVector: false)
    }

    fileprivate func isListed(before other: Verdict) -> Bool {
        subject == other.subject
            ? size.lexicographicallyPrecedes(other.size) : subject.rawValue < other.subject.rawValue
    }

    /// A key that failures of the same cause share: their flags, and the reason without its figures.
    fileprivate var kind: [String] {
        flags + [ConformanceRecord.Failure.pattern(of: mismatch ?? "")]
    }

    /// The origin of a wrong answer, such as another IV, without its figures; `nil` if the answer is only known to be
    /// wrong.
    fileprivate var explanation: String? {
        guard let mismatch, mismatch != ConformanceRecord.Failure.notOpened else { return nil }
        let said = mismatch.split(separator: "; ").last { !$0.hasPrefix("byte ") } ?? ""
        guard !said.isEmpty else { return nil }
        return ConformanceRecord.Failure.pattern(of: said)
    }
}

/// Counts outcomes, in total and by flag, and keeps the smallest counterexamples of every flag and of many kinds.
struct Tally: Sendable {
    /// The outcome of a vector.
    enum Outcome: Int, CaseIterable {
        case passed
        case failed
        case unsupported
        case notRun
    }

    /// The unit that is counted.
    enum Unit {
        /// Vectors, each of which passes or fails as a whole with all readers of a subject.
        case vectors
        /// Findings: each read of an object that did not open counts on its own, as for a user's program.
        case findings
    }

    private struct Entry: Sendable {
        var verdict: Verdict
        /// Its index in `kindCounts`.
        var kind: Int
    }

    /// The max number of failures that are kept, unless there are more flags than that.
    let capacity: Int
    /// The unit that is counted.
    let unit: Unit
    private var counts = [Int](repeating: 0, count: Outcome.allCases.count)
    /// The counts for the vectors of each flag.
    private var countsByFlag: [String: [Int]] = [:]
    /// The flags of failed vectors.
    private(set) var failedFlags: Set<String> = []
    /// Consecutive vectors of the same outcome and flags. They are counted when a different one follows.
    private var run: (outcome: Outcome, flags: [VectorFlag], count: Int) = (.passed, [], 0)
    private var entries: [Entry] = []
    /// Findings about an adapter, which no count includes.
    private var findings: [Verdict] = []
    /// The number of entries by flag.
    private var entryCounts: [String: Int] = [:]
    /// The index in `kindCounts` of each kind of failure so far. `kindCounts` holds the number of entries of each kind.
    private var kinds: [[String]: Int] = [:]
    private var kindCounts: [Int] = []
    /// The number of failures with each explanation, and the smallest of them.
    private var explained: [String: (count: Int, smallest: Verdict)] = [:]
    private static let maxExplanationCount = 200
    /// The number of failures that follow from an object that did not open.
    private var consequenceCount = 0

    init(capacity: Int, counting unit: Unit = .vectors) {
        (self.capacity, self.unit) = (capacity, unit)
    }

    /// Counts vectors that all have these flags.
    mutating func note(_ outcome: Outcome, flags: some Sequence<String>, count: Int = 1) {
        counts[outcome.rawValue] += count
        for flag in flags {
            countsByFlag[flag, default: [Int](repeating: 0, count: Outcome.allCases.count)][outcome.rawValue] += count
        }
    }

    /// Counts vectors that all have these flags.
    mutating func note(_ outcome: Outcome, flags: [VectorFlag], count: Int = 1) {
        if outcome != run.outcome || flags != run.flags {
            endRun()
            (run.outcome, run.flags) = (outcome, flags)
        }
        run.count += count
    }

    private mutating func endRun() {
        if run.count > 0 { note(run.outcome, flags: run.flags.lazy.map(\.rawValue), count: run.count) }
        run.count = 0
    }

    /// Counts the opening of a group, and reads of it, that were not run.
    mutating func skip(_ outcome: Outcome, _ group: VectorGroup, _ reads: [NumberedRead]) {
        guard unit == .findings else { return note(outcome, flags: group.flags, count: group.vectorCount) }
        note(outcome, flags: group.flags)
        for (_, read) in reads { note(outcome, flags: read.flags) }
    }

    /// Counts a vector. It makes the counterexample only if it may keep it; with no capacity, only for a flag's first.
    mutating func add(_ mismatch: String?, flags: [VectorFlag], verdict: (String) -> Verdict) {
        if let mismatch, capacity > 0 || flags.contains(where: { !failedFlags.contains($0.rawValue) }) {
            return add(verdict(mismatch))
        }
        vectorCount += 1
        note(mismatch == nil ? .passed : .failed, flags: flags)
    }

    /// Adds the result of a check; a failure may stand for `count` vectors.
    mutating func add(_ verdict: Verdict, count: Int = 1) {
        // A vector that lists a flag twice counts once for it.
        let flags = Set(verdict.flags)
        if verdict.isVector { vectorCount += count }
        note(verdict.mismatch == nil ? .passed : .failed, flags: flags, count: count)
        guard verdict.mismatch != nil else { return }
        failedFlags.formUnion(flags)
        if verdict.mismatch == ConformanceRecord.Failure.notOpened {
            consequenceCount += count
        } else if capacity > 0, let explanation = verdict.explanation {
            explain(explanation, verdict, count: 1)
        }
        let kind = kind(of: verdict)
        let isNew = kindCounts[kind] == 0 || flags.contains { entryCounts[$0] == nil }
        if entries.count >= capacity, !isNew, isSurplus(verdict, kind) { return }
        insert(Entry(verdict: verdict, kind: kind))
    }

    private mutating func explain(_ explanation: String, _ verdict: Verdict, count: Int) {
        guard let known = explained[explanation] else {
            if explained.count < Self.maxExplanationCount { explained[explanation] = (count, verdict) }
            return
        }
        let smallest = verdict.isListed(before: known.smallest) ? verdict : known.smallest
        explained[explanation] = (known.count + count, smallest)
    }

    /// The kinds with at least a quarter of the failures and at least two, at most three of them, largest first.
    /// Failures that follow from an object that did not open are not counted.
    private var largestKinds: [ConformanceRecord.Kind] {
        let failedCount = failedCount - consequenceCount
        return explained.values.filter { $0.count > 1 && 4 * $0.count >= failedCount }
            .sorted { ($1.count, $0.smallest.id) < ($0.count, $1.smallest.id) }.prefix(3).map {
                .init(
                    count: $0.count, failedCount: failedCount, id: $0.smallest.id, reason: $0.smallest.mismatch ?? "")
            }
    }

    /// Keeps a finding of a protocol check without counting it.
    mutating func keep(_ finding: Verdict) { findings.append(finding) }

    private mutating func kind(of verdict: Verdict) -> Int {
        let kind = verdict.kind
        if let known = kinds[kind] { return known }
        kinds[kind] = kindCounts.count
        kindCounts.append(0)
        return kindCounts.count - 1
    }

    /// Says whether a failure that is not new sorts after everything listed, or would be dropped at once as the last of
    /// the most frequent kind.
    private func isSurplus(_ verdict: Verdict, _ kind: Int) -> Bool {
        guard let last = entries.last, verdict.isListed(before: last.verdict) else { return true }
        guard let like = entries.last(where: { $0.kind == kind }), !verdict.isListed(before: like.verdict) else {
            return false
        }
        return kindCounts.allSatisfy { $0 <= kindCounts[kind] }
    }

    /// The vectors that passed or failed.
    var executedCount: Int { count(of: .passed) + failedCount }

    /// The number of verdicts on vectors.
    private(set) var vectorCount = 0

    /// The number of vectors that failed.
    var failedCount: Int { count(of: .failed) }

    private func count(of outcome: Outcome) -> Int {
        counts[outcome.rawValue] + (run.outcome == outcome ? run.count : 0)
    }

    /// Adds another tally of the same subject.
    mutating func merge(_ other: Tally) {
        note(other.run.outcome, flags: other.run.flags, count: other.run.count)
        failedFlags.formUnion(other.failedFlags)
        counts = Self.sum(counts, other.counts)
        countsByFlag.merge(other.countsByFlag, uniquingKeysWith: Self.sum)
        findings += other.findings
        consequenceCount += other.consequenceCount
        for (explanation, known) in other.explained { explain(explanation, known.smallest, count: known.count) }
        for entry in other.entries { insert(Entry(verdict: entry.verdict, kind: kind(of: entry.verdict))) }
    }

    mutating func record(subject: String) -> ConformanceRecord {
        endRun()
        let known = VectorFlag.allCases.map(\.rawValue)
        let others = Set(countsByFlag.keys).subtracting(known).sorted()
        var record = ConformanceRecord(
            subject: subject, passed: counts[0], failed: counts[1], unsupported: counts[2], notRun: counts[3],
            failures: entries.map {
                .init(id: $0.verdict.id, flags: $0.verdict.flags, reason: $0.verdict.mismatch ?? "")
            },
            flags: (known + others).compactMap { flag in
                countsByFlag[flag].map {
                    .init(flag: flag, passed: $0[0], failed: $0[1], unsupported: $0[2], notRun: $0[3])
                }
            },
            adapter: findings.isEmpty
                ? nil : findings.map { .init(id: $0.id, flags: $0.flags, reason: $0.mismatch ?? "") })
        let kinds = largestKinds
        if !kinds.isEmpty { record.kinds = kinds }
        return record
    }

    private static func sum(_ left: [Int], _ right: [Int]) -> [Int] {
        zip(left, right).map(+)
    }

    private mutating func insert(_ entry: Entry) {
        let index = entries.firstIndex { entry.verdict.isListed(before: $0.verdict) } ?? entries.count
        entries.insert(entry, at: index)
        for flag in Set(entry.verdict.flags) { entryCounts[flag, default: 0] += 1 }
        kindCounts[entry.kind] += 1
        if entries.count > capacity { dropSurplus() }
    }

    /// Drops the last counterexample of the most frequent kind, but never a flag's only one.
    private mutating func dropSurplus() {
        let droppable = entries.indices.filter { index in
            entries[index].verdict.flags.allSatisfy { entryCounts[$0, default: 0] > 1 }
        }
        let maximum = droppable.map { kindCounts[entries[$0].kind] }.max()
        guard let surplus = droppable.last(where: { kindCounts[entries[$0].kind] == maximum }) else { return }
        let dropped = entries.remove(at: surplus)
        for flag in Set(dropped.verdict.flags) { entryCounts[flag, default: 1] -= 1 }
        kindCounts[dropped.kind] -= 1
    }
}
