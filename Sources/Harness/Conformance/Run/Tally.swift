internal import Results
internal import Vectors

/// Counts outcomes, and keeps the smallest counterexamples.
struct Tally: Sendable {
    private struct Entry: Sendable {
        var size: [UInt64]
        var failure: ConformanceRecord.Failure
    }

    /// What can come of a vector.
    enum Outcome: Int, CaseIterable {
        case passed
        case failed
        case unsupported
        case notRun
    }

    /// How many failures are kept.
    let capacity: Int
    private var counts = [Int](repeating: 0, count: Outcome.allCases.count)
    /// The same for the vectors of each flag.
    private var countsByFlag: [VectorFlag: [Int]] = [:]
    private var entries: [Entry] = []

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Counts vectors that all have these flags.
    mutating func note(_ outcome: Outcome, flags: [VectorFlag], count: Int = 1) {
        counts[outcome.rawValue] += count
        for flag in flags {
            countsByFlag[flag, default: [Int](repeating: 0, count: Outcome.allCases.count)][outcome.rawValue] += count
        }
    }

    /// Adds a failure that stands for `count` vectors.
    ///
    /// Failures are ordered by `size`, smallest first: the object's length, the read's, its offset.
    mutating func fail(id: String, flags: [VectorFlag], reason: String, size: [UInt64], count: Int = 1) {
        note(.failed, flags: flags, count: count)
        if entries.count == capacity, let last = entries.last, !size.lexicographicallyPrecedes(last.size) { return }
        add(Entry(size: size, failure: .init(id: id, flags: flags.map(\.rawValue), reason: reason)))
    }

    /// The flags of failed vectors.
    var failedFlags: Set<VectorFlag> {
        Set(countsByFlag.filter { $0.value[Outcome.failed.rawValue] > 0 }.keys)
    }

    /// Adds another tally of the same subject.
    mutating func merge(_ other: Tally) {
        counts = Self.sum(counts, other.counts)
        countsByFlag.merge(other.countsByFlag, uniquingKeysWith: Self.sum)
        for entry in other.entries { add(entry) }
    }

    func record(subject: String) -> ConformanceRecord {
        ConformanceRecord(
            subject: subject, passed: counts[0], failed: counts[1], unsupported: counts[2], notRun: counts[3],
            failures: entries.map(\.failure),
            flags: VectorFlag.allCases.compactMap { flag in
                countsByFlag[flag].map {
                    .init(flag: flag.rawValue, passed: $0[0], failed: $0[1], unsupported: $0[2], notRun: $0[3])
                }
            })
    }

    private static func sum(_ left: [Int], _ right: [Int]) -> [Int] {
        zip(left, right).map(+)
    }

    private mutating func add(_ entry: Entry) {
        let place = entries.firstIndex { entry.size.lexicographicallyPrecedes($0.size) } ?? entries.count
        entries.insert(entry, at: place)
        if entries.count > capacity { entries.removeLast() }
    }
}
