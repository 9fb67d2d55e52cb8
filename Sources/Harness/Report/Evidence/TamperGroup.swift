import Results
import Statistics

extension TamperRecord {
    /// Returns the conclusion in a sentence or two.
    static func conclusion(_ records: [TamperRecord]) -> String {
        func counts(_ isAuthenticated: Bool) -> (detected: Int, cases: Int, wrong: UInt64) {
            records.flatMap(\.rows).filter { $0.isAuthenticated == isAuthenticated }.reduce((0, 0, 0)) {
                let counts = $1.counts()
                return ($0.0 + counts.detected, $0.1 + counts.cases, $0.2 + counts.wrongByteCount)
            }
        }
        let (strong, weak) = (counts(true), counts(false))
        var parts: [String] = []
        if strong.cases > 0 {
            parts.append(
                "\(strong.detected) of \(strong.cases) changes to authenticated formats were noticed, and "
                    + "\(Row.bytes(strong.wrong, "wrong")) delivered.")
        }
        if weak.cases > 0 {
            parts.append(
                "\(weak.detected) of \(weak.cases) changes to CBC and CTR were noticed. CBC and CTR do not "
                    + "authenticate data, so no reader can notice the others.")
        }
        let failed = records.reduce(0) { $0 + $1.failed }
        let changes = RatioText.count(failed, "change")
        parts.append(failed == 0 ? "No change was answered in a wrong way." : "\(changes) answered in a wrong way.")
        return parts.joined(separator: " ")
    }
}

/// Subjects with the same results everywhere.
struct TamperGroup {
    var subjects: [String]
    var rows: [TamperRecord.Row]

    /// Returns records grouped by equal rows, in the order of the first of each group.
    static func groups(of records: [TamperRecord]) -> [TamperGroup] {
        records.reduce(into: []) { groups, record in
            if let index = groups.firstIndex(where: { $0.rows == record.rows }) {
                groups[index].subjects.append(record.subject)
            } else {
                groups.append(TamperGroup(subjects: [record.subject], rows: record.rows))
            }
        }
    }

    var name: String { subjects.joined(separator: ", ") + (subjects.count > 1 ? " (each the same)" : "") }
}

extension TamperRecord.Row {
    /// The number of noticed changes, and the effect of a flipped bit that was not noticed, in measured figures.
    var summary: String {
        let counts = counts()
        var text = "\(strategy): \(counts.detected) of \(counts.cases) changes were noticed" + whereNoticed(counts)
        if isAuthenticated {
            return text + (counts.wrongByteCount == 0 ? ", before a wrong byte was delivered" : "")
                + (counts.wrongByteCount > 0 ? ", and \(Self.bytes(counts.wrongByteCount, "wrong")) delivered" : "")
        }
        text += ", and \(Self.bytes(counts.wrongByteCount, "wrong")) delivered"
        if counts.missingByteCount > 0 { text += ", \(Self.bytes(counts.missingByteCount, nil)) missing" }
        if counts.extraByteCount > 0 { text += ", \(Self.bytes(counts.extraByteCount, nil)) too many" }
        let flips = undetectedWrongByteCounts(kind: "flip")
        guard let minimum = flips.first, let maximum = flips.last,
            let median = percentile(tenthsOfPercent: 500, ofSorted: flips)
        else { return text }
        let figure = minimum == maximum ? "\(maximum)" : "\(minimum) to \(maximum)"
        return text + "; a flipped bit that passed unnoticed made \(figure) wrong byte\(maximum == 1 ? "" : "s")"
            + (minimum == maximum ? "" : ", \(median) at the median")
    }

    /// Returns the number of changes noticed at opening and at reads, with the reads.
    private func whereNoticed(_ counts: Counts) -> String {
        guard counts.detected > 0 else { return "" }
        let reads = cases.filter { $0.sequential.state == .detectedAtRead }.compactMap(\.sequential.read)
        guard let first = reads.min(), let last = reads.max() else { return ", at opening" }
        let numbers = first == last ? "read \(first)" : "reads \(first) to \(last)"
        return " (\(counts.detectedAtOpen) at opening, \(counts.detectedAtRead) at \(numbers))"
    }

    /// The first unnoticed change of each kind.
    var unnoticed: [String] {
        Self.kinds.compactMap { kind in
            cases.first { $0.kind == kind && !$0.sequential.isDetected }.map { "\($0.kind): \($0.place)" }
        }
    }

    /// Returns a number of bytes with an adjective.
    static func bytes(_ count: UInt64, _ adjective: String?) -> String {
        let words = [adjective, count == 1 ? "byte" : "bytes"].compactMap { $0 }
        return "\(SignificantDigits.grouped(count)) \(words.joined(separator: " "))"
    }
}
