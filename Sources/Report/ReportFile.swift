/// A file of a report: a name without folders, and its bytes.
package struct ReportFile: Hashable, Sendable {
    /// The file's name, such as `index.html`.
    package var name: String
    /// The content; all files are UTF-8.
    package var bytes: [UInt8]

    /// Creates a file from text.
    init(name: String, text: String) {
        self.name = name
        bytes = Array(text.utf8)
    }
}
