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
