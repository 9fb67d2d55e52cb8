import Results
internal import Support

extension Document {
    /// Puts together the evidence: failures first, then what rests on which vectors, then how it came about.
    init(_ evidence: Evidence) {
        title = "Random-access decryption: evidence of conformance"
        subtitle =
            "\(RatioText.count(evidence.subjects.count, "subject")) · \(evidence.startedAt) · "
            + "chunkwise \(evidence.programVersion)"
        warnings = Self.warnings(evidence)
        verdict = Self.verdict(evidence)
        sections = [
            Self.counterexamples(evidence), Self.requirements(evidence), Self.subjects(evidence),
            Self.tampering(evidence), Self.mutants(evidence), Self.flags(evidence), Self.provenance(evidence),
        ].compactMap { $0 }
    }

    private static func warnings(_ evidence: Evidence) -> [Warning] {
        var warnings: [Warning] = []
        let silent = evidence.subjects.filter { $0.passed == 0 && $0.failed == 0 }.map(\.subject)
        if !silent.isEmpty {
            warnings.append(
                Warning(
                    title: "Nothing was executed", message: "for \(silent.joined(separator: ", ")): that is no pass.",
                    advice: "See what was unsupported or not run.", isSerious: true))
        }
        if evidence.subjects.isEmpty {
            warnings.append(
                Warning(
                    title: "No subject was tested", message: "there is nothing to file.",
                    advice: "Name a backend or a subject.", isSerious: true))
        }
        if evidence.mutants == nil {
            warnings.append(
                Warning(
                    title: "The suite itself was not tested",
                    message: "this evidence does not say whether the vectors notice planted faults.",
                    advice: "“chunkwise verify --mutants” does.", isSerious: true))
        }
        return warnings
    }

    private static func verdict(_ evidence: Evidence) -> [String] {
        var lines = evidence.subjects.map { record -> String in
            let executed = record.passed + record.failed
            let rest = [
                record.unsupported > 0 ? "\(grouped(record.unsupported)) unsupported" : nil,
                record.notRun > 0 ? "\(grouped(record.notRun)) not run" : nil,
            ].compactMap { $0 }
            let note = rest.isEmpty ? "" : " (\(rest.joined(separator: ", ")))"
            guard record.failed > 0 else {
                return executed == 0
                    ? "\(record.subject): nothing executed\(note)"
                    : "\(record.subject): passed all \(grouped(executed)) vectors\(note)"
            }
            return "\(record.subject): failed \(grouped(record.failed)) of \(grouped(executed)) vectors\(note)"
        }
        if let tampering = evidence.tampering { lines.append(TamperRecord.conclusion(tampering)) }
        if let mutants = evidence.mutants {
            let killed = mutants.filter(\.isKilled).count
            lines.append("The vectors killed \(killed) of \(mutants.count) planted faults by the flag of their kind.")
        }
        return lines
    }

    private static func counterexamples(_ evidence: Evidence) -> Section? {
        let rows = evidence.subjects.flatMap { record in
            record.failures.map { failure in
                [
                    Table.Entry(record.subject), Table.Entry(failure.id),
                    Table.Entry(failure.flags.joined(separator: ", ")), Table.Entry(failure.reason),
                    Table.Entry(evidence.commandRepeating(failure)),
                ]
            }
        }
        guard !rows.isEmpty else { return nil }
        let table = Table(
            caption: "Failures of each subject, smallest counterexample first.",
            columns: [.text("Subject"), .text("Vector"), .text("Flags"), .text("Reason"), .text("Repeat with")],
            rows: rows)
        return Section(
            name: "failures", title: "Failures",
            blocks: [
                .table(table),
                .verbatim(caption: "What repeats them all", text: ShellText.joined(evidence.command)),
            ])
    }

    private static func requirements(_ evidence: Evidence) -> Section {
        let columns: [Table.Column] =
            [.text("Requirement"), .text("Source"), .text("Vectors")] + evidence.subjects.map { .text($0.subject) }
        let rows = evidence.requirements.map { requirement in
            [
                Table.Entry(requirement.text, detail: requirement.id), Table.Entry(requirement.source),
                Table.Entry(requirement.flags.joined(separator: ", ")),
            ]
                + evidence.subjects.map { entry(RequirementOutcome(of: $0, in: requirement)) }
        }
        return Section(
            name: "requirements", title: "Requirements",
            blocks: [
                .paragraph(
                    "Each clause, the classes of vectors that test it, and what each subject did in them. A vector may "
                        + "belong to several classes."),
                .table(Table(caption: "Outcome by requirement and subject.", columns: columns, rows: rows)),
            ])
    }

    private static func entry(_ outcome: RequirementOutcome) -> Table.Entry {
        let verdict = outcome.verdict
        let text = verdict.rawValue
        switch verdict {
        case .passed: return Table.Entry(text, detail: grouped(outcome.passed), emphasis: .good)
        case .failed:
            let detail = "\(grouped(outcome.failed)) of \(grouped(outcome.passed + outcome.failed))"
            return Table.Entry(text, detail: detail, emphasis: .bad)
        case .unsupported: return Table.Entry(text, detail: grouped(outcome.unsupported))
        case .notRun: return Table.Entry(text, detail: grouped(outcome.notRun))
        case .notTested: return Table.Entry(text)
        }
    }

    private static func grouped(_ number: Int) -> String {
        SignificantDigits.grouped(UInt64(max(number, 0)))
    }
}

extension Evidence {
    /// The command line that runs the group of a failed vector again.
    fileprivate func commandRepeating(_ failure: ConformanceRecord.Failure) -> String {
        var words: [String] = []
        var skips = false
        for word in command {
            defer { skips = word == "--evidence" }
            if skips || ["--evidence", "--mutants"].contains(word) || word.hasPrefix("--evidence=") { continue }
            words.append(word)
        }
        return ShellText.joined(words + ["--only", failure.id])
    }
}
