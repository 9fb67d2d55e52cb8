package import Results
package import Support

extension Document {
    /// The changes to ciphertexts that were noticed, and the bytes delivered despite the others.
    static func tampering(_ records: [TamperRecord]) -> Section? {
        guard !records.isEmpty else { return nil }
        var blocks: [Block] = [
            .paragraph(
                "Ciphertexts were truncated, extended, flipped, swapped, repeated and spliced at every kind of edge, "
                    + "and then read from the start to the end. Noticed is a change that opening or a read answers "
                    + "with an error that says so. CBC and CTR encrypt and do not authenticate: a reader can notice "
                    + "an impossible length and, in CBC, invalid padding, and nothing else. In CBC a flipped bit "
                    + "garbles its block and flips the same bit of the next one, in CTR it flips that bit alone. Their "
                    + "figures are measured, and are no faults of a subject."),
            .paragraph(TamperRecord.conclusion(records)),
        ]
        for group in TamperGroup.groups(of: records) {
            blocks.append(.table(table(group)))
            let notes = group.rows.filter { !$0.cases.isEmpty }.map { row in
                let examples = row.unnoticed.joined(separator: "; ")
                return "\(row.summary)." + (examples.isEmpty ? "" : " Not noticed, for example: \(examples).")
            }
            if !notes.isEmpty { blocks.append(.list(notes)) }
        }
        if let failures = failures(records) { blocks.append(.table(failures)) }
        return Section(name: "tampering", title: "Integrity matrix", blocks: blocks)
    }

    private static func table(_ group: TamperGroup) -> Table {
        let columns: [Table.Column] =
            [.text("Strategy")] + TamperRecord.Row.kinds.map { .number($0) } + [.number("All")]
        let rows = group.rows.map { row -> [Table.Entry] in
            let kinds: [String?] = TamperRecord.Row.kinds + [nil]
            let name = Table.Entry(row.strategy, detail: row.state.words)
            guard !row.cases.isEmpty else { return [name] + kinds.map { _ in Table.Entry.absent } }
            return [name]
                + kinds.map { entry(row.counts(kind: $0), isAuthenticated: row.isAuthenticated) }
        }
        return Table(
            caption: "Changes noticed by \(group.name), of all; below, the wrong bytes that were delivered, before an "
                + "error or altogether. Header: in CBC and CTR, the IV.", columns: columns, rows: rows)
    }

    private static func entry(_ counts: TamperRecord.Row.Counts, isAuthenticated: Bool) -> Table.Entry {
        guard counts.cases > 0 else { return .absent }
        // Missing and extra bytes are in the notes: three more figures would turn columns into lines.
        let wrong = counts.wrongByteCount
        let parts = wrong > 0 ? ["\(SignificantDigits.grouped(wrong)) B"] : []
        let failed = counts.failed > 0 ? ["\(counts.failed) failed"] : []
        let detail = (failed + parts).joined(separator: ", ")
        return Table.Entry(
            "\(counts.detected)/\(counts.cases)", detail: detail.isEmpty ? nil : detail,
            emphasis: counts.failed > 0 ? .bad : counts.isClean ? .good : .none)
    }

    private static func failures(_ records: [TamperRecord]) -> Table? {
        let rows = records.flatMap { record in
            record.rows.flatMap { row in
                row.cases.filter { $0.failure != nil }.prefix(20).map { one in
                    [
                        Table.Entry(record.subject), Table.Entry(row.strategy),
                        Table.Entry("\(one.kind): \(one.place)"), Table.Entry(one.failure ?? ""),
                    ]
                }
            }
        }
        guard !rows.isEmpty else { return nil }
        return Table(
            caption: "Changes that were not handled as they have to be, the first twenty of each row.",
            columns: [.text("Subject"), .text("Strategy"), .text("Change"), .text("What came")], rows: rows)
    }
}

extension TamperRecord.Row.State {
    /// The remark for a row that was not run to its end; `nil` for a complete one.
    var words: String? {
        switch self {
        case .run: nil
        case .unsupported: "unsupported"
        case .notRun: "not run to its end"
        }
    }
}

extension TamperRecord {
    /// Returns records as text for a terminal.
    package static func text(_ records: [TamperRecord]) -> String {
        TextRenderer.render(Document(title: "", sections: [Document.tampering(records)].compactMap(\.self)))
    }

    /// Returns records as one JSON object in the format of `data/schemas/tamper.json`, with all cases of all subjects.
    package static func json(_ records: [TamperRecord]) -> JSONValue {
        JSONValue(members: [
            "schema": currentSchema, "executed": records.reduce(0) { $0 + $1.executed },
            "failed": records.reduce(0) { $0 + $1.failed }, "subjects": records.map { $0.json { _ in true } },
        ])
    }

    /// Returns the record with the selected cases.
    func json(listing isListed: (Case) -> Bool) -> JSONValue {
        JSONValue(members: [
            "name": subject, "executed": executed, "failed": failed,
            "rows": rows.map { $0.json(listing: isListed) },
        ])
    }
}

extension TamperRecord.Row {
    fileprivate func json(listing isListed: (TamperRecord.Case) -> Bool) -> JSONValue {
        var row = self
        row.cases = []
        return JSONValue(
            encoding: row,
            adding: [
                "kinds": Self.kinds.map { kind in
                    let counts = counts(kind: kind)
                    return JSONValue(encoding: counts, adding: ["kind": kind, "detected": counts.detected])
                },
                "cases": JSONValue(encoding: cases.filter(isListed), nullable: .all),
            ])
    }
}
