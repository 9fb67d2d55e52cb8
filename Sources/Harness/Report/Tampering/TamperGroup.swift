import Results

/// Subjects that did the same in everything.
struct TamperGroup {
    /// The subjects.
    var subjects: [String]
    /// What became of each strategy.
    var rows: [TamperRecord.Row]

    /// Puts records with the same rows together, in the order of the first of each.
    static func groups(of records: [TamperRecord]) -> [TamperGroup] {
        records.reduce(into: []) { groups, record in
            if let index = groups.firstIndex(where: { $0.rows == record.rows }) {
                groups[index].subjects.append(record.subject)
            } else {
                groups.append(TamperGroup(subjects: [record.subject], rows: record.rows))
            }
        }
    }

    /// The subjects in words.
    var name: String { subjects.joined(separator: ", ") + (subjects.count > 1 ? " (each the same)" : "") }
}

extension TamperRecord.Row {
    /// The strategy without the lengths of its chunks and of what it is bound to.
    var shortName: String {
        let words = strategy.components(before: " context of ").split(separator: " ")
        return words.filter { !$0.contains("=") }.joined(separator: " ")
    }

    /// How many of the changes were noticed, and what a flipped bit did where it was not: in measured figures.
    var summary: String {
        let counts = counts()
        var text = "\(shortName): \(counts.detected) of \(counts.cases) changes were noticed" + whereNoticed(counts)
        if isAuthenticated {
            return text + (counts.wrongByteCount == 0 ? ", before a wrong byte was delivered" : "")
                + (counts.wrongByteCount > 0 ? ", and \(Self.bytes(counts.wrongByteCount, "wrong")) delivered" : "")
        }
        text += ", and \(Self.bytes(counts.wrongByteCount, "wrong")) delivered"
        if counts.missingByteCount > 0 { text += ", \(Self.bytes(counts.missingByteCount, nil)) missing" }
        if counts.extraByteCount > 0 { text += ", \(Self.bytes(counts.extraByteCount, nil)) too many" }
        let flips = undetectedWrongByteCounts(kind: "flip")
        guard let minimum = flips.first, let maximum = flips.last else { return text }
        let median = flips[flips.count / 2]
        let figure = minimum == maximum ? "\(maximum)" : "\(minimum) to \(maximum)"
        return text + "; a flipped bit that passed unnoticed made \(figure) wrong byte\(maximum == 1 ? "" : "s")"
            + (minimum == maximum ? "" : ", \(median) at the median")
    }

    /// How many changes were noticed at opening, and how many at which reads.
    private func whereNoticed(_ counts: Counts) -> String {
        guard counts.detected > 0 else { return "" }
        let reads = cases.filter { $0.sequential.state == .detectedAtRead }.compactMap(\.sequential.read)
        guard let first = reads.min(), let last = reads.max() else { return ", at opening" }
        let numbers = first == last ? "read \(first)" : "reads \(first) to \(last)"
        return " (\(counts.detectedAtOpen) at opening, \(counts.detectedAtRead) at \(numbers))"
    }

    /// The first changes that were not noticed, one of each kind.
    var unnoticed: [String] {
        Self.kinds.compactMap { kind in
            cases.first { $0.kind == kind && !$0.sequential.isDetected }.map { "\($0.kind): \($0.place)" }
        }
    }

    /// A number of bytes, with what they are.
    static func bytes(_ count: UInt64, _ adjective: String?) -> String {
        let words = [adjective, count == 1 ? "byte" : "bytes"].compactMap { $0 }
        return "\(SignificantDigits.grouped(count)) \(words.joined(separator: " "))"
    }
}

extension String {
    /// The text up to a mark, or all of it.
    fileprivate func components(before mark: String) -> Substring {
        firstRange(of: mark).map { self[..<$0.lowerBound] } ?? self[...]
    }
}
