/// A report as plain parts, which the renderers turn into a page, Markdown or text for a terminal.
///
/// All its text is plain text. The renderers escape it, so that nothing from a result file can become markup.
struct Document: Sendable {
    var title: String
    /// One line with the subject, place and time of the measurement; it may be empty.
    var subtitle = ""
    /// The facts that a reader must know before any figure, such as an incomplete run.
    var warnings: [Warning] = []
    var verdict: [String] = []
    var sections: [Section]

    struct Section: Sendable {
        /// A name that is unique in the document, in lower-case ASCII.
        var name = ""
        /// The heading; empty if there is none.
        var title = ""
        var blocks: [Block]
    }

    /// A paragraph, a picture, a table or the like.
    enum Block: Sendable {
        case paragraph(String)
        case list([String])
        case facts([(name: String, value: String)])
        /// Text that keeps its line breaks, with a caption.
        case verbatim(caption: String, text: String)
        /// A picture, with a second version for narrow screens, if there is one.
        case chart(Chart, narrow: Chart?)
        case table(Table)
        /// A long table that a page shows on demand.
        case foldedTable(Table)
    }
}

/// Rows and columns of text.
///
/// If the first column has no title, the others are alternatives, which narrow output may show a few at a time.
struct Table: Hashable, Sendable {
    /// The content of the table, in a sentence.
    var caption: String
    var columns: [Column]
    /// The rows; each has as many entries as there are columns. The first entry names the row.
    var rows: [[Entry]]
    /// True if a short document shows all rows.
    var isWhole = false

    /// A column's heading, and the kind of its values.
    struct Column: Hashable, Sendable {
        var title: String
        /// True for numbers, which are aligned to the right.
        var isNumeric: Bool

        static func text(_ title: String) -> Column { Column(title: title, isNumeric: false) }

        static func number(_ title: String) -> Column { Column(title: title, isNumeric: true) }
    }

    struct Entry: Hashable, Sendable, ExpressibleByStringLiteral {
        var text: String
        /// Additional text in small letters, such as an interval. A terminal shows those of numbers only.
        var detail: String?
        /// The emphasis. The words always carry the same meaning.
        var emphasis: Emphasis
        /// The target of a link, as a path relative to the document; `nil` without a link.
        var link: String?

        init(_ text: String, detail: String? = nil, emphasis: Emphasis = .none, link: String? = nil) {
            self.link = link
            self.text = text
            self.detail = detail
            self.emphasis = emphasis
        }

        init(stringLiteral text: String) {
            self.init(text)
        }

        /// The entry for a missing value.
        static let absent = Entry("–")
    }

    enum Emphasis: Hashable, Sendable {
        case none
        case good
        case bad
    }
}

/// A caveat that a reader must know before trusting figures, with advice.
struct Warning: Encodable, Hashable, Sendable {
    /// The kind of caveat, in a few words.
    var title: String
    /// The finding, with its numbers.
    var message: String
    var advice: String
    /// True if it is shown above the verdict, because the verdict would mislead without it.
    var isSerious: Bool

    /// The message as a complete sentence.
    var sentence: String { message.prefix(1).uppercased() + message.dropFirst() }

    var text: String { "\(title): \(message)" + (advice.isEmpty ? "" : " \(advice)") }
}

extension Warning {
    /// A warning above the verdict that consists of a single sentence.
    init(plain text: String) {
        self.init(title: "Before you read on", message: text, advice: "", isSerious: true)
    }
}
