import Foundation

/// The project's documents.
enum Documents {
    /// The project's folder.
    static let project = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The documents whose commands and examples are tried, from the project's folder on.
    static let names: [String] =
        [
            "README.md", "METHODOLOGY.md", "CONTRIBUTING.md", "PROTOCOL.md", "KEY-PROTOCOL.md", "CHANGELOG.md",
            "data/scenarios/PROTOCOL.md",
        ] + catalogs

    /// The pages of the libraries' documentation.
    private static var catalogs: [String] {
        let targets = contents("Sources").map { "Sources/\($0)/\($0).docc" }
        return targets.flatMap { folder in contents(folder).map { "\(folder)/\($0)" } }.filter { $0.hasSuffix(".md") }
    }

    private static func contents(_ folder: String) -> [String] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: project.appending(path: folder).path)
        return (names ?? []).sorted()
    }

    /// A document's text.
    static func text(_ name: String) throws -> String {
        try String(contentsOf: project.appending(path: name), encoding: .utf8)
    }

    /// A document's blocks of code.
    static func blocks(_ name: String) throws -> [MarkdownBlock] {
        try MarkdownBlock.all(of: text(name), file: name)
    }
}
