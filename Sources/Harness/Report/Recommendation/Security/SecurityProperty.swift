/// What somebody can do to a ciphertext, and what else a format offers or gives away.
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

    /// The property in a table's first column.
    var title: String {
        switch self {
        case .truncation: "Notices a cut end"
        case .appending: "Notices an added end"
        case .reordering: "Notices a new order"
        case .bitFlips: "Notices flipped bits"
        case .splicing: "Notices foreign parts"
        case .repetition: "Notices repeated parts"
        case .equalContent: "Hides equal content"
        case .randomAccess: "Reads from the middle"
        case .parallelDecryption: "Decrypts in parallel"
        }
    }

    /// What the first column means.
    var meaning: String {
        switch self {
        case .truncation: "bytes are missing at the end"
        case .appending: "bytes are appended"
        case .reordering: "blocks or chunks have changed places"
        case .bitFlips: "single bits are other than they were"
        case .splicing: "parts come from another file under the same key"
        case .repetition: "parts stand there twice"
        case .equalContent: "equal plaintext cannot be seen in the ciphertext"
        case .randomAccess: "a range costs the range, not the file"
        case .parallelDecryption: "several cores can decrypt one file"
        }
    }
}

/// What a strategy does about a property.
struct SecurityAnswer: Hashable, Sendable {
    /// How good that is.
    enum Grade: Hashable, Sendable {
        case good
        case partly
        case bad
    }

    /// How good it is.
    var grade: Grade
    /// The answer in a few words.
    var text: String
    /// What it means, in a sentence.
    var detail: String
    /// The document and section that it follows from.
    var source: String

    /// Creates an answer.
    init(_ grade: Grade, _ text: String, _ detail: String, source: String) {
        self.grade = grade
        self.text = text
        self.detail = detail
        self.source = source
    }
}

/// The properties of a strategy with its IV rule and padding.
struct SecurityProfile: Hashable, Sendable {
    /// What the strategy is called, its variant included.
    var title: String
    /// An answer to each property.
    var answers: [SecurityProperty: SecurityAnswer]

    /// The answer to a property.
    subscript(property: SecurityProperty) -> SecurityAnswer {
        answers[property] ?? SecurityAnswer(.bad, "unknown", "Nothing is known of this strategy.", source: "–")
    }
}
