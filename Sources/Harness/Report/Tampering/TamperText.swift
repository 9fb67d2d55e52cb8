package import Results
import Support

extension TamperRecord {
    /// Failures that are listed of each subject.
    private static let maxFailures = 10
    /// Changes that are named of each row in which some were not noticed.
    private static let maxUnnoticed = 4

    /// Records as text: for each subject a table of what was noticed, then what was not.
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
            rows.append(
                [row.shortName] + counts.map { $0.cases == 0 ? "–" : "\($0.detected)/\($0.cases)" })
            func add(_ name: String, _ figure: (Row.Counts) -> UInt64) {
                guard counts.contains(where: { figure($0) > 0 }) else { return }
                rows.append(["  " + name] + counts.map { figure($0) == 0 ? "" : "\(figure($0))" })
            }
            add("wrong bytes") { $0.wrongByteCount }
            add("missing") { $0.missingByteCount }
            add("too many") { $0.extraByteCount }
        }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            var line = row.enumerated().map { column, text in
                let space = String(repeating: " ", count: widths[column] - text.count)
                return column == 0 ? text + space : space + text
            }.joined(separator: " ")
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    /// What the figures of formats mean in which some changes pass.
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

    /// The answer in a sentence or two.
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
                "\(weak.detected) of \(weak.cases) changes to CBC and CTR were noticed: these formats have nothing to "
                    + "notice others by, whoever reads them.")
        }
        let failed = records.reduce(0) { $0 + $1.failed }
        parts.append(failed == 0 ? "Nothing failed." : "\(failed) failed.")
        return parts.joined(separator: " ")
    }
}
