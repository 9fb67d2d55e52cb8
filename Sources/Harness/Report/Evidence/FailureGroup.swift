import Results

/// Similar failures of one subject. They have the same flags and the same reason except for its figures. Failed reads
/// of an object join the group of its failed opening.
struct FailureGroup {
    /// The smallest counterexample.
    let first: ConformanceRecord.Failure
    /// The other failures of the group.
    private(set) var others: [ConformanceRecord.Failure] = []

    private init(_ first: ConformanceRecord.Failure) {
        self.first = first
    }

    /// A sentence about the others; `nil` if there are none.
    var othersText: String? {
        guard !others.isEmpty else { return nil }
        let named = others.prefix(3).map(\.id).joined(separator: "; ")
        return "and \(RatioText.count(others.count, "failure")) like it: \(named)" + (others.count > 3 ? "; …" : "")
    }

    /// Returns the groups of failures, in the order of the first failure of each.
    static func groups(of failures: [ConformanceRecord.Failure]) -> [FailureGroup] {
        var groups: [FailureGroup] = []
        var known: [[String]: Int] = [:]
        // By the object's identifier: its reads fail because its opening failed.
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

    /// Returns the kind of the failed opening that caused a failed read, or `nil`.
    private static func cause(
        of failure: ConformanceRecord.Failure, _ opened: [String: [String]]
    ) -> [String]? {
        guard failure.reason == ConformanceRecord.Failure.notOpened else { return nil }
        // If several object names are prefixes of the ID, the longest one is right.
        return opened.filter { failure.id.hasPrefix($0.key + " ") }.max { $0.key.count < $1.key.count }?.value
    }

    private static func kind(of failure: ConformanceRecord.Failure) -> [String] {
        failure.flags + [ConformanceRecord.Failure.pattern(of: failure.reason)]
    }
}
