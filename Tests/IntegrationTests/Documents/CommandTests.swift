import Foundation
import TestSupport
import Testing

@Suite("commands in the documents")
struct CommandTests {
    // The page about many machines is followed by scripts/fleet-test, which has a Slurm and hosts.
    @Test(
        "every command of a document does what it says, in the order of the document",
        arguments: Documents.names.filter { $0 != "docs/fleet.md" })
    func run(document: String) throws {
        let scratch = try Scratch()
        for block in try Documents.blocks(document) {
            try scratch.keep(block)
            for command in block.language == "sh" ? block.commands : [] {
                let tried = DocumentedCommand(command)
                guard let line = tried.command, Scratch.hasPython || !line.contains("python3") else { continue }
                let run = try scratch.run(line)
                let place = "\(document):\(block.line): \(line)"
                let errors = run.errorLines.suffix(5).joined(separator: "\n")
                let expected = tried.status(run)
                #expect(
                    run.status == expected,
                    "\(place) ended with \(run.status): expected \(expected.map { "\($0)" } ?? "a result")\n\(errors)")
                // Plaintext on standard output is anything.
                guard !line.hasPrefix("chunkwise decrypt") else { continue }
                #expect(!run.text.contains("\u{1B}"), "\(place) writes control characters into a pipe")
            }
        }
    }

    @Test("what is listed as not run, or as run otherwise, stands in a document and has its reason")
    func listed() throws {
        let commands = try Set(
            Documents.names.flatMap { try Documents.blocks($0).filter { $0.language == "sh" }.flatMap(\.commands) })
        for (command, tried) in DocumentedCommand.listed {
            #expect(commands.contains(command), "no document has \"\(command)\" any more")
            #expect(tried.reason.count > 10, "\(command): why is it not run as it stands?")
        }
        #expect(commands.count > 30, "the documents have \(commands.count) commands")
    }

    @Test("documents have lines of at most 120 characters", arguments: Documents.names)
    func lines(document: String) throws {
        for (index, line) in try Documents.text(document).split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        where !line.hasPrefix("|") {
            #expect(line.count <= 120, "\(document):\(index + 1) has \(line.count) characters")
        }
    }

    @Test("links of documents to files and headings of the project lead somewhere", arguments: Documents.names)
    func links(document: String) throws {
        let text = try Documents.text(document)
        let folder = Project.folder.appending(path: document).deletingLastPathComponent()
        for match in text.matches(of: /\]\(([^)\s]+)\)/) {
            let target = String(match.1)
            guard !target.contains("://") else { continue }
            let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let file = parts[0].isEmpty ? Project.folder.appending(path: document) : folder.appending(path: parts[0])
            #expect(FileManager.default.fileExists(atPath: file.path), "\(document) links to \(target)")
            guard parts.count == 2, let content = try? String(contentsOf: file, encoding: .utf8) else { continue }
            #expect(Self.anchors(of: content).contains(parts[1]), "\(document) links to \(target)")
        }
    }

    /// What GitHub calls the headings of a document.
    private static func anchors(of text: String) -> [String] {
        text.split(separator: "\n").filter { $0.hasPrefix("#") }.map { heading in
            heading.drop { $0 == "#" || $0 == " " }.lowercased().filter {
                $0.isLetter || $0.isNumber || $0 == " " || $0 == "-"
            }
            .replacing(" ", with: "-")
        }
    }
}
