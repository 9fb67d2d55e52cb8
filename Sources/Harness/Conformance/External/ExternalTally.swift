import Results

/// What one check came to.
struct ExternalVerdict: Hashable, Sendable {
    /// The vector's identifier.
    var id: String
    /// The classes of bugs that it stands for.
    var flags: [String]
    /// What is wrong, or `nil`.
    var mismatch: String?
    /// How large the counterexample is: the object's length, the read's, its offset.
    var size: [UInt64]
}

/// Counts outcomes, also by flag, and keeps the smallest counterexamples.
struct ExternalTally {
    private struct Counts {
        var passed = 0
        var failed = 0
        var unsupported = 0
        var notRun = 0
    }

    private let capacity: Int
    private var all = Counts()
    private var byFlag: [String: Counts] = [:]
    private var failures: [ExternalVerdict] = []

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Whether anything failed so far.
    var hasFailures: Bool { all.failed > 0 }

    /// Adds what a check came to.
    mutating func add(_ verdict: ExternalVerdict) {
        guard verdict.mismatch != nil else { return count(\.passed, verdict.flags) }
        count(\.failed, verdict.flags)
        let place = failures.firstIndex { verdict.size.lexicographicallyPrecedes($0.size) } ?? failures.count
        failures.insert(verdict, at: place)
        dropSurplus()
    }

    /// Adds vectors that the subject says it cannot do.
    mutating func addUnsupported(_ flags: [String]) {
        count(\.unsupported, flags)
    }

    /// Adds vectors that were not tried.
    mutating func addNotRun(_ flags: [String]) {
        count(\.notRun, flags)
    }

    func record(subject: String) -> ConformanceRecord {
        ConformanceRecord(
            subject: subject, passed: all.passed, failed: all.failed, unsupported: all.unsupported,
            notRun: all.notRun,
            failures: failures.map { .init(id: $0.id, flags: $0.flags, reason: $0.mismatch ?? "") },
            flags: byFlag.sorted { $0.key < $1.key }.map { flag, counts in
                .init(
                    flag: flag, passed: counts.passed, failed: counts.failed, unsupported: counts.unsupported,
                    notRun: counts.notRun)
            })
    }

    private mutating func count(_ outcome: WritableKeyPath<Counts, Int>, _ flags: [String]) {
        all[keyPath: outcome] += 1
        for flag in Set(flags) { byFlag[flag, default: Counts()][keyPath: outcome] += 1 }
    }

    /// Drops the largest counterexample of the kind that there are most of.
    private mutating func dropSurplus() {
        guard failures.count > capacity else { return }
        let kinds = failures.map(\.kind)
        let counts = Dictionary(kinds.map { ($0, 1) }, uniquingKeysWith: +)
        let maximum = counts.values.max() ?? 0
        if let surplus = kinds.indices.last(where: { counts[kinds[$0]] == maximum }) { failures.remove(at: surplus) }
    }
}

extension ExternalVerdict {
    /// What failures of the same cause have in common: their flags, and the reason without its figures.
    fileprivate var kind: [String] {
        flags + [String((mismatch ?? "").filter { !$0.isHexDigit })]
    }
}
