import Foundation
import Support
import TestSupport
import Testing

@Suite("completion scripts")
struct CompletionTests {
    private static let shells = ["bash", "zsh", "fish"]

    private func script(_ shell: String) throws -> CommandRun {
        try Chunkwise.run(["--generate-completion-script", shell])
    }

    /// The names of all commands that help shows, as the program describes itself.
    private func commands() throws -> [String] {
        let run = try Chunkwise.run(["--experimental-dump-help"])
        let root = try #require(JSONValue.parse(run.output)?["command"]?["subcommands"]?.array)
        return root.filter { $0["shouldDisplay"]?.bool != false }.compactMap { $0["commandName"]?.string }
    }

    @Test("a script has every command and the values that options take", arguments: shells)
    func content(shell: String) throws {
        let run = try script(shell)
        #expect(run.status == 0 && run.errorLines.isEmpty)
        let names = try commands()
        #expect(names.count > 10)
        for word in names + ["swift-bitsliced", "cbc-chunked", "chunk-cache", "markdown", "never"] {
            #expect(run.text.contains(word), "\(shell) has no \(word)")
        }
    }

    @Test("help fits 80 columns and leaves no word of a paragraph alone in a line")
    func help() throws {
        for command in try commands() {
            let run = try CommandRun.run("/usr/bin/env", ["COLUMNS=80", Programs.chunkwise, "help", command])
            let lines = run.text.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(run.status == 0 && lines.count > 5)
            for line in lines { #expect(line.count <= 80, "\(command): \(line)") }
            for (line, next) in zip(lines, lines.dropFirst()) where line.first?.isLetter == true && !next.isEmpty {
                let firstWord = next.prefix { $0 != " " }
                guard next.first?.isLetter == true, !next.contains("EXAMPLE"), !line.hasPrefix("EX") else { continue }
                #expect(line.count + 1 + firstWord.count > 79, "\(command): \(line)")
            }
        }
    }

    @Test("a shell reads its script without complaint", arguments: shells.filter { Programs.installed($0) != nil })
    func syntax(shell: String) throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("script", try script(shell).output)
        let program = try #require(Programs.installed(shell))
        let run = try CommandRun.run(program, [shell == "fish" ? "--no-execute" : "-n", path])
        #expect(run.status == 0 && run.errorLines.isEmpty, "\(run.errorLines)")
    }

    @Test(
        "bash proposes commands, options, backends, formats, plans and folders",
        .enabled(if: Programs.installed("bash") != nil),
        arguments: [
            (["ver"], "verify"), (["verify", "--back"], "--backend"), (["verify", "--backend", "open"], "openssl"),
            (["measure", "--access", "whole"], "whole-chunk"), (["gate", "--format", "git"], "github"),
            (["sweep", "--plan", "pla"], "plan.yml"), (["report", "fol"], "folder"),
            (["subject", "--mutant", "iv-z"], "iv-zero"), (["recommend", "--workload", "play"], "playback"),
            (["recommend", "fol"], "folder"), (["measure", "--workload", "seq"], "sequential"),
            (["keys", "sce"], "scenarios"),
        ] as [([String], String)])
    func bash(words: [String], proposal: String) throws {
        let folder = try TemporaryFolder()
        try folder.file("script", try script("bash").output)
        try folder.file("plan.yml", "")
        try FileManager.default.createDirectory(atPath: folder.path("folder"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("chunkwise"), withDestinationPath: Programs.chunkwise)
        let line = (["chunkwise"] + words).joined(separator: " ")
        let ask = """
            PATH="$PWD:$PATH"
            source ./script
            COMP_WORDS=(\(line)); COMP_CWORD=\(words.count); COMP_LINE='\(line)'; COMP_POINT=${#COMP_LINE}
            compopt() { :; }
            _chunkwise chunkwise '\(words.last ?? "")' '\(words.dropLast().last ?? "chunkwise")'
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let run = try CommandRun.run(try #require(Programs.installed("bash")), ["-c", ask], in: folder.path)
        let found = run.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(found.contains(proposal), "\(line) → \(found) \(run.errorLines)")
    }
}
