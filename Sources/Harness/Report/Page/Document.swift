/// A report as plain parts, before it becomes a page or Markdown.
///
/// Every text in it is plain text: the renderers escape all of it, so that nothing from a result file can become markup.
struct Document: Sendable {
    var title: String
    /// One line on what was measured, where and when.
    var subtitle: String
    /// What a reader must know before any figure, such as that the run is incomplete.
    var warnings: [Warning]
    var verdict: [String]
    var sections: [Section]

    struct Section: Sendable {
        /// A name that is unique in the document, in lower-case ASCII.
        var name: String
        var title: String
        var blocks: [Block]
    }

    /// A paragraph, a picture, a table or the like.
    enum Block: Sendable {
        case paragraph(String)
        case list([String])
        case facts([(name: String, value: String)])
        /// Text that keeps its line breaks, with a caption.
        case verbatim(caption: String, text: String)
        /// A picture, and the same for narrow screens where there is one.
        case chart(Chart, narrow: Chart?)
        case table(Table)
        /// A long table that a page shows on demand.
        case foldedTable(Table)
    }
}

/// Rows and columns of text.
struct Table: Hashable, Sendable {
    /// What the table holds, in a sentence.
    var caption: String
    var columns: [Column]
    /// The rows; each has as many entries as there are columns. The first entry names the row.
    var rows: [[Entry]]

    /// A column's heading and whether it holds numbers.
    struct Column: Hashable, Sendable {
        var title: String
        /// Numbers are set flush right.
        var isNumeric: Bool

        static func text(_ title: String) -> Column { Column(title: title, isNumeric: false) }

        static func number(_ title: String) -> Column { Column(title: title, isNumeric: true) }
    }

    struct Entry: Hashable, Sendable, ExpressibleByStringLiteral {
        var text: String
        /// What stands beside it in small letters, such as an interval.
        var detail: String?
        /// How it is set off; the words always say it too.
        var emphasis: Emphasis
        /// Where the entry leads, as a path relative to the document; `nil` if nowhere.
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

        /// What stands where there is nothing to say.
        static let absent = Entry("–")
    }

    enum Emphasis: Hashable, Sendable {
        case none
        case good
        case bad
    }
}

/// Something that a reader must know before trusting figures, and what to do about it.
struct Warning: Hashable, Sendable {
    /// What kind of thing it is, in a few words.
    var title: String
    /// What was found, with its numbers.
    var message: String
    var advice: String
    /// Whether it stands above the verdict: without knowing it, the verdict would mislead.
    var isSerious: Bool

    /// The message as a sentence of its own.
    var sentence: String { message.prefix(1).uppercased() + message.dropFirst() }

    var text: String { "\(title): \(message)" + (advice.isEmpty ? "" : " \(advice)") }
}

extension Warning {
    /// Creates a warning above the verdict from a sentence that says all there is to say.
    init(plain text: String) {
        self.init(title: "Before you read on", message: text, advice: "", isSerious: true)
    }
}
