import Foundation

/// The project's documents.
enum Documents {
    /// The documents whose commands and examples are tried, from the project's folder on.
    static let names: [String] =
        ["", "docs/", "docs/formats/", "docs/method/", "docs/lab/"].flatMap(pages(in:)) + ["data/scenarios/PROTOCOL.md"]
        + catalogs

    /// The documents that have commands; the others need no folder to run them in.
    static let withCommands = names.filter { name in
        (try? blocks(name).contains { $0.language == "sh" }) ?? true
    }

    /// The Markdown files of a folder.
    private static func pages(in folder: String) -> [String] {
        contents(folder).filter { $0.hasSuffix(".md") }.map { folder + $0 }
    }

    /// The pages of the libraries' documentation.
    private static var catalogs: [String] {
        let targets = contents("Sources").flatMap { floor in
            contents("Sources/\(floor)").map { "Sources/\(floor)/\($0)/\($0).docc" }
        }
        return targets.flatMap { folder in contents(folder).map { "\(folder)/\($0)" } }.filter { $0.hasSuffix(".md") }
    }

    private static func contents(_ folder: String) -> [String] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: Project.folder.appending(path: folder).path)
        return (names ?? []).sorted()
    }

    /// A document's text.
    static func text(_ name: String) throws -> String {
        try String(contentsOf: Project.folder.appending(path: name), encoding: .utf8)
    }

    /// A document's blocks of code.
    static func blocks(_ name: String) throws -> [MarkdownBlock] {
        try MarkdownBlock.all(of: text(name), file: name)
    }
}
