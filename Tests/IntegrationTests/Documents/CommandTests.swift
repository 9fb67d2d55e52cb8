import Foundation
import TestSupport
import Testing

@Suite("commands in the documents")
struct CommandTests {
    // The page about many machines is followed by scripts/fleet-test, which has a Slurm and hosts.
    @Test(
        "every command of a document does what it says, in the order of the document",
        arguments: Documents.withCommands.filter { $0 != "docs/fleet.md" })
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
}
