extension Document {
    /// What to keep in mind about the figures, and what to do about it; `nil` where there is nothing.
    static func warnings(_ found: [Warning]) -> Section? {
        let notes = found.filter { !$0.isSerious }
        guard !notes.isEmpty else { return nil }
        let table = Table(
            caption: "What may blur the figures of this run, and what helps.",
            columns: [.text("Warning"), .text("What was found"), .text("Advice")],
            rows: notes.map { [Table.Entry($0.title), Table.Entry($0.sentence), Table.Entry($0.advice)] })
        return Section(name: "warnings", title: "Warnings and advice (\(notes.count))", blocks: [.table(table)])
    }
}
