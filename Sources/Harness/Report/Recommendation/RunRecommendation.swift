package import Results

/// The recommended configuration of one run, with reasons.
package struct RunRecommendation: Sendable {
    let request: RecommendationRequest
    /// The name of the results, such as their path.
    package let name: String
    let summary: RunSummary
    let pool: CandidatePool
    /// The choice and everything that follows from it.
    package let advice: Advice
    /// The choice if changes need not be noticed; `nil` if the choice was not limited to formats that notice changes.
    let unguarded: Advice?

    /// True for a report, whose filters are its own, so that their costs are left out.
    var isOfReport = false

    private let cells: [String: CellSummary]
    private let names: ConfigurationNames

    /// Chooses among the configurations of a run.
    ///
    /// - Parameters:
    ///   - results: The run.
    ///   - name: The name of the results, such as their path.
    ///   - request: The user's request.
    /// - Throws: `RecommendationError` if there is nothing to choose from.
    package init(
        _ results: RunResults, named name: String, request: RecommendationRequest
    ) throws(RecommendationError) {
        try self.init(RunSummary(results), named: name, request: request)
    }

    /// Chooses among the configurations of a summarized run.
    init(_ summary: RunSummary, named name: String, request: RecommendationRequest) throws(RecommendationError) {
        self.request = request
        self.name = name
        self.summary = summary
        pool = try CandidatePool(summary, request)
        let merit = pool.merit
        let candidates = pool.cells.compactMap { Candidate($0, rankedBy: merit) }
        advice = Advice(candidates: candidates, budgets: request.budgets)
        let all = pool.cells + pool.setAside
        unguarded =
            request.integrity == .noticed && pool.protection == .integrity
            ? Advice(
                candidates: all.filter { $0.protection >= .secrecy }.compactMap {
                    Candidate($0, rankedBy: merit)
                },
                budgets: request.budgets) : nil
        cells = Dictionary(all.map { ($0.cell.id, $0) }) { first, _ in first }
        names = ConfigurationNames(all.map(\.cell))
    }

    package var hasChoice: Bool { advice.choice != nil }

    var choice: CellSummary? { advice.choice.flatMap { cells[$0.id] } }

    var runnerUp: CellSummary? { advice.runnerUp.flatMap { cells[$0.candidate.id] } }

    func cell(_ candidate: Candidate) -> CellSummary? { cells[candidate.id] }

    /// Returns a candidate's name, which is short and unique among the candidates, with the label of the configuration
    /// that it reproduces.
    func label(_ candidate: Candidate) -> String {
        guard let cell = cells[candidate.id]?.cell else { return candidate.id }
        return names.name(of: cell) + (cell.label.map { " (\($0))" } ?? "")
    }

    /// Returns the merit of one candidate ÷ that of another.
    func ratio(of one: Candidate, over other: Candidate) -> SpeedRatio { SpeedRatio(of: one.merit, over: other.merit) }

    /// True if changes must be noticed, but no measured cell notices them.
    var lacksIntegrity: Bool { request.integrity == .noticed && pool.protection < .integrity }

    /// The compared cells, in words.
    var comparedText: String {
        "\(RatioText.count(pool.cells.count, "configuration")) with figures: \(sharedText), \(pool.group.description)"
    }

    /// The workload and its meaning, in words.
    var workloadText: String {
        let meaning =
            switch CellWorkload(pool.workload) {
            case .sequential: "the object read from start to end"
            case .random(let byteCount): "reads of \(ByteCountText.size(byteCount)) at random places"
            case .trace(let name): "the requests of the player trace \(name)"
            case nil: "as named"
            }
        guard let reason = pool.workloadReason, let asked = request.workload else {
            return "\(pool.workload): \(meaning)"
        }
        return "\(asked), for which \(pool.workload) stands: \(reason)"
    }

    /// The strategy that all compared cells share, or the number of theirs, and the thread counts.
    private var sharedText: String {
        let strategies = Set(pool.cells.map(\.cell.strategy))
        return "\(strategies.count == 1 ? strategies.first ?? "" : "\(strategies.count) strategies"), \(threadsText)"
    }

    /// The thread counts of the compared cells, in words: `one thread` or `1, 2 or 4 threads`.
    var threadsText: String {
        let counts = Set(pool.cells.map(\.cell.threads)).sorted()
        return counts == [1] ? "one thread" : "\(Verdict.list(counts.map { String($0) }, "or")) threads"
    }

    /// Returns the recommendation of a report, or `nil` if nothing was timed.
    ///
    /// It is for sequential reads or for the named workload, with the thread count of the main series.
    static func ofReport(
        _ summary: RunSummary, budgets: Budgets = Budgets(), workload: String? = nil
    ) -> RunRecommendation? {
        var request = RecommendationRequest()
        request.budgets = budgets
        request.workload = workload
        if let main = summary.main {
            request.workload = workload ?? main.workload
            request.threads = main.threads
            // Whether a file is read or mapped is the program's choice.
            request.source = ComparisonGroup.isFile(main.source) ? nil : main.source
        }
        var recommendation = try? RunRecommendation(summary, named: "this run", request: request)
        recommendation?.isOfReport = true
        return recommendation
    }

    /// Example budgets that show the effect of constraints: one for little memory, one for an early first byte.
    ///
    /// They follow from the measurements: an eighth of the memory of the choice without budgets, and twice the earliest
    /// first byte, both rounded up.
    var exampleBudgets: [Budgets] {
        let soonest = advice.candidates.compactMap(\.firstByteNanoseconds).min()
        let memory = advice.choice?.memoryByteCount.map { max($0 / 8, 2 * CellSummary.memoryResolution) }
        return [
            memory.map { Budgets(memoryByteCount: Self.powerOfTwo($0)) },
            soonest.map { Budgets(firstByteNanoseconds: Self.round(2 * min($0, 1 << 60))) },
        ].compactMap { $0 }
    }

    /// Returns the smallest power of two that is not below a value.
    private static func powerOfTwo(_ value: UInt64) -> UInt64 {
        var power: UInt64 = 1
        while power < value, power < 1 << 62 { power *= 2 }
        return power
    }

    /// Returns the smallest of 1, 2, 5, 10, 20, 50 and so on that is not below a value.
    private static func round(_ value: UInt64) -> UInt64 {
        var step: UInt64 = 1
        while step < 1 << 58 {
            for factor in [1, 2, 5] as [UInt64] where step * factor >= value { return step * factor }
            step *= 10
        }
        return value
    }

    /// The cells of the run that were not compared, counted by reason; `nil` if all were compared.
    var notComparedText: String? {
        let compared = Set(pool.cells.map(\.cell.id))
        let reasons = summary.cells.filter { !compared.contains($0.cell.id) }.grouped { reason($0) }
        guard !reasons.isEmpty else { return nil }
        let parts = reasons.map { "\(SignificantDigits.grouped(UInt64($0.elements.count))) \($0.key)" }
        return "left out: \(summary.cells.count - compared.count) of "
            + "\(RatioText.count(summary.cells.count, "configuration")) (\(parts.joined(separator: ", ")))"
    }

    private func reason(_ summary: CellSummary) -> String {
        let cell = summary.cell
        if case .failed = summary.outcome { return "failed" }
        if summary.speed == nil { return "without figures" }
        if cell.workload != pool.workload { return "other workloads" }
        if let threads = request.threads, threads != cell.threads { return "other thread counts" }
        if summary.protection < pool.protection {
            return pool.protection == .integrity
                ? "formats that notice no change" : "formats that show equal content"
        }
        if request.admits(cell), pool.group == ComparisonGroup(cell) { return "without latencies" }
        return request.admits(cell) ? "other keys, objects or sources" : "not asked for"
    }

    /// Returns the options that set the budgets.
    static func options(_ budgets: Budgets) -> String {
        budgets.given.map { budget in
            BudgetText.option(Raise(budget: budget, given: 1, needed: budgets.limit(budget) ?? 1))
        }.joined(separator: " ")
    }

    /// The choice and the runner-up with their roles, if they exist.
    var chosen: [(role: String, candidate: Candidate)] {
        [advice.choice.map { ("choice", $0) }, advice.runnerUp.map { ("runner-up", $0.candidate) }].compactMap { $0 }
    }

    /// The meaning of the figures, in sentences.
    static let figureNotes = [
        "Changes are noticed where each chunk has a tag that is checked before a byte of it is delivered.",
        "Throughput is the median of the processes' medians, with its 95 % interval.",
        "Memory is how far the process's peak rose above what it held when the object was open.",
        "First byte is the median time to open the object and make the first read, in one interval. A reader hands "
            + "over a read at a time: a window, or a range where the workload has ranges.",
        "Fetched is ciphertext bytes per plaintext byte delivered.",
    ]

    static let frontNote =
        "No other configuration is as good in all of these and better in one, by the estimates; of random reads the "
        + "latency takes the place of the throughput. Memory below 256 KiB counts as equal, and so does amplification "
        + "within a hundredth."
}
