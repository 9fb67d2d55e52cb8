import ArgumentParser
import Measurement
import Report
import Results
import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// `chunkwise compare`
struct CompareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Puts two result files side by side: what differs between the runs, and each cell's ratio.",
        discussion: """
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
            """)

    @Argument(help: "The results to compare with: a folder, or its results.jsonl.")
    var a: String

    @Argument(help: "The results to compare: a folder, or its results.jsonl.")
    var b: String

    @Option(help: ArgumentHelp("How to print the result: text, json or markdown.", valueName: "format"))
    var format = ComparisonFormat.text

    func run() throws {
        let comparison = RunComparison(try Self.results(a), named: a, with: try Self.results(b), named: b)
        switch format {
        case .text: print(comparison.text)
        case .json: print(comparison.json.text)
        case .markdown: print(comparison.markdown)
        }
        guard !comparison.pairs.isEmpty else {
            throw CommandFailure(
                .noAnswer,
                "\(a) and \(b) have no cell with figures in both (\(comparison.onlyInA.count) only in A, "
                    + "\(comparison.onlyInB.count) only in B, \(comparison.withoutFigures.count) without figures): "
                    + "expected at least one")
        }
    }

    private static func results(_ name: String) throws -> RunResults {
        let path = FilePath(name)
        var status = stat()
        let isFolder = stat(name, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        let file = isFolder ? RunFolder(path: path).resultFile : path
        let (results, isCut) = try attemptInput { try ResultLog.read(file) }
        if isCut { Terminal.writeError("chunkwise: warning: the last line of \(file) is cut short and left out") }
        return results
    }
}

/// How `chunkwise compare` prints its result.
enum ComparisonFormat: String, CaseIterable, ExpressibleByArgument {
    case text
    case json
    case markdown
}
