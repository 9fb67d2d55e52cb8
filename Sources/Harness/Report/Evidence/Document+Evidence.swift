package import Results
import Support

extension Document {
    /// The evidence as a document: failures first, then the vectors behind each requirement, then the origin.
    init(_ evidence: Evidence) {
        title = "Random-access decryption: evidence of conformance"
        subtitle =
            "\(RatioText.count(evidence.subjects.count, "subject")) · \(evidence.startedAt) · "
            + "chunkwise \(evidence.programVersion)"
        warnings = Self.warnings(evidence)
        verdict = Self.verdict(evidence)
        sections = [
            Self.counterexamples(evidence), Self.requirements(evidence), Self.subjects(evidence),
            evidence.tampering.flatMap(Self.tampering),
            Self.mutants(evidence), Self.flags(evidence), Self.provenance(evidence),
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
                    message: "this evidence does not say whether the vectors notice injected faults.",
                    advice: "“chunkwise verify mutants” does.", isSerious: true))
        }
        return warnings
    }

    private static func verdict(_ evidence: Evidence) -> [String] {
        var lines = evidence.subjects.map { record -> String in
            let rest = [
                record.unsupported > 0 ? "\(grouped(record.unsupported)) unsupported" : nil,
                record.notRun > 0 ? "\(grouped(record.notRun)) not run" : nil,
            ].compactMap { $0 }
            let note = rest.isEmpty ? "" : " (\(rest.joined(separator: ", ")))"
            guard record.failed > 0 else {
                let all = record.choice == nil ? "all" : "a choice of"
                return record.passed == 0
                    ? "\(record.subject): nothing executed\(note)"
                    : "\(record.subject): passed \(all) \(record.executedText)\(note)"
            }
            return "\(record.subject): failed \(grouped(record.failed)) of \(record.executedText)\(note)"
        }
        if let tampering = evidence.tampering { lines.append(TamperRecord.conclusion(tampering)) }
        if let mutants = evidence.mutants {
            let killed = mutants.filter(\.isKilled).count
            lines.append("The vectors killed \(killed) of \(mutants.count) injected faults by the flag of their kind.")
        }
        return lines
    }

    private static func counterexamples(_ evidence: Evidence) -> Section? {
        let rows = evidence.subjects.flatMap { record in
            FailureGroup.groups(of: record.failures).map { group in
                [
                    Table.Entry(record.subject), Table.Entry(group.first.id, detail: group.othersText),
                    Table.Entry(group.first.flags.joined(separator: ", ")), Table.Entry(group.first.reason),
                    Table.Entry(evidence.commandRepeating(group.first)),
                ]
            }
        }
        guard !rows.isEmpty else { return nil }
        let table = Table(
            caption: "Failures of each subject, alike ones in one row, smallest counterexample first.",
            columns: [.text("Subject"), .text("Vector"), .text("Flags"), .text("Reason"), .text("Repeat with")],
            rows: rows)
        return Section(
            name: "failures", title: "Failures",
            blocks: causes(evidence.subjects) + [
                .table(table),
                .verbatim(caption: "What repeats them all", text: ShellText.joined(evidence.repeatingWords)),
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
                + evidence.subjects.map { entry(requirement.outcome(of: $0)) }
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

    private static func entry(_ outcome: ConformanceRecord.FlagOutcome) -> Table.Entry {
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

extension ConformanceRecord {
    /// The number of executed vectors and, for a program, of checks of the protocol.
    package var executedText: String {
        func text(_ count: Int, _ noun: String) -> String {
            SignificantDigits.grouped(UInt64(max(count, 0))) + " " + noun + (count == 1 ? "" : "s")
        }
        let executed = passed + failed
        guard let vectorCount, vectorCount < executed else { return text(executed, "vector") }
        return text(vectorCount, "vector") + " and " + text(executed - vectorCount, "check") + " of the protocol"
    }
}

extension Evidence {
    /// Returns the command line that repeats the group of a failed vector.
    fileprivate func commandRepeating(_ failure: ConformanceRecord.Failure) -> String {
        ShellText.joined(repeatingWords + ["--only", failure.id])
    }

    /// The command line without the options that write files.
    fileprivate var repeatingWords: [String] {
        var words: [String] = []
        var skips = false
        for word in command {
            defer { skips = word == "--evidence" }
            if skips || ["--evidence", "--mutants"].contains(word) || word.hasPrefix("--evidence=") { continue }
            words.append(word)
        }
        return words
    }
}

extension Document {
    static func subjects(_ evidence: Evidence) -> Section {
        func count(_ number: Int) -> Table.Entry { Table.Entry(SignificantDigits.grouped(UInt64(max(number, 0)))) }
        let rows = evidence.subjects.map {
            [Table.Entry($0.subject), count($0.passed), count($0.failed), count($0.unsupported), count($0.notRun)]
        }
        let columns: [Table.Column] = [
            .text("Subject"), .number("Passed"), .number("Failed"), .number("Unsupported"), .number("Not run"),
        ]
        let programs = evidence.subjects.compactMap { record -> [Table.Entry]? in
            guard let program = record.program else { return nil }
            return [
                Table.Entry(record.subject), Table.Entry(record.version ?? "not known"), Table.Entry(program.command),
                Table.Entry(program.files.map { "\($0.name) \($0.sha256)" }.joined(separator: ", ")),
                Table.Entry(record.choice.map { "\($0.chosenCount) of \($0.allCount)" } ?? "all"),
            ]
        }
        let programTable = Table(
            caption:
                "Programs: what was run, and the files that the command names and those of their kind beside them, by "
                + "SHA-256. A choice of vectors is the same in every run; --all runs all of them.",
            columns: [.text("Subject"), .text("Version"), .text("Command"), .text("Files"), .text("Vectors chosen")],
            rows: programs)
        return Section(
            name: "subjects", title: "Subjects",
            blocks: [.table(Table(caption: "Vectors by outcome.", columns: columns, rows: rows))]
                + (programs.isEmpty ? [] : [.table(programTable)]))
    }

    /// The injected faults, each with its outcome and the vectors that noticed it.
    static func mutants(_ evidence: Evidence) -> Section? {
        guard let mutants = evidence.mutants else { return nil }
        let rows = mutants.sorted { !$0.isKilled && $1.isKilled }.map { mutant in
            [
                Table.Entry(mutant.name), Table.Entry(mutant.flag),
                mutant.isKilled ? Table.Entry("killed", emphasis: .good) : Table.Entry("survived", emphasis: .bad),
                Table.Entry(mutant.killedBy.joined(separator: ", ")),
            ]
        }
        let columns: [Table.Column] = [
            .text("Injected fault"), .text("Its flag"), .text("Outcome"), .text("Failed in"),
        ]
        return Section(
            name: "mutants", title: "The suite, tested",
            blocks: [
                .paragraph(
                    "Readers with one injected fault each were put to the same vectors. A fault counts as killed when "
                        + "vectors of the flag that stands for it fail."),
                .table(Table(caption: "Kill matrix.", columns: columns, rows: rows)),
            ])
    }

    /// The classes of vectors with their meanings, and the outcome of each subject.
    static func flags(_ evidence: Evidence) -> Section {
        let rows = evidence.flags.map { flag in
            [Table.Entry(flag.flag), Table.Entry(flag.explanation), Table.Entry(flag.source)]
                + evidence.subjects.map { record -> Table.Entry in
                    guard let outcome = record.flags?.first(where: { $0.flag == flag.flag }) else { return .absent }
                    let executed = SignificantDigits.grouped(UInt64(outcome.passed + outcome.failed))
                    guard outcome.failed == 0 else {
                        let failed = SignificantDigits.grouped(UInt64(outcome.failed))
                        return Table.Entry("\(failed) of \(executed) failed", emphasis: .bad)
                    }
                    return outcome.passed > 0
                        ? Table.Entry(executed) : Table.Entry(outcome.unsupported > 0 ? "unsupported" : "not run")
                }
        }
        let columns: [Table.Column] =
            [.text("Flag"), .text("What goes wrong"), .text("Source")] + evidence.subjects.map { .number($0.subject) }
        return Section(
            name: "flags", title: "Classes of vectors",
            blocks: [.table(Table(caption: "Vectors executed by class and subject.", columns: columns, rows: rows))])
    }

    static func provenance(_ evidence: Evidence) -> Section {
        var blocks = origin(
            host: evidence.host, backends: evidence.backends,
            program: [
                ("Program", "chunkwise \(evidence.programVersion), schema \(evidence.schema)"),
                ("Seed", "none is drawn: the vectors are the same in every run"), ("Started", evidence.startedAt),
                ("Took", "\(evidence.seconds) s"),
                ("Files", "SHA256SUMS beside this page has their digests; sha256sum -c SHA256SUMS compares them"),
            ], command: evidence.command)
        let files = evidence.vectorFiles.map { [Table.Entry($0.name), Table.Entry($0.sha256)] }
        let table = Table(
            caption: "Vector files by SHA-256.", columns: [.text("File"), .text("SHA-256")], rows: files)
        blocks.insert(.table(table), at: blocks.count - 1)
        return Section(name: "provenance", title: "Where this comes from", blocks: blocks)
    }
}

extension Evidence.Requirement {
    /// Returns the sum of a subject's outcomes in the requirement's flags. A vector with two of these flags counts
    /// twice. The sum therefore shows whether there were any vectors and whether any failed, but not their number.
    func outcome(of record: ConformanceRecord) -> ConformanceRecord.FlagOutcome {
        let none = ConformanceRecord.FlagOutcome(flag: "", passed: 0, failed: 0, unsupported: 0, notRun: 0)
        return (record.flags ?? []).filter { flags.contains($0.flag) }.reduce(into: none) { $0.add($1) }
    }
}

extension ConformanceRecord.FlagOutcome {
    /// The verdict. Passed, failed, unsupported, not run and not tested are five different outcomes.
    var verdict: Verdict {
        if failed > 0 { return .failed }
        if passed > 0 { return .passed }
        if unsupported > 0 { return .unsupported }
        return notRun > 0 ? .notRun : .notTested
    }

    enum Verdict: String, Sendable {
        case passed
        case failed
        case unsupported
        case notRun = "not run"
        case notTested = "not tested"
    }
}
