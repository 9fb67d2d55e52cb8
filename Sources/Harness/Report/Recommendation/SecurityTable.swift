import Results

/// The security properties of some cells' strategies, as tables and text.
struct SecurityTable: Sendable {
    /// The profiles, in the order of the cells.
    let profiles: [SecurityProfile]
    /// The strategies with unknown properties.
    let unknown: [String]

    init(_ cells: [CellSummary]) {
        let groups = cells.grouped { cell in
            var facts = cell.facts
            // They differ from chunk to chunk.
            facts?.lengths = nil
            return Kind(format: cell.cell.format, facts: facts)
        }
        profiles = groups.compactMap { kind, cells in
            kind.facts.map { SecurityProfile(title: Self.shared(cells.map(\.cell.strategy).unique), $0) }
        }
        unknown = groups.map(\.key).filter { $0.facts == nil }.map(\.format)
    }

    /// The strategies that share one column.
    private struct Kind: Hashable {
        let format: String
        let facts: StrategyFacts?
    }

    /// Returns the format's name with the parameters that all given strategies have.
    private static func shared(_ texts: [String]) -> String {
        let words = texts.map { $0.split { ":,".contains($0) }.map(String.init) }
        guard let name = words[0].first else { return "" }
        let parameters = words[0].dropFirst().filter { word in words.allSatisfy { $0.contains(word) } }
        return name + (parameters.isEmpty ? "" : ":" + parameters.joined(separator: ","))
    }

    /// The subject of the table, and the conclusions from it.
    var summary: [String] {
        var sentences: [String] = []
        let names = profiles.filter { !$0.facts.isTagged }.map(\.title)
        if !names.isEmpty {
            sentences.append(
                "\(Verdict.list(names)) \(names.count == 1 ? "hides" : "hide") data and "
                    + "\(names.count == 1 ? "does" : "do") not protect it from change. Where that matters, "
                    + "authenticate the file as well, or take a format that does."
            )
        }
        if profiles.contains(where: \.facts.isPadded) {
            sentences.append(
                "A program that lets others see whether CBC's padding was right gives away the plaintext (Vaudenay "
                    + "2002)."
            )
        }
        if !profiles.isEmpty {
            sentences.append("None of them notices that a whole file was replaced by an older one under the same key.")
        }
        if !unknown.isEmpty {
            sentences.append("Nothing is known here of \(Verdict.list(unknown)).")
        }
        return sentences
    }

    /// The answers in a few words: one row per property, one column per strategy.
    var table: Table {
        Table(
            caption: "What a reader who knows the key notices of a change, and what else the strategies offer. "
                + "“all but 1 in 255”: by padding, which random data has 1 in 255 times.",
            columns: [.text("")] + profiles.map { .text($0.title) },
            rows: SecurityProperty.allCases.map { property in
                [Table.Entry(property.words.title, detail: property.words.meaning)]
                    + profiles.map { Self.entry($0[property]) }
            })
    }

    /// The meaning and the source of each answer, one row per answer.
    var details: Table {
        Table(
            caption: "What each answer means, and its source.",
            columns: [.text("Property"), .text("Strategy"), .text("Answer"), .text("Meaning"), .text("Source")],
            rows: SecurityProperty.allCases.flatMap { property in
                profiles.map { profile in
                    let answer = profile[property]
                    return [
                        Table.Entry(property.words.title), Table.Entry(profile.title), Self.entry(answer),
                        Table.Entry(answer.detail), Table.Entry(answer.source),
                    ]
                }
            })
    }

    private static func entry(_ answer: SecurityAnswer) -> Table.Entry {
        switch answer.grade {
        case .good: Table.Entry(answer.text, emphasis: .good)
        case .partly: Table.Entry(answer.text)
        case .bad: Table.Entry(answer.text, emphasis: .bad)
        }
    }
}

/// The attacks on a ciphertext, and the other properties of a format.
enum SecurityProperty: String, CaseIterable, Hashable, Sendable {
    case truncation
    case appending
    case reordering
    case bitFlips
    case splicing
    case repetition
    case equalContent
    case randomAccess
    case parallelDecryption

    /// The property's title in a table's first column, and its meaning.
    var words: (title: String, meaning: String) {
        switch self {
        case .truncation: ("Notices a cut end", "bytes are missing at the end")
        case .appending: ("Notices an added end", "bytes are appended")
        case .reordering: ("Notices a new order", "blocks or chunks have changed places")
        case .bitFlips: ("Notices flipped bits", "single bits were flipped")
        case .splicing: ("Notices parts of other files", "parts come from another file under the same key")
        case .repetition: ("Notices repeated parts", "parts occur twice")
        case .equalContent: ("Hides equal content", "equal plaintext cannot be seen in the ciphertext")
        case .randomAccess: ("Reads from the middle", "a range costs the range, not the file")
        case .parallelDecryption: ("Decrypts in parallel", "several cores can decrypt one file")
        }
    }
}

/// The behaviour of a strategy for one property.
struct SecurityAnswer: Hashable, Sendable {
    enum Grade: Hashable, Sendable {
        case good
        case partly
        case bad
    }

    var grade: Grade
    var text: String
    /// The meaning, in a sentence.
    var detail: String
    /// The document and section that it is based on.
    var source: String

    init(_ grade: Grade, _ text: String, _ detail: String, source: String) {
        self.grade = grade
        self.text = text
        self.detail = detail
        self.source = source
    }
}

/// The properties of a strategy.
struct SecurityProfile: Hashable, Sendable {
    /// The strategy's name, including its variant.
    var title: String
    /// The facts that the answers are based on.
    var facts: StrategyFacts
    var answers: [SecurityProperty: SecurityAnswer]

    subscript(property: SecurityProperty) -> SecurityAnswer {
        answers[property] ?? SecurityAnswer(.bad, "unknown", "Nothing is known of this strategy.", source: "–")
    }
}
