import Results

/// How a subject did in the vectors that test one requirement.
struct RequirementOutcome: Hashable, Sendable {
    var passed = 0
    var failed = 0
    var unsupported = 0
    var notRun = 0

    /// Adds up the requirement's flags. A vector with two of them counts twice: the sum says whether there were any, and
    /// whether any failed, not how many different ones there were.
    init(of record: ConformanceRecord, in requirement: Evidence.Requirement) {
        for outcome in record.flags ?? [] where requirement.flags.contains(outcome.flag) {
            passed += outcome.passed
            failed += outcome.failed
            unsupported += outcome.unsupported
            notRun += outcome.notRun
        }
    }

    /// The verdict: passed, failed, unsupported and not run are four different things, and not tested is a fifth.
    var verdict: Verdict {
        if failed > 0 { return .failed }
        if passed > 0 { return .passed }
        if unsupported > 0 { return .unsupported }
        return notRun > 0 ? .notRun : .notTested
    }

    enum Verdict: String, Sendable {
        case passed
        case failed
        case unsupported
        case notRun = "not run"
        case notTested = "not tested"
    }
}
