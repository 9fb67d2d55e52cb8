package import Results
import Support

/// A gate's result for people who read it in a terminal.
package enum GateText {
    /// The table, the control, what was left out, peak memory, the verdict, and the command that repeats it; of a run that
    /// was to be recorded, there is no verdict.
    package static func text(_ result: GateResult, isRecording: Bool = false) -> String {
        var lines = table(rows(result, isRecording: isRecording))
        for cell in result.cells + [result.control].compactMap(\.self) {
            if let reason = cell.reason { lines.append("\(cell.name): \(reason)\(settling(cell))") }
        }
        for cell in result.notCompared { lines.append("not compared: \(cell.name): \(cell.reason)") }
        if let memory = result.memory {
            lines += ["", "peak memory: \(memory.verdict.rawValue)"] + table(rows(memory))
        }
        lines += [
            "", isRecording && result.isFitToRecord ? "recorded: \(result.cells.count) cells" : conclusion(result),
        ]
        lines.append("repeat: \(ShellText.joined(result.command))")
        return lines.map { Self.wrapped(PlainText.line($0)) }.joined(separator: "\n")
    }

    /// Sentences in 80 columns; a command is to be copied as it is.
    private static func wrapped(_ text: String) -> String {
        text.hasPrefix("repeat: ") ? text : TextWrapping.text(text)
    }

    /// The verdict in a line.
    package static func conclusion(_ result: GateResult) -> String {
        let tolerance = percent(result.tolerance)
        let names = { (verdict: GateVerdict) in
            result.cells.filter { $0.verdict == verdict }.map(\.name).joined(separator: "; ")
        }
        var line =
            switch result.verdict {
            case _ where result.cells.isEmpty: result.reason ?? "nothing was compared"
            case .wrong: "wrong: \(firstWrong(result)): expected right bytes, and whole runs, of both sides"
            case .noisyHost:
                "noisy host: two copies of the baseline differ: expected the same time of both, nobody is blamed"
            case .slower: "slower: \(names(.slower)): expected at most \(tolerance) more time than the baseline"
            case .inconclusive:
                "inconclusive: \(names(.inconclusive)): expected intervals that end on one side of \(tolerance)"
            case .same: "same: no cell takes over \(tolerance) more time than the baseline"
            case .faster: "faster: every cell takes over \(tolerance) less time than the baseline"
            }
        if result.memory?.verdict == .grew { line += "; peak memory grew: expected it within the limit" }
        if result.memory?.verdict == .inconclusive { line += "; peak memory is inconclusive" }
        return line
    }

    /// The first cell that is wrong, or the control, with the reason, and how many there are.
    private static func firstWrong(_ result: GateResult) -> String {
        let wrong = (result.cells + [result.control].compactMap(\.self)).filter { $0.verdict == .wrong }
        guard let first = wrong.first else { return "a cell" }
        let more = wrong.count > 1 ? "\(wrong.count) cells, the first is " : ""
        return more + first.name + (first.reason.map { ": \($0)" } ?? "")
    }

    private static func rows(_ result: GateResult, isRecording: Bool) -> [[String]] {
        var rows = [["cell", "verdict", isRecording ? "to reference" : "slowdown", "low", "high", "blocks", "seconds"]]
        for cell in result.cells + [result.control].compactMap(\.self) {
            rows.append([
                cell.name, isRecording && cell.verdict != .wrong ? "recorded" : cell.verdict.rawValue,
                change(cell.slowdown), change(cell.low), change(cell.high),
                "\(cell.blockCount)", fixed(cell.seconds, 1),
            ])
        }
        return rows
    }

    private static func rows(_ memory: GateMemory) -> [[String]] {
        var rows = [["cell", "verdict", "baseline", "candidate", "limit"]]
        func peaks(_ peaks: GateMemory.Peaks) -> String {
            "\(mebibytes(peaks.median)) (\(mebibytes(peaks.minimum))–\(mebibytes(peaks.maximum)))"
        }
        for cell in memory.cells {
            rows.append([
                cell.name, cell.reason ?? cell.verdict.rawValue, peaks(cell.baseline), peaks(cell.candidate),
                "+\(mebibytes(cell.limitByteCount))",
            ])
        }
        return rows
    }

    /// Rows with columns that line up, the first to the left and figures to the right.
    private static func table(_ rows: [[String]]) -> [String] {
        TextTable(rows, rightAligned: Set((rows.first ?? []).indices.dropFirst(2))).text
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    private static func settling(_ cell: GateCell) -> String {
        GateWords.settling(cell).map { "; \($0)" } ?? ""
    }

    /// A ratio as what it changes: `+2.31 %`.
    private static func change(_ ratio: Double?) -> String {
        guard let ratio else { return "–" }
        return (ratio < 1 ? "−" : "+") + fixed(abs(ratio - 1) * 100, 2) + " %"
    }

    private static func percent(_ share: Double) -> String {
        let text = fixed(share * 100, 2)
        return (text.hasSuffix(".00") ? String(text.dropLast(3)) : text) + " %"
    }

    private static func mebibytes(_ byteCount: UInt64) -> String { fixed(Double(byteCount) / 1_048_576, 1) + " MiB" }

    /// A number of at least 0 with so many decimal places.
    private static func fixed(_ value: Double, _ places: Int) -> String {
        let factor = (0..<places).reduce(1.0) { power, _ in power * 10 }
        let scaled = UInt64(min((value * factor).rounded(), 1e15))
        let digits = String(scaled)
        let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
        return places == 0 ? padded : "\(padded.dropLast(places)).\(padded.suffix(places))"
    }
}
