import Foundation
import Testing

@Suite("examples in Swift")
struct SwiftExampleTests {
    /// The examples that are compiled with these tests, and run by ``ExampleTests``.
    private static func examples() throws -> [String: [String]] {
        let folder = Project.folder.appending(path: "Tests/IntegrationTests/Documents/Examples")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        return try Dictionary(
            uniqueKeysWithValues: names.map { name in
                let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
                return (name, Self.lines(text.split(separator: "\n").map(String.init)))
            })
    }

    /// Lines without their indentation, and without empty ones.
    private static func lines(_ lines: [String]) -> [String] {
        lines.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    @Test("every example of a document is one that was compiled", arguments: Documents.names)
    func compiled(document: String) throws {
        let examples = try Self.examples()
        for block in try Documents.blocks(document) where block.language == "swift" {
            let lines = Self.lines(block.lines)
            let imports = lines.filter { $0.hasPrefix("import ") }
            let code = lines.filter { !$0.hasPrefix("import ") }
            let found = examples.values.contains { example in
                imports.allSatisfy(example.contains) && Self.contains(example, code)
            }
            #expect(found, "\(document):\(block.line) stands in no file of Tests/IntegrationTests/Documents/Examples")
        }
    }

    private static func contains(_ example: [String], _ code: [String]) -> Bool {
        guard let first = code.first else { return true }
        return example.indices.contains { start in
            example[start] == first && example[start...].prefix(code.count).elementsEqual(code)
        }
    }
}
