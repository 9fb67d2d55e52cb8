import Results
import Statistics
import Support

/// A gate's figures in words, the same in every output.
enum GateText {
    /// Returns a ratio of times as its difference from 1: `+3.1 %`, `−0.4 %`.
    static func change(_ ratio: Double?) -> String {
        guard let ratio, ratio.isFinite else { return "–" }
        let percent = (ratio - 1) * 100
        guard abs(percent) < 1e6 else { return percent > 0 ? "over +1,000,000 %" : "–" }
        let digits = SignificantDigits.fixed(abs(percent), places: abs(percent) < 99.95 ? 2 : 0)
        let isZero = digits.allSatisfy { "0.".contains($0) }
        return (isZero ? "" : percent < 0 ? "−" : "+") + digits + " %"
    }

    /// Returns an interval of ratios: `+2.4 % to +3.9 %`.
    static func interval(_ low: Double?, _ high: Double?) -> String {
        guard low != nil || high != nil else { return "–" }
        return "\(low.map(change) ?? "no limit") to \(high.map(change) ?? "no limit")"
    }

    /// Returns a share in percent, as the user gave it: `2 %`, `0.5 %`.
    static func percent(_ share: Double) -> String { GateResult.percent(share) }

    /// Returns seconds: `3.2 s`.
    static func seconds(_ seconds: Double) -> String { SignificantDigits.fixed(max(0, seconds), places: 1) + " s" }

    static func word(_ verdict: GateVerdict) -> String { verdict == .noisyHost ? "noisy host" : verdict.rawValue }

    /// Returns the verdict on a cell; for a control, whether the gate saw it.
    static func word(_ cell: GateCell) -> String {
        guard cell.injected != nil, !cell.verdict.isBroken else { return word(cell.verdict) }
        return cell.isSeen ? "seen" : "not seen"
    }

    /// Returns the findings for a cell in one line.
    static func finding(_ cell: GateCell) -> String {
        var parts: [String] = []
        if let slowdown = cell.slowdown {
            parts.append("time \(change(slowdown)), interval \(interval(cell.low, cell.high))")
        }
        if let reason = cell.reason { parts.append(reason) }
        if let settling = settling(cell) { parts.append(settling) }
        return parts.isEmpty ? word(cell.verdict) : parts.joined(separator: "; ")
    }

    /// Returns the option that would settle an inconclusive cell, or `nil` if none is known.
    static func settling(_ cell: GateCell) -> String? {
        cell.secondsToSettle.map { "--seconds \(UInt64(min(max($0, 0), 1e9).rounded(.up))) would settle it" }
    }

    /// Returns the median of a count on both sides, and the change.
    static func figures(_ count: GateCounts.Count) -> [String] {
        func middle(_ runs: [Double]) -> Double { percentile(tenthsOfPercent: 500, of: runs) ?? 0 }
        func text(_ figure: Double) -> String { SignificantDigits.fixed(max(0, figure), places: figure < 1000 ? 2 : 0) }
        let (one, other) = (middle(count.baseline), middle(count.candidate))
        return [text(one), text(other), one > 0 ? change(other / one) : one == other ? "0.00 %" : "–"]
    }

    /// Returns the findings for a cell's counts in one line.
    static func finding(_ cell: GateCounts.Cell) -> String {
        let changed = cell.counts.filter { $0.verdict != .same }.map { count in
            let figures = figures(count)
            return "\(count.quantity.words) \(figures[0]) before, \(figures[1]) now (\(figures[2]))"
        }
        return cell.reason ?? (changed.isEmpty ? "nothing was counted" : changed.joined(separator: "; "))
    }

    /// Returns the findings for a cell's memory in one line.
    static func finding(_ cell: GateMemory.Cell) -> String {
        func side(_ peaks: GateMemory.Peaks) -> String {
            "\(ByteCountText.measured(peaks.median)) (\(ByteCountText.measured(peaks.minimum)) to "
                + "\(ByteCountText.measured(peaks.maximum)), \(RatioText.count(peaks.byteCounts.count, "run")))"
        }
        let figures =
            "peak memory \(side(cell.baseline)) before, \(side(cell.candidate)) now, "
            + "\(ByteCountText.measured(cell.limitByteCount)) more allowed"
        return ([figures] + [cell.reason].compactMap { $0 }).joined(separator: "; ")
    }
}

extension GateResult {
    /// A remark on the code layout, which a comparison of two builds cannot separate from other differences; `nil`
    /// without a cell, or if a program is compared with itself.
    var layoutRemark: String? {
        if let buildCount { return "\(buildCount) builds of each side; their differences are in the intervals" }
        guard !cells.isEmpty, baseline.command != candidate.command else { return nil }
        return
            "one build of each side: up to \(GateText.percent(Self.layoutShare)) of a difference may be the layout of "
            + "their code: --builds tells"
    }

