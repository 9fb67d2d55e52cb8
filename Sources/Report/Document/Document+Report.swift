import Results

extension Document {
    /// Puts together the report of a run: the verdict first, what it rests on after it, how it came about last.
    init(_ summary: RunSummary) {
        let header = summary.results.header
        title = "Random-access decryption: conformance, speed and memory"
        subtitle =
            "\(header.host.cpuModel), \(RatioText.count(header.host.cpuCount, "CPU")) · \(header.startedAt) · "
            + "chunkwise \(header.programVersion)"
        warnings = Self.warnings(summary)
        verdict = Verdict(summary).lines
        sections = [
            Self.recommendation(summary),
            Self.throughput(summary),
            Self.memory(summary),
            Self.ranges(summary),
            Self.published(summary),
            Self.conformance(summary),
            Self.failures(summary),
            Self.allCells(summary),
            Self.provenance(summary),
            Self.reading(summary),
        ].compactMap { $0 }
    }

    private static func warnings(_ summary: RunSummary) -> [String] {
        var warnings: [String] = []
        if !summary.results.isComplete {
            warnings.append(
                "Incomplete run: the result file has no end record, so it was broken off or is still being written. "
                    + "Cells are missing, and a best or smallest named here is one of those measured so far.")
        }
        if summary.cells.isEmpty {
            warnings.append("No cell was measured: this report can say nothing about speed or memory.")
        } else if !summary.cells.contains(where: { $0.speed != nil }) {
            warnings.append("No cell has trusted figures: this report can say nothing about speed.")
        }
        return warnings
    }
}
