import ArgumentParser
import CommandOptions
import Conformance
import RandomAccess
import Results
import Support

/// `chunkwise verify --search`: reads that nobody thought of.
enum SearchVerification {
    /// Searches for as long as it is told to, and prints what it found.
    ///
    /// - Throws: `ExitCode` 1 if a subject differs from the oracle; `CommandFailure` if no case was executed.
    static func run(
        _ search: DifferentialSearch, commands: [String], duration: Duration, format: OutputFormat
    ) throws {
        let clock = ContinuousClock()
        let end = clock.now.advanced(by: duration)
        let outcome = search.run { drawn in
            if drawn % 100 == 0 { Terminal.showProgress("verify: \(drawn) cases drawn") }
            return clock.now < end
        }
        Terminal.clearProgress()
        switch format {
        case .json: print(json(outcome, of: search, commands).text)
        case .text: print(text(outcome, of: search, commands))
        }
        if !outcome.differences.isEmpty { throw ExitCode(CommandFailure.Code.no.rawValue) }
        guard outcome.executed > 0 else {
            throw CommandFailure(.noAnswer, "no case was executed: expected at least one; try a longer --search")
        }
    }

    /// Reads a duration such as `500ms`, `10s`, `2m` or `1h`.
    ///
    /// - Throws: `CommandFailure` for anything else.
    static func duration(_ text: String) throws -> Duration {
        let digits = text.prefix { $0.isNumber }
        let unit = text.dropFirst(digits.count)
        let milliseconds = ["ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000][String(unit)]
        guard let milliseconds, let count = Int(digits), (1...1_000_000).contains(count) else {
            throw CommandFailure(.usage, "--search \(text): expected a duration such as 500ms, 10s, 2m or 1h")
        }
        return .milliseconds(count * milliseconds)
    }

    private static func text(
        _ outcome: DifferentialSearch.Outcome, of search: DifferentialSearch, _ commands: [String]
    ) -> String {
        var lines = [
            "seed \(search.seed): \(outcome.drawn) cases drawn, \(outcome.executed) executed with \(outcome.readCount) reads, "
                + "\(outcome.unsupported) unsupported, \(outcome.differences.count) differences"
        ]
        for difference in outcome.differences {
            lines.append("DIFFERENCE \(difference.subject), \(difference.searchCase.setup): \(difference.reason)")
            lines.append(vectors(difference, seed: search.seed).text)
            lines.append("again: \(command(difference, of: search, commands))")
        }
        return lines.joined(separator: "\n")
    }

    private static func json(
        _ outcome: DifferentialSearch.Outcome, of search: DifferentialSearch, _ commands: [String]
    ) -> JSONValue {
        [
            "seed": .integer(search.seed), "drawn": JSONValue(count: outcome.drawn),
            "executed": JSONValue(count: outcome.executed), "reads": JSONValue(count: outcome.readCount),
            "unsupported": JSONValue(count: outcome.unsupported),
            "differences": .array(
                outcome.differences.map {
                    [
                        "subject": .string($0.subject), "number": JSONValue(count: $0.number),
                        "setup": .string("\($0.searchCase.setup)"), "reason": .string($0.reason),
                        "command": .string(command($0, of: search, commands)),
                        "vectors": vectors($0, seed: search.seed),
                    ]
                }),
        ]
    }

    private static func vectors(_ difference: DifferentialSearch.Difference, seed: UInt64) -> JSONValue {
        difference.searchCase.vectorFile(
            id: "search/\(seed)/\(difference.number)",
            source: "differential search with seed \(seed), case \(difference.number), shrunk")
    }

    /// Repeats a case, which the seed and its number are enough for.
    private static func command(
        _ difference: DifferentialSearch.Difference, of search: DifferentialSearch, _ commands: [String]
    ) -> String {
        let place = search.subjects.firstIndex { $0.name == difference.subject } ?? 0
        let subject =
            commands.isEmpty ? "--backend \(difference.subject)" : "--subject \(ShellText.quoted(commands[place]))"
        return "chunkwise verify --search 1ms --seed \(search.seed) --case \(difference.number) \(subject)"
    }
}
