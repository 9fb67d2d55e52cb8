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
