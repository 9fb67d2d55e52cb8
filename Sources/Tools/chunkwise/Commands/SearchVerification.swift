import ArgumentParser
import Conformance
import Report
import Support
import Vectors

/// `chunkwise verify --search`: random reads, compared with the oracle.
enum SearchVerification {
    /// Searches for the given duration, and prints the differences.
    ///
    /// - Throws: `ExitCode` 1 if a subject differs from the oracle; `CommandFailure` if no case was executed, or the
    ///   user stopped it.
    static func run(
        _ search: DifferentialSearch, commands: [String], duration: Duration, format: OutputFormat
    ) throws {
        Interruption.install()
        let clock = ContinuousClock()
        let end = clock.now.advanced(by: duration)
        let outcome = search.run { drawn, tried in
            if let tried {
                Terminal.showProgress("verify: making the difference smaller, \(tried) cases tried")
            } else if drawn % 100 == 0 {
                Terminal.showProgress("verify: \(drawn) cases drawn")
            }
            return clock.now < end
        } found: { difference in
            Terminal.clearProgress()
            Terminal.warn(
                "\(difference.subject) differs in case \(difference.number): \(difference.reason); making the case "
                    + "smaller"
            )
        }
        Terminal.clearProgress()
        let shown = Shown(search: search, commands: commands, duration: duration)
        switch format {
        case .json: print(json(outcome, shown).text)
        case .text: print(text(outcome, shown))
        }
        if !outcome.differences.isEmpty { throw ExitCode(CommandFailure.Code.no.rawValue) }
        if Interruption.wasRequested { throw CommandFailure(.noAnswer, "stopped before the end") }
        try require(
            outcome.executed > 0, .noAnswer, "no case was executed: expected at least one; try a longer --search")
    }

    /// The search, for the output.
    private struct Shown {
        let search: DifferentialSearch
        let commands: [String]
        let duration: Duration
    }

    private static func text(_ outcome: DifferentialSearch.Outcome, _ shown: Shown) -> String {
        var lines = [
            "seed \(shown.search.seed): \(RatioText.count(outcome.drawn, "case")) drawn, \(outcome.executed) executed "
                + "with \(RatioText.count(outcome.readCount, "read")), \(outcome.unsupported) unsupported, "
                + RatioText.count(outcome.differences.count, "difference")
        ]
        for difference in outcome.differences {
            lines.append("DIFFERENCE \(difference.subject), \(difference.searchCase.setup): \(difference.reason)")
            if !difference.isShrunk {
                lines.append("the time was up before every smaller case was tried; a longer --search may find one")
            }
            lines.append(vectors(difference, seed: shown.search.seed).text)
            lines.append("again: \(command(difference, shown))")
        }
        return lines.joined(separator: "\n")
    }

    private static func json(_ outcome: DifferentialSearch.Outcome, _ shown: Shown) -> JSONValue {
        let differences = outcome.differences.map {
            JSONValue(members: [
                "subject": $0.subject, "number": $0.number, "setup": "\($0.searchCase.setup)", "reason": $0.reason,
                "isShrunk": $0.isShrunk, "command": command($0, shown),
                "vectors": vectors($0, seed: shown.search.seed),
            ])
        }
        return JSONValue(members: [
            "seed": shown.search.seed, "drawn": outcome.drawn, "executed": outcome.executed,
            "reads": outcome.readCount, "unsupported": outcome.unsupported, "differences": differences,
        ])
    }

    private static func vectors(_ difference: DifferentialSearch.Difference, seed: UInt64) -> JSONValue {
        difference.searchCase.vectorFile(
            id: "search/\(seed)/\(difference.number)",
            source: "differential search with seed \(seed), case \(difference.number)"
                + (difference.isShrunk ? ", shrunk" : ""))
    }

    /// The command that repeats a case. The seed and the case's number determine it.
    private static func command(_ difference: DifferentialSearch.Difference, _ shown: Shown) -> String {
        let (search, commands) = (shown.search, shown.commands)
        let index = search.subjects.firstIndex { $0.name == difference.subject } ?? 0
        let subject =
            commands.isEmpty ? "--backend \(difference.subject)" : "--subject \(ShellText.quoted(commands[index]))"
        return "chunkwise verify --search \(TimeText.text(shown.duration)) --seed \(search.seed) "
            + "--case \(difference.number) \(subject)"
    }
}
