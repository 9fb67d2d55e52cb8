import Results
import Support

extension CellSummary {
    /// Sums up all cells of a run, on all CPUs where there are many: the bootstrap takes its time.
    ///
    /// The order is that of the results, and so is everything else: each cell has the same seed and no part in another's
    /// draws.
    static func all(of results: RunResults) -> [CellSummary] {
        let failures = vectorFailures(results.conformance)
        let header = results.header
        @Sendable func summary(_ result: CellResult) -> CellSummary {
            CellSummary(
                result, seed: header.seed, limits: header.limits, vectorFailure: failures[result.cell.backend])
        }
        return Parallel.map(results.cells, summary)
    }

    /// Returns why a subject failed its vectors, by subject.
    private static func vectorFailures(_ records: [ConformanceRecord]) -> [String: String] {
        var failures: [String: String] = [:]
        for record in records where record.failed > 0 {
            let executed = RatioText.count(record.passed + record.failed, "vector read")
            failures[record.subject] = "\(record.subject) failed \(record.failed) of \(executed)"
        }
        return failures
    }
}
