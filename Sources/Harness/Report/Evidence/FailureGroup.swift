import Results

/// Failures of one subject that are alike: of the same flags and for the same reason, but for its figures; and what follows
/// from an object that was not opened as it should be.
struct FailureGroup {
    /// The smallest counterexample.
    let first: ConformanceRecord.Failure
    /// The others.
    private(set) var others: [ConformanceRecord.Failure] = []

    private init(_ first: ConformanceRecord.Failure) {
        self.first = first
    }

    /// The others in a sentence; `nil` if there are none.
    var othersText: String? {
        guard !others.isEmpty else { return nil }
        let named = others.prefix(3).map(\.id).joined(separator: "; ")
        return "and \(RatioText.count(others.count, "failure")) like it: \(named)" + (others.count > 3 ? "; …" : "")
    }

    /// Groups failures, in the order of the first of each.
    static func groups(of failures: [ConformanceRecord.Failure]) -> [FailureGroup] {
        var groups: [FailureGroup] = []
        var known: [[String]: Int] = [:]
        // By the object's identifier: what is read of it follows from how it opened.
        let opened = Dictionary(
            failures.filter { $0.id.hasSuffix(" open") }.map { (String($0.id.dropLast(5)), kind(of: $0)) },
            uniquingKeysWith: { first, _ in first })
        func add(_ failure: ConformanceRecord.Failure, to kind: [String]) {
            if let index = known[kind] {
                groups[index].others.append(failure)
            } else {
                known[kind] = groups.count
                groups.append(FailureGroup(failure))
            }
        }
        for failure in failures where cause(of: failure, opened) == nil { add(failure, to: kind(of: failure)) }
        for failure in failures {
            if let cause = cause(of: failure, opened) { add(failure, to: cause) }
        }
        return groups
    }

    /// The kind of the failed opening that a failed read follows from, or `nil`.
    private static func cause(
        of failure: ConformanceRecord.Failure, _ opened: [String: [String]]
    ) -> [String]? {
        guard failure.reason == ConformanceRecord.Failure.notOpened else { return nil }
        // Of objects whose names begin alike, the one with the longest name.
        return opened.filter { failure.id.hasPrefix($0.key + " ") }.max { $0.key.count < $1.key.count }?.value
    }

    private static func kind(of failure: ConformanceRecord.Failure) -> [String] {
        failure.flags + [ConformanceRecord.Failure.pattern(of: failure.reason)]
    }
}
