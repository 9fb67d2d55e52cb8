import Results
internal import Support

extension Document {
    /// The four counts of each subject.
    static func subjects(_ evidence: Evidence) -> Section {
        func count(_ number: Int) -> Table.Entry { Table.Entry(SignificantDigits.grouped(UInt64(max(number, 0)))) }
        let rows = evidence.subjects.map {
            [Table.Entry($0.subject), count($0.passed), count($0.failed), count($0.unsupported), count($0.notRun)]
        }
        let columns: [Table.Column] = [
            .text("Subject"), .number("Passed"), .number("Failed"), .number("Unsupported"), .number("Not run"),
        ]
        return Section(
            name: "subjects", title: "Subjects",
            blocks: [.table(Table(caption: "Vectors by outcome.", columns: columns, rows: rows))])
    }

    /// Which planted faults were noticed, and by which vectors.
    static func mutants(_ evidence: Evidence) -> Section? {
        guard let mutants = evidence.mutants else { return nil }
        let rows = mutants.sorted { !$0.isKilled && $1.isKilled }.map { mutant in
            [
                Table.Entry(mutant.name), Table.Entry(mutant.flag),
                mutant.isKilled ? Table.Entry("killed", emphasis: .good) : Table.Entry("survived", emphasis: .bad),
                Table.Entry(mutant.killedBy.joined(separator: ", ")),
            ]
        }
        let columns: [Table.Column] = [.text("Planted fault"), .text("Its flag"), .text("Outcome"), .text("Failed in")]
        return Section(
            name: "mutants", title: "The suite, tested",
            blocks: [
                .paragraph(
                    "Readers with one planted fault each were put to the same vectors. A fault counts as killed when "
                        + "vectors of the flag that stands for it fail."),
                .table(Table(caption: "Kill matrix.", columns: columns, rows: rows)),
            ])
    }

    /// What each class of vectors stands for, and how each subject did in it.
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

    /// How the evidence came about.
    static func provenance(_ evidence: Evidence) -> Section {
        let host = evidence.host
        let backends = evidence.backends.map { backend in
            [
                Table.Entry(backend.name), Table.Entry(backend.version),
                backend.cpuFeatures.isEmpty ? .absent : Table.Entry(backend.cpuFeatures.joined(separator: " ")),
            ]
        }
        let files = evidence.vectorFiles.map { [Table.Entry($0.name), Table.Entry($0.sha256)] }
        return Section(
            name: "provenance", title: "Where this comes from",
            blocks: [
                .facts([
                    ("Program", "chunkwise \(evidence.programVersion), schema \(evidence.schema)"),
                    ("Seed", "none is drawn: the vectors are the same in every run"), ("Started", evidence.startedAt),
                    ("Host", host.name), ("CPU", host.cpuModel),
                    ("CPU flags", host.cpuFlags.joined(separator: " ")), ("Kernel", host.kernel),
                ]),
                .table(
                    Table(
                        caption: "Backends as they were found.",
                        columns: [.text("Backend"), .text("Version"), .text("CPU features used")], rows: backends)),
                .table(
                    Table(
                        caption: "Vector files by SHA-256.",
                        columns: [.text("File"), .text("SHA-256")], rows: files)),
                .verbatim(caption: "Command", text: ShellText.joined(evidence.command)),
            ])
    }
}
