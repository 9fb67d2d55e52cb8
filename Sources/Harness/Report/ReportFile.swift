/// A file of a report: a name without folders, and its content, which is made when it is asked for.
package struct ReportFile: Sendable {
    /// The file's name, such as `index.html`.
    package var name: String

    private let content: Content

    private enum Content: Sendable {
        case text(String)
        case parts(@Sendable (_ part: ([UInt8]) throws -> Void) throws -> Void)
    }

    /// Creates a file from text, which is UTF-8 in the file.
    init(name: String, text: String) {
        self.name = name
        content = .text(text)
    }

    /// Creates a file from parts, so that a long one is never in memory as a whole.
    ///
    /// - Parameters:
    ///   - name: The file's name.
    ///   - parts: Calls its argument with each part in order, and throws what that throws.
    init(name: String, parts: @escaping @Sendable (_ part: ([UInt8]) throws -> Void) throws -> Void) {
        self.name = name
        content = .parts(parts)
    }

    /// Hands out the content, part by part.
    ///
    /// - Parameter sink: Takes each part, which is valid during the call only.
    /// - Throws: What `sink` throws.
    package func write(to sink: (UnsafeRawBufferPointer) throws -> Void) throws {
        switch content {
        case .text(var text): try text.withUTF8 { try sink(UnsafeRawBufferPointer($0)) }
        case .parts(let parts): try parts { try $0.withUnsafeBytes(sink) }
        }
    }

    /// The content as a whole.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        // Appending to a list throws nothing.
        try? write { bytes.append(contentsOf: $0) }
        return bytes
    }
}

extension ReportFile: Equatable {
    /// Whether two files have the same name and the same bytes.
    package static func == (one: ReportFile, other: ReportFile) -> Bool {
        one.name == other.name && one.bytes == other.bytes
    }
}
