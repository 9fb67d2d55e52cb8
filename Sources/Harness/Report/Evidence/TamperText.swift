package import Results
import Support

extension TamperRecord {
    /// The number of failures listed for each subject.
    private static let maxFailures = 10
    private static let maxNameLength = 18
    /// The number of unnoticed changes named for each row.
    private static let maxUnnoticed = 4

    /// Returns records as text: for each subject a table of the noticed changes, then the unnoticed ones.
    package static func text(_ records: [TamperRecord]) -> String {
        let groups = TamperGroup.groups(of: records)
        var lines = [
            "Changes that a sequential reader noticed, of all, by kind (header: in CBC and",
            "CTR, the IV); below them, what it delivered, before an error or altogether.", "",
        ]
        for group in groups {
            lines += TextWrapping.lines(group.name, columns: TextTable.width)
            lines += table(group) + [""]
        }
        for group in groups { lines += notes(group) }
        for record in records { lines += failures(record) }
        lines += TextWrapping.lines(conclusion(records), columns: TextTable.width)
        return lines.joined(separator: "\n")
    }

    private static func table(_ group: TamperGroup) -> [String] {
        var rows = [[""] + Row.kinds]
        for row in group.rows {
            guard row.state == .run || !row.cases.isEmpty else {
                rows.append([row.shortName] + [String](repeating: "–", count: Row.kinds.count))
                continue
            }
            let counts = Row.kinds.map { row.counts(kind: $0) }
            // A long name has a line of its own.
            let isLong = row.shortName.count > maxNameLength
            if isLong { rows.append([row.shortName]) }
            rows.append(
                [isLong ? "" : row.shortName] + counts.map { $0.cases == 0 ? "–" : "\($0.detected)/\($0.cases)" })
            func add(_ name: String, _ figure: (Row.Counts) -> UInt64) {
                guard counts.contains(where: { figure($0) > 0 }) else { return }
                rows.append(["  " + name] + counts.map { figure($0) == 0 ? "" : "\(figure($0))" })
            }
            add("wrong bytes") { $0.wrongByteCount }
            add("missing") { $0.missingByteCount }
            add("too many") { $0.extraByteCount }
        }
        let widths = rows[0].indices.map { column in
            rows.lazy.filter { $0.count > 1 }.map { $0[column].count }.max() ?? 0
        }
        return rows.map { row in
            if row.count == 1 { return row[0] }
            var line = row.enumerated().map { column, text in
                let space = String(repeating: " ", count: widths[column] - text.count)
                return column == 0 ? text + space : space + text
            }.joined(separator: " ")
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    /// Returns notes on rows of formats that do not authenticate, in which some changes pass.
    private static func notes(_ group: TamperGroup) -> [String] {
        let rows = group.rows.filter {
            $0.state == .run && !$0.isAuthenticated && $0.counts().detected < $0.cases.count
        }
        guard !rows.isEmpty else { return [] }
        let lines = rows.flatMap { row in
            wrapped(["\(row.summary)."])
                + (row.unnoticed.isEmpty
                    ? [] : indented("not noticed: \(row.unnoticed.prefix(maxUnnoticed).joined(separator: "; "))"))
        }
        return wrapped([group.name + ":"]) + lines + [""]
    }

    private static func failures(_ record: TamperRecord) -> [String] {
        let failures = record.rows.flatMap { row in
            row.cases.filter { $0.failure != nil }.map {
                "FAILED \(record.subject): \(row.strategy): \($0.kind): \($0.place): \($0.failure ?? "")"
            }
        }
        let rest = failures.count - maxFailures
        return wrapped(
            failures.prefix(maxFailures) + (rest > 0 ? ["FAILED \(record.subject): \(rest) more"] : []))
    }

    private static func indented(_ line: String) -> [String] {
        TextWrapping.lines(line, columns: TextTable.width - 2).map { "  " + $0 }
    }

    private static func wrapped(_ lines: [String]) -> [String] {
        lines.flatMap { TextWrapping.lines($0, columns: TextTable.width, indent: "  ") }
    }

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
    /// The strategy without parameters that are numbers, such as the length of its chunks.
    var shortName: String {
        let words = strategy.split(separator: ":", maxSplits: 1)
        let parameters = (words.count > 1 ? words[1] : "").split(separator: ",").filter { parameter in
            parameter.split(separator: "=").last?.first.map { !("0"..."9").contains($0) } ?? true
        }
        return ([String(words[0])] + (parameters.isEmpty ? [] : [parameters.joined(separator: ",")]))
            .joined(separator: ":")
    }

    /// The number of noticed changes, and the effect of a flipped bit that was not noticed, in measured figures.
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
