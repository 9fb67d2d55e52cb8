import Results
internal import Support

/// A gate's figures in words, the same wherever they are shown.
enum GateWords {
    /// A ratio of times as its difference from 1: `+3.1 %`, `−0.4 %`.
    static func change(_ ratio: Double?) -> String {
        guard let ratio, ratio.isFinite else { return "–" }
        let percent = (ratio - 1) * 100
        guard abs(percent) < 1e6 else { return percent > 0 ? "over +1,000,000 %" : "–" }
        let digits = SignificantDigits.fixed(abs(percent), places: abs(percent) < 99.95 ? 2 : 0)
        let isZero = digits.allSatisfy { "0.".contains($0) }
        return (isZero ? "" : percent < 0 ? "−" : "+") + digits + " %"
    }

    /// An interval of ratios: `+2.4 % to +3.9 %`.
    static func interval(_ low: Double?, _ high: Double?) -> String {
        guard low != nil || high != nil else { return "–" }
        return "\(low.map(change) ?? "no limit") to \(high.map(change) ?? "no limit")"
    }

    /// A part of one in percent, as it was asked for: `2 %`, `0.5 %`.
    static func percent(_ share: Double) -> String {
        var digits = SignificantDigits.fixed(max(0, share) * 100, places: 3)
        while digits.hasSuffix("0") { digits.removeLast() }
        if digits.hasSuffix(".") { digits.removeLast() }
        return digits + " %"
    }

    /// Seconds: `3.2 s`.
    static func seconds(_ seconds: Double) -> String { SignificantDigits.fixed(max(0, seconds), places: 1) + " s" }

    /// A verdict in words.
    static func word(_ verdict: GateVerdict) -> String { verdict == .noisyHost ? "noisy host" : verdict.rawValue }

    /// What was found of a cell, in one line.
    static func finding(_ cell: GateCell) -> String {
        var parts: [String] = []
        if let slowdown = cell.slowdown {
            parts.append("time \(change(slowdown)), interval \(interval(cell.low, cell.high))")
        }
        if let reason = cell.reason { parts.append(reason) }
        if let settling = settling(cell) { parts.append(settling) }
        return parts.isEmpty ? word(cell.verdict) : parts.joined(separator: "; ")
    }

    /// What would settle an inconclusive cell, or `nil` where nothing is known to.
    static func settling(_ cell: GateCell) -> String? {
        cell.secondsToSettle.map { "--seconds \(UInt64(min(max($0, 0), 1e9).rounded(.up))) would settle it" }
    }

    /// What was found of a cell's memory, in one line.
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
    /// The verdict in a few words, memory included: nobody is told `same` of what does not pass.
    var title: String {
        let word = GateWords.word(verdict)
        return switch memory?.verdict {
        case .grew: "\(word), and more memory"
        case .inconclusive: "\(word), memory undecided"
        case .same, nil: word
        }
    }

    /// The verdict in one sentence, with what it rests on.
    var headline: String {
        let compared = RatioText.count(cells.count, "cell")
        let tolerance = GateWords.percent(tolerance)
        let head: String
        switch verdict {
        case .wrong: head = "wrong: \(count(.wrong)) of \(compared) wrong or failed"
        case .noisyHost: head = "noisy host: two copies of the baseline differed on this machine, so nobody is blamed"
        case .slower: head = "slower: \(count(.slower)) of \(compared) by more than \(tolerance)"
        case .inconclusive where cells.isEmpty: head = "no answer: no cell was compared"
        case .inconclusive: head = "inconclusive: \(count(.inconclusive)) of \(compared) could not be decided"
        case .same: head = "same: \(compared), none slower by more than \(tolerance)"
        case .faster: head = "faster: \(compared), each by more than \(tolerance)"
        }
        return ([head] + [reason, memoryHeadline].compactMap { $0 }).joined(separator: "; ")
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

    func count(_ verdict: GateVerdict) -> Int { cells.count { $0.verdict == verdict } }

    /// Whether cells may be blamed: not where two copies of the baseline differed. Wrong bytes are wrong on any machine.
    func isBlamed(_ cell: GateCell) -> Bool {
        cell.verdict == .wrong || cell.verdict == .slower && verdict != .noisyHost
    }

    /// The command line that repeats the run.
    var commandLine: String { ShellText.joined(command) }
}
