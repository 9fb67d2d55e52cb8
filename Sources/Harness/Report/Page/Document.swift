/// A report as plain parts, before it becomes a page or Markdown.
///
/// Every text in it is plain text: the renderers escape all of it, so that nothing from a result file can become markup.
struct Document: Sendable {
    /// The title.
    var title: String
    /// One line on what was measured, where and when.
    var subtitle: String
    /// What a reader must know before any figure, such as that the run is incomplete.
    var warnings: [Warning]
    /// The verdict's lines.
    var verdict: [String]
    /// The sections.
    var sections: [Section]

    /// A part with a heading.
    struct Section: Sendable {
        /// A name that is unique in the document, in lower-case ASCII.
        var name: String
        /// The heading.
        var title: String
        /// What stands under it.
        var blocks: [Block]
    }

    /// A paragraph, a picture, a table or the like.
    enum Block: Sendable {
        /// Text.
        case paragraph(String)
        /// A list of texts.
        case list([String])
        /// Names with what they stand for.
        case facts([(name: String, value: String)])
        /// Text that keeps its line breaks, with a caption.
        case verbatim(caption: String, text: String)
        /// A picture, and the same for narrow screens where there is one.
        case chart(Chart, narrow: Chart?)
        /// A table.
        case table(Table)
        /// A long table that a page shows on demand.
        case foldedTable(Table)
    }
}

/// Rows and columns of text.
struct Table: Hashable, Sendable {
    /// What the table holds, in a sentence.
    var caption: String
    /// The columns.
    var columns: [Column]
    /// The rows; each has as many entries as there are columns. The first entry names the row.
    var rows: [[Entry]]

    /// A column's heading and whether it holds numbers.
    struct Column: Hashable, Sendable {
        /// The heading.
        var title: String
        /// Numbers are set flush right.
        var isNumeric: Bool

        /// Creates a column of text.
        static func text(_ title: String) -> Column { Column(title: title, isNumeric: false) }

        /// Creates a column of numbers.
        static func number(_ title: String) -> Column { Column(title: title, isNumeric: true) }
    }

    /// One entry.
    struct Entry: Hashable, Sendable, ExpressibleByStringLiteral {
        /// The entry itself.
        var text: String
        /// What stands beside it in small letters, such as an interval.
        var detail: String?
        /// How it is set off; the words always say it too.
        var emphasis: Emphasis
        /// Where the entry leads, as a path relative to the document; `nil` if nowhere.
        var link: String?

        /// Creates an entry.
        init(_ text: String, detail: String? = nil, emphasis: Emphasis = .none, link: String? = nil) {
            self.link = link
            self.text = text
            self.detail = detail
            self.emphasis = emphasis
        }

        /// Creates a plain entry.
        init(stringLiteral text: String) {
            self.init(text)
        }

        /// What stands where there is nothing to say.
        static let absent = Entry("–")
    }

    /// How an entry is set off.
    enum Emphasis: Hashable, Sendable {
        /// Not at all.
        case none
        /// Something good.
        case good
        /// Something wrong.
        case bad
    }
}

/// Something that a reader must know before trusting figures, and what to do about it.
struct Warning: Hashable, Sendable {
    /// What kind of thing it is, in a few words.
    var title: String
    /// What was found, with its numbers.
    var message: String
    /// What to do about it.
    var advice: String
    /// Whether it stands above the verdict: without knowing it, the verdict would mislead.
    var isSerious: Bool

    /// The message as a sentence of its own.
    var sentence: String { message.prefix(1).uppercased() + message.dropFirst() }

    /// The warning as one text.
    var text: String { "\(title): \(message)" + (advice.isEmpty ? "" : " \(advice)") }
}

extension Warning {
    /// Creates a warning above the verdict from a sentence that says all there is to say.
    init(plain text: String) {
        self.init(title: "Before you read on", message: text, advice: "", isSerious: true)
    }
}
