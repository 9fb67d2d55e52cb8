import ArgumentParser
import CommandOptions
import Report

/// `chunkwise compare`
struct CompareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Puts two result files side by side: what differs between the runs, and each cell's ratio.",
        discussion: helpText(
            """
            A and B are results of run, sweep or measure: a folder, or its results.jsonl. Ratios are throughput of B ÷
            throughput of A, with a 95 % interval (two-sample bootstrap over rounds and samples; Efron and Tibshirani 1993,
            §8.3). Runs of different hosts are shown and not judged.

            This is not the gate: the runs were made at different times, so that a change of the machine cannot be told from
            a change of the program. A slower B is no failure here; chunkwise gate measures both at once and decides.

            EXAMPLES
              chunkwise compare reports/2026-11-20-host reports/2026-11-21-host
              chunkwise compare a/results.jsonl b/results.jsonl --format json

            EXIT CODES
              0 compared, whatever came out; 2 no cell has figures in both; 65 a file is damaged or of another schema;
              66 a file is missing
            """))

    @Argument(help: "The results to compare with: a folder, or its results.jsonl.", completion: .file())
    var a: String

    @Argument(help: "The results to compare: a folder, or its results.jsonl.", completion: .file())
    var b: String

    @Option(help: ArgumentHelp("How to print the result: text, json or markdown.", valueName: "format"))
    var format = ComparisonFormat.text

    @OptionGroup var color: ColorOptions

    func run() throws {
        let comparison = RunComparison(
            try ResultFiles(a, requiringCells: false).results, named: a,
            with: try ResultFiles(b, requiringCells: false).results, named: b)
        switch format {
        case .text: color.show(comparison.text)
        case .json: print(comparison.json.text)
        case .markdown: print(comparison.markdown)
        }
        try comparison.requirePairs()
    }
}

extension RunComparison {
    /// Zero cells compared are no answer.
    func requirePairs() throws {
        guard pairs.isEmpty else { return }
        throw CommandFailure(
            .noAnswer,
            "\(nameA) and \(nameB) have no cell with figures in both (\(onlyInA.count) only in A, "
                + "\(onlyInB.count) only in B, \(withoutFigures.count) without figures): expected at least one")
    }
}

/// How `chunkwise compare` prints its result.
enum ComparisonFormat: String, CaseIterable, ExpressibleByArgument {
    case text
    case json
    case markdown
}
