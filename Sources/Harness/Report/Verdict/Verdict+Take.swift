import Results

extension Verdict {
    /// Says which backend and window to take, and what that gains over the runner-up.
    static func take(_ recommendation: RunRecommendation?) -> String {
        guard let recommendation, let candidate = recommendation.advice.choice, let choice = recommendation.choice
        else {
            return "No read was timed with trusted results, so there is nothing to take."
        }
        let window = ByteCountText.size(choice.cell.windowByteCount)
        let rate = ByteCountText.rate(candidate.bytesPerSecond)
        return
            "Take \(choice.cell.backend) and decrypt \(window) at a time (the window): \(rate) \(work(recommendation))"
            + "\(gain(recommendation, candidate)).\(ties(recommendation, candidate))"
    }

    /// What the throughput is of, in words.
    private static func work(_ recommendation: RunRecommendation) -> String {
        switch recommendation.pool.workload {
        case "sequential": "from start to end"
        case let text where text.hasPrefix("random:"): "in random reads of \(readSize(text))"
        case let text: "with the workload \(text)"
        }
    }

    /// The size of a workload's reads with a space before its unit: `64 KiB` for `random:64KiB`.
    static func readSize(_ workload: String) -> String {
        let size = workload.dropFirst("random:".count)
        let digits = size.prefix { $0.isNumber || $0 == "." }
        return digits.isEmpty ? String(size) : "\(digits) \(size.dropFirst(digits.count))"
    }

    /// What the choice gains over the best configuration of another backend, or else over the runner-up.
    private static func gain(_ recommendation: RunRecommendation, _ choice: Candidate) -> String {
        guard let runnerUp = recommendation.advice.runnerUp, let other = recommendation.runnerUp?.cell else {
            return "; nothing else was measured to compare it with"
        }
        let isSameBackend = other.backend == recommendation.choice?.cell.backend
        let name =
            isSameBackend
            ? recommendation.label(runnerUp.candidate)
            : "\(other.backend) at \(ByteCountText.size(other.windowByteCount))"
        guard let ratio = recommendation.ratio(of: choice, over: runnerUp.candidate) else { return "" }
        if ratio.isTie { return ", a tie with \(name), the runner-up" }
        guard ratio.ratio >= 1 else { return "; \(name) is the runner-up" }
        return ", \(ratio.text) the runner-up, \(name)"
    }

    /// What the choice was picked from, where several tie.
    private static func ties(_ recommendation: RunRecommendation, _ choice: Candidate) -> String {
        let others = recommendation.advice.ties.filter { $0.id != choice.id }
        guard !others.isEmpty else { return "" }
        let cells = others.compactMap { recommendation.cell($0)?.cell }
        let isOneBackend = cells.allSatisfy {
            $0.backend == recommendation.choice?.cell.backend && $0.access == "block"
        }
        let windows = list(cells.map(\.windowByteCount).sorted().map { ByteCountText.size($0) })
        let what = isOneBackend && others.count <= 3 ? windows : RatioText.count(others.count, "other configuration")
        let verb = others.count == 1 ? "ties" : "tie"
        return " \(what) \(verb) with it and \(reason(choice, others))."
    }

    /// Why the choice is preferred to those that tie with it, said of them.
    private static func reason(_ choice: Candidate, _ others: [Candidate]) -> String {
        func memory(_ candidate: Candidate) -> UInt64 {
            max(candidate.memoryByteCount ?? .max, Candidate.memoryResolutionByteCount)
        }
        let isOne = others.count == 1
        if others.allSatisfy({ memory($0) > memory(choice) }) {
            return isOne ? "needs more memory" : "need more memory"
        }
        let first = choice.firstByteNanoseconds ?? .max
        if others.allSatisfy({ memory($0) > memory(choice) || ($0.firstByteNanoseconds ?? .max) > first }) {
            return isOne ? "has a later first byte" : "need more memory or have a later first byte"
        }
        return isOne ? "has nothing to set against it" : "have nothing to set against it"
    }
}
