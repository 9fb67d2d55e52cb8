import ArgumentParser
import Conformance
import Report
import Support
import Vectors

extension VerifyCommand {
    /// `chunkwise verify search`
    struct Search: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "search",
            abstract: "Compares random reads with the oracle.",
            discussion: helpText(
                """
                The same seed draws the same cases. A difference is reduced to a small case. With --split, each shard
                draws cases of its own; chunkwise verify --manifest runs one. --help-hidden lists the options for many
                machines.

                EXAMPLES
                  chunkwise verify search --time 1m --seed 7
                  chunkwise verify search --time 1h --seed 7 --split 40 --output job

                EXIT CODES
                  0 no difference; 1 a subject differs from the oracle; 2 nothing was executed, or it was stopped
                """))

        @Option(
            help: .taking("time", "The time to search, such as 30s or 2m. (default: 10s)"),
            transform: Duration.argument(.seconds, 0.001...1e9, needsUnit: true))
        var time = Duration.seconds(10)

        @Option(help: "The seed of the cases.")
        var seed: UInt64 = 1

        @Option(name: .customLong("case"), help: "The number of the first case. (default: 0)")
        var firstCase: UInt32?

        @OptionGroup var tested: TestedSubjects
        @OptionGroup(title: "Many machines", visibility: .hidden) var job: VerifyJobOptions
        @OptionGroup var output: FormatOptions

        func validate() throws {
            try requireValid(
                !job.isAsked || firstCase == nil && !job.fleet.replicate,
                "--split with --case or --replicate: expected neither, as each shard draws cases of its own")
            try requireValid(
                !job.fleet.isShard, "--manifest: expected chunkwise verify without search, to run a shard")
            try job.validate(for: tested, output)
        }

        func run() throws {
            try tested.check()
            if job.isAsked { return try VerifyShard.split(self) }
            let subjects = try tested.searchSubjects()
            let names = subjects.map(\.name)
            Interruption.install()
            let clock = ContinuousClock()
            let end = clock.now.advanced(by: time)
            let search = DifferentialSearch(
                subjects: subjects, seed: seed, firstNumber: Int(firstCase ?? 0),
                isInterrupted: { Interruption.wasRequested })
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
            let again: Again = { difference in
                let index = names.firstIndex(of: difference.subject) ?? 0
                let subject =
                    tested.isAsked
                    ? "--subject \(ShellText.quoted(tested.commands[index]))" : "--backend \(difference.subject)"
                return
                    "chunkwise verify search --time \(TimeText.text(time)) --seed \(seed) --case \(difference.number) "
                    + subject
            }
            let result = try attempt { (text: try text(outcome, again), json: try json(outcome, again)) }
            output.show(result.text, json: result.json)
            if !outcome.differences.isEmpty { throw ExitCode(CommandFailure.Code.no.rawValue) }
            if Interruption.wasRequested { throw CommandFailure(.noAnswer, "stopped before the end") }
            try require(
                outcome.executed > 0, .noAnswer, "no case was executed: expected at least one; try a longer --time")
        }

        /// Returns the command that repeats a case. The seed and the case's number determine it.
        private typealias Again = (DifferentialSearch.Difference) -> String

        private func text(_ outcome: DifferentialSearch.Outcome, _ again: Again) throws -> String {
            var lines = [
                "seed \(seed): \(RatioText.count(outcome.drawn, "case")) drawn, \(outcome.executed) executed "
                    + "with \(RatioText.count(outcome.readCount, "read")), \(outcome.unsupported) unsupported, "
                    + RatioText.count(outcome.differences.count, "difference")
            ]
            for difference in outcome.differences {
                lines.append("DIFFERENCE \(difference.subject), \(difference.searchCase.setup): \(difference.reason)")
                if !difference.isShrunk {
                    lines.append("the time was up before every smaller case was tried; a longer --time may find one")
                }
                lines.append(try vectors(difference).text)
                lines.append("again: \(again(difference))")
            }
            return lines.joined(separator: "\n")
        }

        private func json(_ outcome: DifferentialSearch.Outcome, _ again: Again) throws -> JSONValue {
            let differences = try outcome.differences.map {
                JSONValue(members: [
                    "subject": $0.subject, "number": $0.number, "setup": "\($0.searchCase.setup)", "reason": $0.reason,
                    "isShrunk": $0.isShrunk, "command": again($0), "vectors": try vectors($0),
                ])
            }
            return JSONValue(members: [
                "seed": seed, "drawn": outcome.drawn, "executed": outcome.executed, "reads": outcome.readCount,
                "unsupported": outcome.unsupported, "differences": differences,
            ])
        }

        private func vectors(_ difference: DifferentialSearch.Difference) throws -> JSONValue {
            try difference.searchCase.vectorFile(
                id: "search/\(seed)/\(difference.number)",
                source: "differential search with seed \(seed), case \(difference.number)"
                    + (difference.isShrunk ? ", shrunk" : ""))
        }
    }
}
