package import Results
import Support

/// Renders the evidence of a verification: a page, Markdown, JSON and JUnit, all from the same model.
///
/// The same evidence gives the same bytes.
/// - Returns: `index.html`, `evidence.md`, `evidence.json` and `junit.xml`; `tamper.json` with all cases, if there is
///   an integrity matrix; and `SHA256SUMS` of all these files, in the format of `sha256sum -c`.
package func renderEvidence(_ evidence: Evidence) -> [ReportFile] {
    let document = Document(evidence)
    let files =
        [
            ReportFile(name: "index.html", text: HTMLRenderer.render(document)),
            ReportFile(name: "evidence.md", text: MarkdownRenderer.render(document)),
            ReportFile(name: "evidence.json", text: evidence.json.text + "\n"),
            ReportFile(name: "junit.xml", text: JUnitRenderer.render(evidence)),
        ]
        + (evidence.tampering.map { [ReportFile(name: "tamper.json", text: TamperRecord.json($0).text + "\n")] } ?? [])
    let sums = files.map { "\(Hexadecimal.encode(SHAFunction.sha256.hash($0.bytes)))  \($0.name)\n" }.joined()
    return files + [ReportFile(name: "SHA256SUMS", text: sums)]
}

extension Evidence {
    var json: JSONValue {
        var record = self
        record.tampering = nil
        return JSONValue(
            encoding: record, nullable: ["mutants"],
            adding: [
                "host": host.json, "requirements": requirements.map(json), "subjects": subjects.map(\.json),
                // All cases are in a separate file.
                "tampering": tampering?.map { $0.json { $0.failure != nil } },
            ])
    }

    private func json(_ requirement: Requirement) -> JSONValue {
        let outcomes = subjects.map { record -> JSONValue in
            let outcome = requirement.outcome(of: record)
            return JSONValue(members: [
                "subject": record.subject, "verdict": outcome.verdict.rawValue, "passed": outcome.passed,
                "failed": outcome.failed, "unsupported": outcome.unsupported, "notRun": outcome.notRun,
            ])
        }
        return JSONValue(encoding: requirement, adding: ["outcomes": outcomes])
    }
}

/// Writes outcomes as JUnit XML: one suite per subject, one case per class of vectors.
enum JUnitRenderer {
    static func render(_ evidence: Evidence) -> String {
        JUnitDocument(
            suites: evidence.subjects.map { record in
                JUnitDocument.Suite(name: record.subject, cases: outcomes(record).map { testCase($0, of: record) })
            } + (evidence.tampering ?? []).map(suite)
        ).text
    }

    /// Returns the integrity matrix of a subject, with one case per strategy.
    private static func suite(_ record: TamperRecord) -> JUnitDocument.Suite {
        JUnitDocument.Suite(
            name: "\(record.subject) tampering",
            cases: record.rows.map { row in
                var found = JUnitDocument.Outcome.passed
                if row.failed > 0 {
                    let failures = row.cases.filter { $0.failure != nil }.prefix(3).map {
                        "\($0.kind): \($0.place): \($0.failure ?? "")\n"
                    }
                    found = .failed(
                        message: "\(row.failed) of \(row.cases.count) changes", type: nil, text: failures.joined())
                } else if let words = row.state.words {
                    found = .skipped(words)
                }
                return JUnitDocument.Case(
                    className: record.subject, name: "tampering: \(row.strategy)", assertionCount: row.cases.count,
                    outcome: found)
            })
    }

    /// Returns the outcomes by class; for a subject without classes, one outcome of all its vectors.
    private static func outcomes(_ record: ConformanceRecord) -> [ConformanceRecord.FlagOutcome] {
        if let flags = record.flags, !flags.isEmpty { return flags }
        return [
            .init(
                flag: "all vectors", passed: record.passed, failed: record.failed, unsupported: record.unsupported,
                notRun: record.notRun)
        ]
    }

    private static func testCase(
        _ outcome: ConformanceRecord.FlagOutcome, of record: ConformanceRecord
    ) -> JUnitDocument.Case {
        let executed = outcome.passed + outcome.failed
        var found = JUnitDocument.Outcome.passed
        if outcome.failed > 0 {
            let own = record.failures.filter { $0.flags.contains(outcome.flag) || record.flags == nil }
            found = .failed(
                message: "\(outcome.failed) of \(executed) vectors", type: nil,
                text: own.prefix(3).map { "\($0.id): \($0.reason)\n" }.joined())
        } else if outcome.passed == 0 {
            found = .skipped("\(outcome.unsupported) unsupported, \(outcome.notRun) not run")
        }
        return JUnitDocument.Case(
            className: record.subject, name: outcome.flag, assertionCount: executed, outcome: found)
    }
}
