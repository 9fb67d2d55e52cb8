import Results

/// Writes outcomes as JUnit XML: a suite a subject, a case a class of vectors.
enum JUnitRenderer {
    /// Returns the document.
    static func render(_ evidence: Evidence) -> String {
        JUnitDocument(
            suites: evidence.subjects.map { record in
                JUnitDocument.Suite(name: record.subject, cases: outcomes(record).map { testCase($0, of: record) })
            } + (evidence.tampering ?? []).map(suite)
        ).text
    }

    /// The integrity matrix of a subject: a case a strategy.
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

    /// A subject without outcomes by class has one case for all of its vectors.
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
