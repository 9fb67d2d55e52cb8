import Foundation
import Support
import TestSupport
import Testing

@Suite("help")
struct HelpTests {
    /// The commands that help shows, groups included, each by its words; of groups, also what is in them.
    private func commands() throws -> [[String]] {
        func below(_ command: JSONValue, _ words: [String]) -> [[String]] {
            let children = (command["subcommands"]?.array ?? []).filter { $0["shouldDisplay"]?.bool != false }
            return children.flatMap { child in
                let path = words + [child["commandName"]?.string ?? ""]
                return path.last == "help" ? [] : [path] + below(child, path)
            }
        }
        let run = try Chunkwise.run(["--experimental-dump-help"])
        return below(try #require(JSONValue.parse(run.output)?["command"]), [])
    }

    private func help(_ command: [String]) throws -> [String] {
        let run = try CommandRun.run("/usr/bin/env", ["COLUMNS=80", Programs.chunkwise] + command + ["--help"])
        #expect(run.status == 0)
        return run.text.components(separatedBy: "\n")
    }

    /// The lines under a heading.
    private func section(_ heading: String, of lines: [String]) -> [String] {
        guard let start = lines.firstIndex(of: heading) else { return [] }
        return lines[(start + 1)...].prefix { $0.hasPrefix(" ") }.map(\.self)
    }

    @Test("every command has examples that a shell takes as they are, and exit codes without stubs")
    func sections() throws {
        let commands = try commands()
        #expect(commands.count > 20 && commands.contains(["keys", "play"]))
        for command in commands {
            let lines = try help(command)
            let examples = section("EXAMPLES", of: lines)
            #expect(!examples.isEmpty, "\(command)")
            for (line, next) in zip(examples, examples.dropFirst() + [""]) {
                #expect(line.count < 80, "\(command): \(line)")
                #expect(line.count { $0 == "'" } % 2 == 0, "a quotation is broken in \(command): \(line)")
                // What goes on is indented further; so is an explanation, which is no command.
                let goesOn = next.hasPrefix("      ")
                if line.hasSuffix("\\") || goesOn {
                    #expect(goesOn && line.hasSuffix("\\") != isExplanation(next), "\(command): \(line)")
                }
                let isCommand = line.contains("chunkwise") || line.contains("openssl")
                #expect(isCommand || line.hasPrefix("      "), "\(command): \(line)")
                #expect(!line.contains("\u{A0}"))
            }
            let codes = section("EXIT CODES", of: lines)
            #expect(codes.first?.hasPrefix("  0 ") == true, "\(command): \(codes)")
            for line in codes { #expect(line.split(separator: " ").count > 1, "a stub in \(command): \(line)") }
        }
    }

    /// Tells if a line below an example explains it, and is no rest of a command.
    private func isExplanation(_ line: String) -> Bool {
        [
            "what the default", "on the file system", "without AES-NI", "do sessions", "do the files", "what a million",
            "how long",
        ].contains {
            line.contains($0)
        }
    }

    @Test("values are listed once, and what may be repeated is said in one way")
    func options() throws {
        for command in try commands() {
            let text = try help(command).joined(separator: "\n")
            let entries = text.components(separatedBy: "\n  --").dropFirst()
            for entry in entries {
                let words = entry.components(separatedBy: .whitespacesAndNewlines).filter { !$0.isEmpty }
                    .joined(separator: " ")
                guard let found = words.firstMatch(of: /^(.*)\(values: ([^;)]*)/) else { continue }
                let values = found.2.split(separator: ", ")
                let said = values.filter { found.1.split { !$0.isLetter && $0 != "-" }.contains($0) }
                #expect(said.count < max(2, values.count), "\(command): \(words)")
            }
            for phrase in ["several times", "given repeatedly"] {
                #expect(!text.replacing("\n", with: " ").contains(phrase), "\(command): \(phrase)")
            }
        }
    }

    @Test("a command behind a pipe is continued by a backslash")
    func pipe() throws {
        let lines = try help(["encrypt"])
        let index = try #require(lines.firstIndex { $0.hasPrefix("  tar c folder |") })
        #expect(lines[index].hasSuffix(" \\") && lines[index + 1].hasSuffix("folder.enc"))
    }

    // Texts are wrapped only for a command line that may print help.
    @Test(
        "commands alone print their help, as do -help and a group with nothing behind --",
        arguments: [
            [], ["keys"], ["format"], ["vectors"], ["plugin"], ["key"], ["verify", "-help"], ["keys", "--"],
        ])
    func group(words: [String]) throws {
        let lines = try help(words.filter { !$0.hasPrefix("-") })
        for arguments in [words, ["help"] + words] {
            let run = try CommandRun.run("/usr/bin/env", ["COLUMNS=80", Programs.chunkwise] + arguments)
            #expect(run.text.components(separatedBy: "\n") == lines, "\(arguments)")
        }
    }
}
