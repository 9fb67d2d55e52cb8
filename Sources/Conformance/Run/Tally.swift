internal import Results
internal import Vectors

/// Counts outcomes, and keeps the smallest counterexamples.
struct Tally: Sendable {
    private struct Entry: Sendable {
        var size: [UInt64]
        var failure: ConformanceRecord.Failure
    }

    /// How many failures are kept.
    let capacity: Int
    var passed = 0
    var unsupported = 0
    var notRun = 0
    private(set) var failed = 0
    private var entries: [Entry] = []

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Adds a failure that stands for `count` vectors.
    ///
    /// Failures are ordered by `size`, smallest first: the object's length, the read's, its offset.
    mutating func fail(id: String, flags: [VectorFlag], reason: String, size: [UInt64], count: Int = 1) {
        failed += count
        if entries.count == capacity, let last = entries.last, !size.lexicographicallyPrecedes(last.size) { return }
        add(Entry(size: size, failure: .init(id: id, flags: flags.map(\.rawValue), reason: reason)))
    }

    /// Adds another tally of the same subject.
    mutating func merge(_ other: Tally) {
        passed += other.passed
        failed += other.failed
        unsupported += other.unsupported
        notRun += other.notRun
        for entry in other.entries { add(entry) }
    }

    func record(subject: String) -> ConformanceRecord {
        ConformanceRecord(
            subject: subject, passed: passed, failed: failed, unsupported: unsupported, notRun: notRun,
            failures: entries.map(\.failure))
    }

    private mutating func add(_ entry: Entry) {
        let place = entries.firstIndex { entry.size.lexicographicallyPrecedes($0.size) } ?? entries.count
        entries.insert(entry, at: place)
        if entries.count > capacity { entries.removeLast() }
    }
}
