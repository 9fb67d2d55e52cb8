import Results

extension Document {
    /// Puts together the report of a run: the verdict first, what it rests on after it, how it came about last.
    ///
    /// - Parameters:
    ///   - summary: The run.
    ///   - keys: What lies beside it on keys.
    init(_ summary: RunSummary, keys: KeyResults = KeyResults()) {
        let header = summary.results.header
        title = "Random-access decryption: conformance, speed and memory"
        subtitle =
            "\(header.host.cpuModel), \(RatioText.count(header.host.cpuCount, "CPU")) · \(header.startedAt) · "
            + "chunkwise \(header.programVersion)"
        let found = RunWarning.all(in: summary).map(\.warning)
        warnings = found.filter(\.isSerious)
        verdict = Verdict(summary).lines
        sections = [
            Self.recommendation(summary),
            // Pictures,
            Self.throughput(summary),
            Self.ratios(summary),
            Self.memory(summary),
            Self.firstByte(summary),
            Self.latency(summary),
            Self.amplification(summary),
            Self.playback(summary),
            Self.keys(keys, findings: keys.findings),
            // matrices,
            Self.conformance(summary),
            Self.mutants(summary),
            // tables,
            Self.failures(summary),
            Self.published(summary),
            Self.otherSeries(summary),
            Self.allCells(summary),
            Self.usage(summary),
            // and where all this comes from.
            Self.warnings(found),
            Self.provenance(summary),
            Self.reading(summary),
        ].compactMap { $0 }
    }
}
