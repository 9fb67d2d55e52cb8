import Results

/// Writes outcomes as JUnit XML, which CI systems show: a suite a subject, a case a class of vectors.
enum JUnitRenderer {
    /// Returns the document.
    static func render(_ evidence: Evidence) -> String {
        let suites = evidence.subjects.map(suite)
        let tests = evidence.subjects.reduce(0) { $0 + cases($1).count }
        let failures = evidence.subjects.reduce(0) { $0 + cases($1).filter { $0.failed > 0 }.count }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="chunkwise" tests="\(tests)" failures="\(failures)">
            \(suites.joined())</testsuites>

            """
    }

    /// A subject without outcomes by class has one case for all of its vectors.
    private static func cases(_ record: ConformanceRecord) -> [ConformanceRecord.FlagOutcome] {
        if let flags = record.flags, !flags.isEmpty { return flags }
        return [
            .init(
                flag: "all vectors", passed: record.passed, failed: record.failed, unsupported: record.unsupported,
                notRun: record.notRun)
        ]
    }

    private static func suite(_ record: ConformanceRecord) -> String {
        let cases = cases(record)
        let failed = cases.filter { $0.failed > 0 }.count
        let skipped = cases.filter { $0.failed == 0 && $0.passed == 0 }.count
        var text = "<testsuite name=\"\(escaped(record.subject))\" tests=\"\(cases.count)\" failures=\"\(failed)\""
        text += " skipped=\"\(skipped)\">\n"
        for outcome in cases {
            text += "<testcase classname=\"\(escaped(record.subject))\" name=\"\(escaped(outcome.flag))\""
            text += " assertions=\"\(outcome.passed + outcome.failed)\">"
            if outcome.failed > 0 {
                text += "<failure message=\"\(outcome.failed) of \(outcome.passed + outcome.failed) vectors\">"
                let own = record.failures.filter { $0.flags.contains(outcome.flag) || record.flags == nil }
                text += own.prefix(3).map { escaped("\($0.id): \($0.reason)\n") }.joined() + "</failure>"
            } else if outcome.passed == 0 {
                text += "<skipped message=\"\(outcome.unsupported) unsupported, \(outcome.notRun) not run\"/>"
            }
            text += "</testcase>\n"
        }
        return text + "</testsuite>\n"
    }

    /// Escapes text for XML; control characters, which XML 1.0 cannot hold, become question marks.
    private static func escaped(_ text: String) -> String {
        let clean = text.unicodeScalars.map { $0.value < 0x20 && $0 != "\n" && $0 != "\t" ? "?" : String($0) }.joined()
        return MarkupText.markup(clean)
    }
}
