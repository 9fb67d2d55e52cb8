import Results

extension Verdict {
    /// Says who passed the vectors and who did not, and which cells have no figures; nobody passes by running none.
    static func correctness(_ summary: RunSummary) -> String {
        let missing = summary.cellsWithoutFigures.count
        guard missing > 0 else { return vectors(summary) }
        return "\(vectors(summary)) \(RatioText.count(missing, "cell")) of \(summary.cells.count) failed or "
            + "\(missing == 1 ? "has" : "have") no trusted figures."
    }

    private static func vectors(_ summary: RunSummary) -> String {
        let records = summary.results.conformance
        let executed = records.reduce(0) { $0 + $1.passed + $1.failed }
        guard executed > 0 else {
            return "Not verified: no vector was run, so nothing here shows that every range is right."
        }
        let wrong = records.filter { $0.failed > 0 }
        if !wrong.isEmpty {
            let subjects = wrong.prefix(3).map { "\($0.subject) failed \($0.failed) of \($0.passed + $0.failed) reads" }
            let more = wrong.count > 3 ? " and \(RatioText.count(wrong.count - 3, "more subject"))" : ""
            return "Wrong: \(subjects.joined(separator: "; "))\(more). No speed is shown for what fails."
        }
        let idle = records.filter { $0.passed == 0 }.map(\.subject) + untested(summary)
        let notRun = records.reduce(0) { $0 + $1.notRun }
        let unsupported = records.reduce(0) { $0 + $1.unsupported }
        var remarks: [String] = []
        if unsupported > 0 { remarks.append("\(SignificantDigits.grouped(UInt64(unsupported))) unsupported") }
        if notRun > 0 { remarks.append("\(SignificantDigits.grouped(UInt64(notRun))) not run") }
        if !idle.isEmpty { remarks.append("no vectors for \(list(idle))") }
        let passing = RatioText.count(records.count { $0.passed > 0 }, "subject")
        let reads = SignificantDigits.grouped(UInt64(executed))
        let head = idle.isEmpty && notRun == 0 ? "Correct" : "Correct as far as tested"
        return "\(head): \(passing) passed \(reads) of \(reads) vector reads"
            + (remarks.isEmpty ? "." : " (\(remarks.joined(separator: ", "))).")
    }

    /// Returns the backends that were measured without a record of their vectors.
    private static func untested(_ summary: RunSummary) -> [String] {
        let subjects = Set(summary.results.conformance.map(\.subject))
        return summary.backends.filter { backend in
            !subjects.contains(backend) && summary.cells.contains { $0.cell.backend == backend && $0.speed != nil }
        }
    }
}