    /// The verdict in a few words, including memory, so that a result that does not pass is never called just `same`.
    var title: String {
        let word = GateText.word(verdict)
        return switch memory?.verdict {
        // The certain finding comes first.
        case .grew where verdict == .inconclusive || verdict == .noisyHost: "more memory, and \(word)"
        case .grew: "\(word), and more memory"
        case .inconclusive: "\(word), memory undecided"
        case .same, nil: word
        }
    }

    /// The verdict in one sentence, with its evidence.
    package var headline: String {
        let compared = RatioText.count(cells.count, "cell")
        let tolerance = GateText.percent(tolerance)
        func counted(_ verdict: GateVerdict) -> String { "\(cells.count { $0.verdict == verdict }) of \(compared)" }
        let head: String
        switch verdict {
        case .wrong where failedVectors != nil: head = "wrong: \(failedVectors ?? "")"
        case .wrong, .failed: head = "\(GateText.word(verdict)): \(counted(verdict)): \(names(verdict))"
        case .noisyHost:
            head = "noisy host: \(control?.reason ?? "no slowdown could be injected"), so nothing is called the same"
        case .slower: head = "slower: \(counted(.slower)) by more than \(tolerance): \(names(.slower))"
        case .inconclusive where cells.isEmpty: head = "no answer: no cell was compared"
        case .inconclusive:
            head = "inconclusive: \(counted(.inconclusive)) could not be decided: \(names(.inconclusive))"
        case .same: head = "same: \(comparedText), none slower by more than \(tolerance)"
        case .faster: head = "faster: \(compared), each by more than \(tolerance)"
        }
        let sentences = [reason, memoryHeadline, countHeadline].compactMap { $0 } + anchorHeadlines
        let isUndecided = verdict == .inconclusive || verdict == .noisyHost
        if memory?.verdict == .grew, isUndecided { return (sentences + [head]).joined(separator: "; ") }
        return ([head] + sentences).joined(separator: "; ")
    }

    /// Returns the names of the first cells with a verdict, and the reasons of those that are wrong or failed.
    private func names(_ verdict: GateVerdict) -> String {
        let all = (cells + [control].compactMap(\.self)).filter { $0.verdict == verdict }
        let names = all.prefix(3).map { cell in
            cell.name + (verdict.isBroken ? cell.reason.map { ": \(PlainText.line($0))" } ?? "" : "")
        }
        return (names + (all.count > 3 ? ["and \(all.count - 3) more"] : [])).joined(separator: "; ")
    }

    /// Returns a cell's name, marked if the last-level CPU cache holds its object: its times are then those of the
    /// cache.
    func markedName(_ cell: GateCell) -> String {
        let isCached = cell.cell.objectByteCount <= host.cacheByteCounts.max() ?? 0
        return cell.name + (isCached ? " (CPU cache)" : "")
    }

    /// The number of vectors that the candidate failed, and the first of them; `nil` if none failed.
    var failedVectors: String? {
        guard let vectors, vectors.failed > 0 else { return nil }
        let executed = RatioText.count(vectors.passed + vectors.failed, "vector read")
        let first = vectors.failures.first.map { ", the first \($0.id): \($0.reason)" } ?? ""
        return "the candidate failed \(SignificantDigits.grouped(UInt64(vectors.failed))) of \(executed)\(first)"
    }

    /// The number of compared cells, and of vectors that the candidate passed.
    var comparedText: String {
        let cells = RatioText.count(cells.count, "cell") + " compared"
        guard let vectors, vectors.failed == 0 else { return cells }
        return "\(cells), \(RatioText.count(vectors.passed, "vector read")) right"
    }

    private var countHeadline: String? {
        switch counts?.verdict {
        case .grew: "the candidate does more than \(GateText.percent(counts?.limit ?? 0)) more work"
        case .same: "counts within their limit"
        case .inconclusive: "counts undecided"
        case nil: nil
        }
    }

    private var anchorHeadlines: [String] {
        (anchors ?? []).map { "within \(GateText.percent($0.tolerance)) of the anchor: \($0.headline)" }
    }

    private var memoryHeadline: String? {
        guard let memory else { return nil }
        let all = RatioText.count(memory.cells.count, "cell")
        return switch memory.verdict {
        case .grew: "peak memory grew too much in \(memory.cells.count { $0.verdict == .grew }) of \(all)"
        case .same: "peak memory within its limit"
        case .inconclusive: "peak memory undecided"
        }
    }

    /// Returns whether a cell counts against the candidate.
    func isBlamed(_ cell: GateCell) -> Bool { cell.verdict.isBroken || cell.verdict == .slower && cell.injected == nil }

    /// The command line that repeats the run.
    var commandLine: String { PlainText.line(ShellText.joined(command)) }
}
