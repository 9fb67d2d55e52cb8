import Foundation
import TestSupport
import Testing

/// A run of the program whose streams are a terminal, by the command `script`.
private func runOnTerminal(
    _ command: String, columns: Int, environment: [String] = [], in folder: TemporaryFolder
) throws -> String {
    let script = try #require(Programs.installed("script"))
    let shell =
        "stty cols \(columns) rows 24; env -u NO_COLOR -u COLUMNS \(environment.joined(separator: " ")) "
        + "'\(Programs.chunkwise)' \(command)"
    let run = try CommandRun.run(
        "/usr/bin/env", ["TERM=xterm", script, "-q", "-e", "-c", shell, "/dev/null"], in: folder.path)
    #expect(run.status == 0, "\(run.text)")
    return run.text
}

/// A text without escape sequences, one part for each time that the line was begun anew.
private func shown(_ output: String) -> [String] {
    output.split(separator: "\r").map { part in
        String(part).replacing(/\u{1B}\[[0-9;]*[A-Za-z]/, with: "").trimmingCharacters(in: .newlines)
    }
}

@Suite("what a terminal shows", .enabled(if: Programs.installed("script") != nil))
struct TerminalTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.file(
            "plan",
            """
            rounds: 2
            time: 1ms
            object-size: 64KiB
            cells:
            - {backend: [libgcrypt, openssl], window: [4KiB, 64KiB]}
            """)
    }

    @Test(
        "a sweep shows what is running, how far, and how long still, in the terminal's width", arguments: [50, 80, 200])
    func progress(columns: Int) throws {
        let output = try runOnTerminal("sweep --plan plan --output run", columns: columns, in: folder)
        let lines = shown(output).filter { $0.contains("/28 passes") }
        // Four cells, each with its check, and two rounds of memory, latencies and time. The count only grows.
        #expect(lines.map { $0.prefix { $0 != "/" } } == (0..<28).map { "\($0)" }, "\(lines)")
        for line in lines {
            #expect(line.count < columns, "\(line)")
            #expect(line.hasSuffix("left"), "\(line)")
        }
        // Where there is no space for it, what is running is cut off.
        let isWide = columns > 50
        #expect(lines.contains { $0.contains("openssl 64KiB sequential") && $0.contains("round 2 of 2") } == isWide)
        #expect(lines.contains { $0.contains("plaintext check") } == isWide)
        // What stays on the screen is the result.
        #expect(shown(output).filter { $0.contains("report: ") }.count == 1)
    }

    @Test("a narrower COLUMNS counts; a dumb terminal and a pipe get no control characters")
    func plain() throws {
        let narrow = try runOnTerminal(
            "sweep --plan plan --output narrow", columns: 120, environment: ["COLUMNS=30"], in: folder)
        let lines = shown(narrow).filter { $0.contains("/28 passes") }
        #expect(lines.count == 28 && lines.allSatisfy { $0.count < 30 })
        let dumb = try runOnTerminal(
            "sweep --plan plan --output dumb", columns: 80, environment: ["TERM=dumb"], in: folder)
        #expect(!dumb.contains("\u{1B}") && dumb.contains("report: "))
        let pipe = try Chunkwise.run(["sweep", "--plan", "plan", "--output", "pipe"], in: folder.path)
        #expect(pipe.status == 0 && !pipe.text.contains("\u{1B}") && !pipe.text.contains("\r"))
        #expect(pipe.errorLines.isEmpty)
    }

    @Test("colour is for terminals, and for those who want it")
    func color() throws {
        #expect(try Chunkwise.run(["sweep", "--plan", "plan", "--output", "a"], in: folder.path).status == 0)
        let compare = "report compare a a --format text"
        let colored = try runOnTerminal(compare, columns: 80, in: folder)
        #expect(colored.contains("\u{1B}[33mundecided\u{1B}[0m"))
        for environment in [["NO_COLOR=1"], ["TERM=dumb"]] {
            let plain = try runOnTerminal(compare, columns: 80, environment: environment, in: folder)
            #expect(!plain.contains("\u{1B}") && plain.contains("undecided"))
        }
        #expect(try !runOnTerminal(compare + " --color never", columns: 80, in: folder).contains("\u{1B}"))
        let pipe = try Chunkwise.run(["report", "compare", "a", "a", "--format", "text"], in: folder.path)
        let always = try Chunkwise.run(
            ["report", "compare", "a", "a", "--format", "text", "--color", "always"], in: folder.path)
        #expect(!pipe.text.contains("\u{1B}") && always.text.contains("\u{1B}[33m"))
        // Without its colours, it is the same text.
        #expect(always.text.replacing(/\u{1B}\[[0-9;]*m/, with: "") == pipe.text)
        Chunkwise.expectFailure(
            try Chunkwise.run(["report", "compare", "a", "a", "--color", "green"], in: folder.path), 64, "green")
    }

    @Test("texts fit 80 columns")
    func width() throws {
        #expect(try Chunkwise.run(["sweep", "--plan", "plan", "--output", "a"], in: folder.path).status == 0)
        let commands = [
            ["backends"], ["report", "compare", "a", "a", "--format", "text"],
            ["measure", "--object-size", "64KiB", "--rounds", "2", "--milliseconds", "1"],
            ["limits", "--threads", "1"],
        ]
        for command in commands {
            let run = try Chunkwise.run(command, in: folder.path)
            #expect(run.status == 0, "\(command): \(run.errorLines)")
            for line in run.text.split(separator: "\n") {
                #expect(line.count <= 80, "\(command): \(line.count) columns: \(line)")
            }
        }
    }
}
