import Results

extension Document {
    /// Who passed the vectors; stands in every report, because running none is a finding too.
    static func conformance(_ summary: RunSummary) -> Section {
        let records = summary.results.conformance
        guard !records.isEmpty else {
            return Section(
                name: "conformance", title: "Conformance",
                blocks: [
                    .paragraph(
                        "No vectors were run. The figures say how fast these reads were, and the checks that "
                            + "whole workloads came out right; nothing shows that every range is.")
                ])
        }
        let table = Table(
            caption: "Vector reads by outcome. A subject without a passed read has not passed.",
            columns: [
                .text("Subject"), .text("Verdict"), .number("Passed"), .number("Failed"), .number("Unsupported"),
                .number("Not run"),
            ],
            rows: records.map { record in
                [
                    Table.Entry(record.subject), verdict(record), count(record.passed), count(record.failed),
                    count(record.unsupported), count(record.notRun),
                ]
            })
        let failures = records.flatMap { record in
            record.failures.map { failure in
                [
                    Table.Entry(record.subject), Table.Entry(failure.id),
                    Table.Entry(failure.flags.joined(separator: ", ")), Table.Entry(failure.reason),
                ]
            }
        }
        let failed = Table(
            caption: "The first failures of each subject, smallest counterexample first.",
            columns: [.text("Subject"), .text("Vector"), .text("Flags"), .text("Reason")], rows: failures)
        return Section(
            name: "conformance", title: "Conformance",
            blocks: [.table(table)] + (failures.isEmpty ? [] : [.table(failed)]))
    }

    private static func verdict(_ record: ConformanceRecord) -> Table.Entry {
        if record.failed > 0 { return Table.Entry("wrong", emphasis: .bad) }
        if record.passed == 0 { return Table.Entry("not tested", emphasis: .bad) }
        if record.notRun > 0 { return Table.Entry("correct so far") }
        return Table.Entry("correct", emphasis: .good)
    }

    private static func count(_ number: Int) -> Table.Entry {
        Table.Entry(SignificantDigits.grouped(UInt64(max(number, 0))))
    }
}
