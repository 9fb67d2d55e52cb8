import ArgumentParser
import CommandOptions
import Glibc
import Measurement
import Report
import Results
import Support
import SystemPackage

/// `chunkwise recommend`
struct RecommendCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recommend",
        abstract: "Says which measured configuration to take under given budgets, and why.",
        discussion: helpText(
            """
            RESULTS are those of run, sweep or measure: a folder, or its results.jsonl. Each is answered on its own: figures of
            different machines or runs are never mixed.

            Of the configurations that keep all budgets, those whose 95 % interval of throughput overlaps the fastest one's
            tie with it. Of these the one with the least memory is taken, then the soonest first byte, then the smallest
            window. The runner-up is the best that differs in more than the window.

            Memory is how far the process's peak rises above what it held when the object was open. First byte is the median
            time to open the object and read one byte, or to read one window (or range), whichever is longer. Amplification
            is ciphertext bytes fetched per plaintext byte delivered. A configuration without a figure keeps no budget on it.

            Workloads may have the names that people use: download, playback, seek. What stands for them is said. Files that
            are not in the page cache, and remote stores, are chosen from only with --cold and --remote.

            EXAMPLES
              chunkwise recommend reports/2026-11-21-vm
              chunkwise recommend reports/2026-11-21-vm --memory 64MiB --first-byte 5ms --workload playback
              chunkwise recommend reports/2026-11-21-vm --workload random:64KiB --amplification 1.1
              chunkwise recommend reports/2026-11-21-vm --strategy ctr --threads 1 --throughput 1GB/s --format json

            EXIT CODES
              0 a choice; 1 nothing fits, and what to raise is said; 2 nothing to choose from; 65 a file is damaged or of
              another schema; 66 a file is missing
            """))

    @Argument(help: "The results: a folder, or its results.jsonl; several are answered one by one.")
    var results: [String]

    @OptionGroup var budgets: BudgetOptions

    @Option(help: "download, playback, seek, or a measured one: sequential, random:64KiB, trace:avplayer.")
    var workload: String?

    @OptionGroup var filters: ConfigurationFilters

    @Option(help: ArgumentHelp("How to print the result: text, json or markdown.", valueName: "format"))
    var format = RecommendationFormat.text

    func run() throws {
        let request = try request()
        var recommendations: [RunRecommendation] = []
        var failures: [String] = []
        for name in results {
            let results = try ResultFiles(name, requiringCells: false).results
            do throws(RecommendationError) {
                recommendations.append(try RunRecommendation(results, named: name, request: request))
            } catch {
                failures.append("\(name): \(error)")
            }
        }
        if !recommendations.isEmpty { write(recommendations) }
        guard failures.isEmpty else { throw CommandFailure(.noAnswer, failures.joined(separator: "; ")) }
        let unfit = recommendations.filter { !$0.hasChoice }
        guard unfit.isEmpty else {
            throw CommandFailure(
                .no, unfit.map { "\($0.name): \($0.reasons.prefix(2).joined(separator: " "))" }.joined(separator: "; "))
        }
    }

    private func write(_ recommendations: [RunRecommendation]) {
        switch format {
        case .text: print(recommendations.map(\.text).joined(separator: "\n\n\n"))
        case .markdown: print(recommendations.map(\.markdown).joined(separator: "\n\n"))
        case .json:
            // One object, unless several answers were asked for.
            let json = results.count == 1 ? recommendations[0].json : RunRecommendation.json(recommendations)
            print(json.text)
        }
    }

    private func request() throws -> RecommendationRequest {
        var request = try filters.request()
        request.budgets = try budgets.budgets()
        if let workload {
            guard let name = WorkloadAlias(rawValue: workload)?.rawValue ?? CellWorkload(workload)?.description else {
                let names = WorkloadAlias.allCases.map(\.rawValue).joined(separator: ", ")
                throw CommandFailure(
                    .usage, "--workload \"\(workload)\": expected \(names), or \(CellWorkload.expectation)")
            }
            request.workload = name
        }
        return request
    }
}

/// How `chunkwise recommend` prints its result.
enum RecommendationFormat: String, CaseIterable, ExpressibleByArgument {
    case text
    case json
    case markdown
}
