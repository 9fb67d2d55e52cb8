import Foundation

/// The files of the project that these tests read.
enum Project {
    /// The project's folder.
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The path of something in it, such as `data/vectors`.
    static func path(_ name: String) -> String { folder.appending(path: name).path(percentEncoded: false) }
}
