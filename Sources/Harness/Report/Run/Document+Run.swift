import Results
import Statistics
import Support

extension Document {
    /// The report of a run: first the verdict, then the evidence for it, last its origin.
    ///
    /// - Parameters:
    ///   - summary: The run.
    ///   - found: Warnings about its figures.
    ///   - keys: The key results stored beside it.
    init(_ summary: RunSummary, warnings found: [Warning], keys: KeyResults = KeyResults()) {
        let header = summary.results.header
        title = "Random-access decryption: conformance, speed and memory"
        subtitle =
            "\(header.host.cpuModel), \(RatioText.count(header.host.cpuCount, "CPU")) · \(header.startedAt) · "
            + "chunkwise \(header.programVersion)"
        let recommendation = RunRecommendation.ofReport(summary)
        warnings = found.filter(\.isSerious)
        let findings = Verdict(summary, recommendation)
        verdict = findings.lines
        let parts: [@Sendable (RunSummary) -> Section?] = [
            { _ in recommendation.map(Self.recommendation) },
            { _ in Self.details(findings) },
            Self.formats, Self.uses,
            // Pictures,
            Self.chunks, Self.throughput, Self.ratios, Self.threads, Self.memory, Self.firstByte, Self.latency,
            Self.amplification, Self.playback, { _ in Self.keys(keys, findings: keys.findings) },
            // matrices,
            Self.conformance, Self.mutants,
            // tables,
            Self.failures, Self.published, Self.otherSeries, Self.allCells, Self.usage,
            // and the origin of the figures.
            { _ in Self.warnings(found) }, Self.provenance, Self.reading,
        ]
        sections = Parallel.map(parts) { $0(summary) }.compactMap { $0 }
    }

    /// Further findings beside the verdict; `nil` if there are none.
    private static func details(_ findings: Verdict) -> Section? {
        guard !findings.details.isEmpty else { return nil }
        return Section(name: "details", title: "Further findings", blocks: [.list(findings.details)])
    }

    /// Caveats about the figures, with advice; `nil` if there are none.
    static func warnings(_ found: [Warning]) -> Section? {
        let notes = found.filter { !$0.isSerious }
        guard !notes.isEmpty else { return nil }
        let table = Table(
            caption: "What may blur the figures of this run, and what helps.",
            columns: [.text("Warning"), .text("What was found"), .text("Advice")],
            rows: notes.map { [Table.Entry($0.title), Table.Entry($0.sentence), Table.Entry($0.advice)] })
        return Section(name: "warnings", title: "Warnings and advice (\(notes.count))", blocks: [.table(table)])
    }

    /// The origin of the figures: machine, versions, seed, command and plan.
    static func provenance(_ summary: RunSummary) -> Section {
        let header = summary.results.header
        var blocks = origin(
            host: header.host, backends: header.backends,
            program: [
                ("Started", header.startedAt),
                ("Program", "chunkwise \(header.programVersion), schema \(header.schema)"),
                ("Seed", String(header.seed)),
            ], command: header.command)
        if let plan = header.plan { blocks.append(.verbatim(caption: "Plan", text: plan)) }
        return Section(name: "provenance", title: "Where the figures come from", blocks: blocks)
    }

    /// The meaning of the figures, and their limits.
    static func reading(_ summary: RunSummary) -> Section {
        Section(
            name: "reading", title: "How to read this",
            blocks: [
                .list([
                    "Throughput is plaintext bytes delivered ÷ the median time of an iteration in a process, the "
                        + "median over the processes. It includes reading the ciphertext from its source, not only the "
                        + "cipher.",
                    "An interval is a 95 % interval over the processes' medians: of order statistics from six "
                        + "processes on, of Student's t on logarithms below. Fewer than three processes have none. It "
                        + "knows nothing of other machines or days.",
                    "Two figures tie where the 95 % interval of their ratio holds 1: these data do not tell which is "
                        + "greater. That is not a proof that they are equal.",
                    "A configuration is near the best if it is shown, with 95 % confidence for all that were compared "
                        + "together, that none is more than 5 % faster.",
                    "Latency percentiles are by nearest rank. One stands only where a process had reads enough for it: "
                        + "29 for p90, 299 for p99, 2,995 for p99.9.",
                    "Latencies are of closed loops: a read starts when the one before has ended, so that a stall "
                        + "delays reads that are then not counted as late. chunkwise measure --arrival counts them.",
                    "Memory growth is the high-water mark of resident memory minus what was resident when the object "
                        + "was open, seen from outside a fresh process. Digest, time, latency and memory are separate "
                        + "passes.",
                    "Fetched and decrypted are ciphertext bytes per plaintext byte delivered; 1.00× is the least.",
                    "KiB, MiB and GiB are powers of 1024. A decimal unit stands only where a size was chosen as such: "
                        + "16 MB is 16,000,000 bytes.",
                    "Scales are logarithmic: equal distances are equal ratios.",
                    "A cell whose plaintext was not checked, or whose backend failed a vector, shows no speed.",
                ])
            ]
        )
    }
}
