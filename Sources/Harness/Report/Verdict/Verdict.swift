package import Results
import Statistics
import Support

/// The findings of a run in a few sentences that claim no more than the data support.
///
/// There are five findings at most, of one sentence each, in this order: the choice among formats that notice changes,
/// and its gain; its distance from the best; the choice for random reads, by latency; the cost of noticing changes; the
/// vectors, with the number of cells that were left out. If no format that notices changes was measured, a caveat comes
/// before the choice. A backend that failed its vectors, or a run without vectors, comes first. If data are missing, a
/// finding says so or is left out.
package struct Verdict: Hashable, Sendable {
    /// The findings, without line breaks.
    package var lines: [String]
    /// Further findings: the cost of one step in each direction; published configurations beside the same work by
    /// block; the number of processes behind the figures, and their intervals.
    package let details: [String]
    /// The most important sentence: the choice, or that something failed, or that nothing was verified.
    let headline: String

    package init(_ results: RunResults) {
        self.init(RunSummary(results))
    }

    /// Computes the verdict of a summarized run.
    init(_ summary: RunSummary) {
        self.init(summary, RunRecommendation.ofReport(summary))
    }

    /// Computes the verdict of a run with the recommendation of its report.
    init(_ summary: RunSummary, _ recommendation: RunRecommendation?) {
        let caveat = recommendation.flatMap { $0.lacksIntegrity ? $0.caveat : nil }
        let take = Self.take(recommendation)
        let speed = [
            caveat, take, recommendation.flatMap(Self.nearBest), Self.seeks(summary, beside: recommendation),
            caveat == nil ? recommendation?.integrityCost : nil,
        ].compactMap { $0 }
        let correctness = Self.correctness(summary)
        let missing = summary.results.isComplete ? nil : "INCOMPLETE RUN, cells are missing"
        let tested = Self.sentence([missing, correctness, recommendation?.notComparedText].compactMap { $0 })
        let records = summary.results.conformance
        let isVerified = records.contains { $0.passed > 0 } && !records.contains { $0.failed > 0 }
        headline = isVerified ? take : Self.sentence([correctness])
        lines = isVerified ? speed + [tested] : [tested] + speed
        details =
            [recommendation.flatMap(Self.steps)].compactMap { $0 } + Self.published(recommendation, summary)
            + [Self.confidence(summary)].compactMap { $0 }
    }

    /// Joins parts to a sentence.
    private static func sentence(_ parts: [String]) -> String {
        let text = parts.joined(separator: "; ")
        return "\(text.prefix(1).uppercased())\(text.dropFirst())."
    }

    /// Joins parts with commas, and the last one with a word.
    static func list(_ parts: [String], _ word: String = "and") -> String { parts.listed(word) }

    /// Returns the choice, named only by the parts that the run varied, and its gain over the runner-up.
    static func take(_ recommendation: RunRecommendation?) -> String {
        guard let recommendation, recommendation.hasChoice else {
            return "No read was timed with trusted results, so there is nothing to take."
        }
        return "\(start(recommendation)) \(choice(recommendation))."
    }

    /// Returns the words before a choice. They recommend it only if something is shown and it notices changes.
    private static func start(_ recommendation: RunRecommendation) -> String {
        guard recommendation.advice.choice?.isJudged == true else {
            return "This run decides nothing, since no configuration was timed in three processes; the fastest was"
        }
        return recommendation.lacksIntegrity ? "The best of what there is:" : "Take"
    }

    /// Returns the choice, its figure and its gain.
    private static func choice(_ recommendation: RunRecommendation) -> String {
        guard let candidate = recommendation.advice.choice, let choice = recommendation.choice else { return "" }
        let name = Varied(recommendation.summary.cells).name(of: choice.cell)
        return "\(name): \(work(recommendation, choice))\(gain(recommendation, candidate))"
    }

    /// Returns the figures of a choice: a rate or the time of a read, with the location of the object.
    private static func work(_ recommendation: RunRecommendation, _ choice: CellSummary) -> String {
        let place = ComparisonGroup(choice.cell).location
        let rate =
            choice.speed.map { "\(ByteCountText.rate($0.bytesPerSecond)) (\($0.rangeText))" } ?? "no throughput"
        switch CellWorkload(recommendation.pool.workload) {
        case .sequential: return "\(rate) from start to end of \(place)"
        case .random(let byteCount):
            let reads = "random reads of \(ByteCountText.size(byteCount)) of \(place)"
            guard recommendation.pool.merit == .latency, let candidate = recommendation.advice.choice else {
                return "\(rate) in \(reads)"
            }
            let range = Merit.latency.intervalText(of: candidate).map { " (\($0))" } ?? ""
            return "\(Merit.latency.text(of: candidate))\(range) a read in \(reads), the median of a closed loop"
        case .trace, nil: return "\(rate) with the workload \(recommendation.pool.workload) on \(place)"
        }
    }

    /// Returns the choice for random reads; `nil` if the main choice is already for them, or if none were measured.
    static func seeks(_ summary: RunSummary, beside recommendation: RunRecommendation?) -> String? {
        guard let recommendation, CellWorkload(recommendation.pool.workload)?.rangeByteCount == nil,
            let workload = summary.mainRandomWorkload,
            let seek = RunRecommendation.ofReport(summary, workload: workload), let candidate = seek.advice.choice,
            candidate.isJudged, seek.pool.merit == .latency
        else { return nil }
        let caveat = seek.lacksIntegrity && !recommendation.lacksIntegrity ? " (which notices no change)" : ""
        return "For seeks, by latency\(caveat): \(choice(seek))."
    }

    /// Returns the cost of one step in each direction; `nil` if no step was measured.
    static func steps(_ recommendation: RunRecommendation) -> String? {
        let steps = recommendation.steps
        guard !steps.isEmpty, recommendation.advice.choice?.isJudged == true else { return nil }
        return "One step from it: " + steps.map { $0.text(from: recommendation.choice) }.joined(separator: "; ") + "."
    }

    /// Returns the gain of the choice over the best of the other configurations.
    private static func gain(_ recommendation: RunRecommendation, _ choice: Candidate) -> String {
        guard let runnerUp = recommendation.advice.runnerUp, let other = recommendation.runnerUp?.cell else {
            return "; nothing else was measured to compare it with"
        }
        // The parts that both share were named with the choice.
        let name = Varied(recommendation.pool.cells).name(of: other)
        let ratio = recommendation.ratio(of: choice, over: runnerUp.candidate)
        if ratio.isTie { return ", a tie with the runner-up, \(name)" }
        guard ratio.ratio >= 1 else { return "; the runner-up is \(name)" }
        return recommendation.pool.merit == .latency
            ? ", \(ratio.text) as fast as the runner-up, \(name)" : ", \(ratio.text) the runner-up, \(name)"
    }

    /// Returns the distance of the choice from the best, and the number of others near it; `nil` if nothing is shown.
    static func nearBest(_ recommendation: RunRecommendation) -> String? {
        let near = recommendation.advice.nearBest
        let count = recommendation.advice.fitting.count - near.unjudgedCount
        guard let choice = near.members.first, count > 1, let bound = near.bounds[choice.id] else { return nil }
        let others = near.members.dropFirst()
        let head = NearBest.claim(bound, among: count, recommendation.threadsText)
        guard !others.isEmpty else { return "\(head)." }
        return
            "\(head); \(RatioText.count(others.count, "other")) within 5 % of the best "
            + "\(reason(choice, Array(others)))."
    }

    /// Returns the reason why the choice is preferred to others near the best, as a statement about the others.
    private static func reason(_ choice: Candidate, _ others: [Candidate]) -> String {
        let isOne = others.count == 1
        let memory = choice.comparedMemory
        if others.allSatisfy({ $0.comparedMemory > memory }) { return isOne ? "needs more memory" : "need more memory" }
        if others.allSatisfy({ $0.comparedMemory > memory || $0.comparedFirstByte > choice.comparedFirstByte }) {
            return isOne ? "has a later first byte" : "need more memory or have a later first byte"
        }
        return isOne ? "is better in neither memory nor first byte" : "are better in neither memory nor first byte"
    }

    /// Returns the cost of the published configurations compared with the same work by block, one sentence for each.
    /// The backend of the choice is preferred.
    private static func published(_ recommendation: RunRecommendation?, _ summary: RunSummary) -> [String] {
        let backend = recommendation?.choice?.cell.backend
        let windows = summary.published(access: .freshBuffers, workload: "sequential", preferring: backend)
        return [windows.flatMap { freshBuffers($0, summary) }, wholeChunks(backend, summary)].compactMap { $0 }
    }

    /// Returns the cost of windows with new buffers, as published, in throughput and memory, compared with the best by
    /// block.
    private static func freshBuffers(_ published: CellSummary, _ summary: RunSummary) -> String? {
        guard let other = summary.alternative(to: published), let ratio = SpeedRatio(of: published, over: other) else {
            return nil
        }
        let speed =
            ratio.isTie
            ? "tie in throughput"
            : ratio.ratio < 1 ? "cost \(ratio.lossText) of the throughput" : "are \(ratio.text) as fast"
        var memory = ""
        if let own = published.memory, let less = other.memory {
            memory =
                " and need \(ByteCountText.growth(own.growthByteCount)) of memory instead of "
                + ByteCountText.growth(less.growthByteCount)
        }
        return
            "Windows of \(ByteCountText.size(published.cell.windowByteCount)) with new buffers for each \(speed) that "
            + "windows of \(ByteCountText.size(other.cell.windowByteCount)) of \(other.cell.strategy) have with "
            + "\(other.cell.backend)\(memory)."
    }

    /// Returns the cost of decrypting whole chunks, as published, for a random read.
    private static func wholeChunks(_ backend: String?, _ summary: RunSummary) -> String? {
        guard let published = summary.published(access: .chunkCache, workload: "random", preferring: backend),
            let alternative = summary.alternative(to: published)
        else { return nil }
        let chunk = published.cell.chunkText ?? "the file"
        let read = ByteCountText.size(published.cell.rangeByteCount ?? 0)
        let fetched = published.amplification.map { "fetches \(RatioText.times($0.fetched)) its bytes" }
        let time = published.latency.map { "takes \(DurationText.text(nanoseconds: $0.p50))" }
        let rate = published.speed.map { "delivers \(ByteCountText.rate($0.bytesPerSecond))" }
        let parts = [fetched, time].compactMap { $0 }
        let other: String =
            switch (alternative.latency, alternative.speed) {
            case (let latency?, _) where time != nil: DurationText.text(nanoseconds: latency.p50)
            case (_, let speed?): ByteCountText.rate(speed.bytesPerSecond)
            default: "–"
            }
        let what = list(time == nil ? [fetched, rate].compactMap { $0 } : parts)
        return
            "Where chunks of \(chunk) of \(published.cell.format) are decrypted whole, a read of \(read) \(what); by "
            + "the blocks needed, \(other)."
    }

    /// Returns the part of a sentence about passed and failed vectors. A run without vectors has not passed.
    private static func correctness(_ summary: RunSummary) -> String {
        let records = summary.results.conformance
        let executed = records.reduce(0) { $0 + $1.passed + $1.failed }
        guard executed > 0 else {
            return "not verified: no vector was run, so nothing here shows that every range is right"
        }
        let wrong = records.filter { $0.failed > 0 }
        if !wrong.isEmpty {
            let subjects = wrong.prefix(3).map { "\($0.subject) failed \($0.failed) of \($0.passed + $0.failed) reads" }
            let more = wrong.count > 3 ? " and \(RatioText.count(wrong.count - 3, "more subject"))" : ""
            return "wrong: \(subjects.joined(separator: "; "))\(more); no speed is shown for what fails"
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
        let head = idle.isEmpty && notRun == 0 ? "correct" : "correct as far as tested"
        return "\(head): \(passing) passed \(reads) of \(reads) vector reads"
            + (remarks.isEmpty ? "" : " (\(remarks.joined(separator: ", ")))")
    }

    /// Returns the backends that were measured without a record of their vectors.
    private static func untested(_ summary: RunSummary) -> [String] {
        let subjects = Set(summary.results.conformance.map(\.subject))
        return summary.backends.filter { backend in
            !subjects.contains(backend) && summary.cells.contains { $0.cell.backend == backend && $0.speed != nil }
        }
    }

    /// Returns the evidence for the figures; `nil` if nothing was timed.
    static func confidence(_ summary: RunSummary) -> String? {
        var parts: [String] = []
        let timed = summary.cells.filter { $0.speed != nil }
        let rounds = timed.map(\.rounds.count)
        if let fewest = rounds.min(), let maximum = rounds.max() {
            let count = fewest == maximum ? "\(maximum)" : "\(fewest) to \(maximum)"
            parts.append("each figure is of \(count) fresh process\(maximum == 1 ? "" : "es")")
        }
        let single = timed.count { $0.speed?.interval == nil }
        if single > 0, single == timed.count {
            parts.append(
                "fewer than three processes give no interval, so that no difference here is shown to be more than noise"
            )
        } else if single > 0 {
            parts.append(
                "\(RatioText.count(single, "figure")) of fewer than three processes \(single == 1 ? "has" : "have") no "
                    + "interval")
        }
        let widths = timed.compactMap(\.speed?.relativeHalfWidth).sorted()
        if let widest = widths.last, let middle = percentile(tenthsOfPercent: 500, ofSorted: widths) {
            let typical = RatioText.percent(middle)
            parts.append(
                widths.count == 1
                    ? "its 95 % interval is ±\(typical)"
                    : "half of the 95 % intervals are within ±\(typical), the widest is ±\(RatioText.percent(widest))")
        }
        return parts.isEmpty ? nil : "How sure: \(parts.joined(separator: "; "))."
    }
}

/// The parts in which configurations differ; names have these parts only.
struct Varied: Sendable {
    private let isVaried: [KeyPath<Cell, String> & Sendable: Bool]

    init(_ summaries: [CellSummary]) {
        let cells = summaries.filter { $0.speed != nil }.map(\.cell)
        func varies(_ value: KeyPath<Cell, String> & Sendable) -> Bool {
            Set(cells.map { $0[keyPath: value] }).count > 1
        }
        isVaried = Dictionary(uniqueKeysWithValues: Self.parts.map { ($0, varies($0)) })
    }

    private static let parts: [KeyPath<Cell, String> & Sendable] = [
        \.backend, \.strategy, \.windowPart, \.accessPart, \.sourcePart, \.threadsPart,
        \.keyPart,
    ]

    /// Returns a configuration's name from the varied parts: `libgcrypt, cbc-chunked:chunk=64KiB, windows of 256 KiB`.
    func name(of cell: Cell) -> String {
        let parts = Self.parts.filter { isVaried[$0] == true }.map { cell[keyPath: $0] }.filter { !$0.isEmpty }
        return parts.isEmpty ? "the one configuration that was measured" : parts.joined(separator: ", ")
    }
}

extension Cell {
    fileprivate var windowPart: String { "windows of \(ByteCountText.size(windowByteCount))" }
    fileprivate var accessPart: String {
        switch access {
        case .block: ""
        case .chunkCache: "chunks decrypted whole, the latest kept"
        case .wholeChunk: "chunks decrypted whole"
        case .freshBuffers: "new buffers for each window"
        }
    }
    fileprivate var sourcePart: String {
        switch source {
        case "file": "the file read"
        case "mmap": "the file mapped"
        case "direct": "the file read past the page cache"
        case "uring": "the file read past the page cache by io_uring"
        default: source
        }
    }
    fileprivate var threadsPart: String { RatioText.count(threads, "thread") }
    fileprivate var keyPart: String { keyName }
}
