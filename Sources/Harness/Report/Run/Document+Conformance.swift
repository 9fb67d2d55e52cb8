import Results

extension Document {
    /// The outcomes of the vectors. Every report has this section, because a run without vectors is a finding too.
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
        return conformance(records)
    }

    /// Returns the same section for outcomes, of which there is at least one.
    static func conformance(_ records: [ConformanceRecord]) -> Section {
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
            blocks: [.table(table)] + causes(records) + (failures.isEmpty ? [] : [.table(failed)])
                + [matrix(records)].compactMap { $0 })
    }

    /// The likely causes of failures.
    static func causes(_ records: [ConformanceRecord]) -> [Block] {
        let lines = records.flatMap { record in record.explanations.map { "\(record.subject): \($0)" } }
        return lines.isEmpty ? [] : [.list(lines)]
    }

    /// A table of all classes of vectors and all subjects, or `nil` if no record has classes.
    private static func matrix(_ records: [ConformanceRecord]) -> Block? {
        var order: [String] = []
        var known: Set<String> = []
        for flag in records.flatMap({ $0.flags ?? [] }).map(\.flag) where known.insert(flag).inserted {
            order.append(flag)
        }
        guard !order.isEmpty else { return nil }
        let outcomes = records.map { record in
            Dictionary((record.flags ?? []).map { ($0.flag, $0) }, uniquingKeysWith: { first, _ in first })
        }
        return .table(
            Table(
                caption:
                    "Vector reads that passed, by class and subject; anything else is said in words. A read that "
                    + "stands for several classes counts in each.",
                columns: [.text("Class")] + records.map { .number($0.subject) },
                rows: order.map { flag in [Table.Entry(flag)] + outcomes.map { entry($0[flag]) } }))
    }

    private static func entry(_ outcome: ConformanceRecord.FlagOutcome?) -> Table.Entry {
        guard let outcome else { return .absent }
        let rest = [
            outcome.unsupported > 0 ? "\(count(outcome.unsupported).text) unsupported" : nil,
            outcome.notRun > 0 ? "\(count(outcome.notRun).text) not run" : nil,
        ].compactMap { $0 }.joined(separator: ", ")
        let detail = rest.isEmpty ? nil : rest
        if outcome.failed > 0 {
            let executed = count(outcome.passed + outcome.failed).text
            return Table.Entry("\(count(outcome.failed).text) of \(executed) failed", detail: detail, emphasis: .bad)
        }
        guard outcome.passed > 0 else { return Table.Entry("none run", detail: detail) }
        return Table.Entry(count(outcome.passed).text, detail: detail)
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

    /// The quality of the vectors: the injected faults that they noticed, by class.
    static func mutants(_ summary: RunSummary) -> Section {
        let title = "Injected faults"
        guard let record = summary.results.mutants else {
            return Section(
                name: "mutants", title: title,
                blocks: [
                    .paragraph(
                        "This run does not say how good its vectors are. “chunkwise run --mutants” puts readers with "
                            + "injected faults to them; “chunkwise verify mutants” does only that.")
                ])
        }
        let killed = record.outcomes.count - record.survivors.count
        let controls = record.controls.map {
            "\($0.name) (\(SignificantDigits.grouped(UInt64(max($0.passed, 0)))) passed, \($0.failed) failed)"
        }
        var blocks: [Block] = [
            .paragraph(
                "Readers with one injected fault each, over \(record.backend), were put to vectors of the same kinds. "
                    + "A fault counts as killed when vectors of the class that stands for it fail: \(killed) of "
                    + "\(record.outcomes.count) were."
                    + (controls.isEmpty
                        ? "" : " Readers without a fault were put to them too: \(controls.joined(separator: ", ")).")),
            .table(killMatrix(record)),
        ]
        if !record.outcomes.isEmpty { blocks.append(.foldedTable(mutantTable(record))) }
        return Section(name: "mutants", title: title, blocks: blocks)
    }

    private static func killMatrix(_ record: MutantsRecord) -> Table {
        var order: [String] = []
        var members: [String: [Evidence.MutantOutcome]] = [:]
        for outcome in record.outcomes {
            if members[outcome.flag] == nil { order.append(outcome.flag) }
            members[outcome.flag, default: []].append(outcome)
        }
        let rows = order.map { flag -> [Table.Entry] in
            let outcomes = members[flag] ?? []
            let survivors = outcomes.filter { !$0.isKilled }.map(\.name)
            return [
                Table.Entry(flag), Table.Entry("\(outcomes.count)"),
                Table.Entry("\(outcomes.count - survivors.count)", emphasis: survivors.isEmpty ? .good : .bad),
                survivors.isEmpty
                    ? Table.Entry("none") : Table.Entry(survivors.joined(separator: ", "), emphasis: .bad),
                Table.Entry("\(record.outcomes.count { $0.flag != flag && $0.killedBy.contains(flag) })"),
            ]
        }
        return Table(
            caption: "Kill matrix: injected faults by the class of vectors that must notice them.",
            columns: [
                .text("Class"), .number("Injected"), .number("Killed"), .text("Survivors"),
                .number("Faults of other classes noticed"),
            ], rows: rows)
    }

    private static func mutantTable(_ record: MutantsRecord) -> Table {
        Table(
            caption: "Every injected fault and the classes of vectors that noticed it.",
            columns: [.text("Injected fault"), .text("Its class"), .text("Outcome"), .text("Noticed by")],
            rows: (record.survivors + record.outcomes.filter(\.isKilled)).map { mutant in
                [
                    Table.Entry(mutant.name), Table.Entry(mutant.flag),
                    mutant.isKilled ? Table.Entry("killed", emphasis: .good) : Table.Entry("survived", emphasis: .bad),
                    mutant.killedBy.isEmpty
                        ? Table.Entry("none") : Table.Entry(mutant.killedBy.joined(separator: ", ")),
                ]
            })
    }
}
