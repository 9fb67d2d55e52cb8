import Results

extension Document {
    /// How good the vectors are: which planted faults they noticed, class by class.
    static func mutants(_ summary: RunSummary) -> Section {
        let title = "Planted faults"
        guard let record = summary.results.mutants else {
            return Section(
                name: "mutants", title: title,
                blocks: [
                    .paragraph(
                        "This run does not say how good its vectors are. “chunkwise run” puts readers with planted "
                            + "faults to them unless --skip-mutants is given; “chunkwise verify --mutants” does only "
                            + "that.")
                ])
        }
        let killed = record.outcomes.count - record.survivors.count
        let controls = record.controls.map {
            "\($0.name) (\(SignificantDigits.grouped(UInt64(max($0.passed, 0)))) passed, \($0.failed) failed)"
        }
        var blocks: [Block] = [
            .paragraph(
                "Readers with one planted fault each, over \(record.backend), were put to vectors of the same kinds. A "
                    + "fault counts as killed when vectors of the class that stands for it fail: \(killed) of "
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
            caption: "Kill matrix: planted faults by the class of vectors that must notice them.",
            columns: [
                .text("Class"), .number("Planted"), .number("Killed"), .text("Survivors"),
                .number("Faults of other classes noticed"),
            ], rows: rows)
    }

    private static func mutantTable(_ record: MutantsRecord) -> Table {
        Table(
            caption: "Every planted fault and the classes of vectors that noticed it.",
            columns: [.text("Planted fault"), .text("Its class"), .text("Outcome"), .text("Noticed by")],
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
