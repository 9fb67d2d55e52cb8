import Results

extension RunRecommendation {
    /// Returns the figure that ranks a candidate, in words.
    func figure(_ candidate: Candidate) -> String {
        switch pool.merit {
        case .throughput: ByteCountText.rate(candidate.bytesPerSecond)
        case .latency: "\(Merit.latency.text(of: candidate)) a read"
        }
    }

    /// The name of the figure that ranks candidates.
    var meritName: String { pool.merit == .throughput ? "throughput" : "latency" }

    /// The caveat before a choice that notices no change, with the configuration to measure instead.
    var caveat: String {
        if let strategy = request.strategy {
            return "Changes are not noticed by \(strategy), which was asked for; \(Protection.guardText)."
        }
        let reads = pool.workload == "sequential" ? "from start to end" : "with \(pool.workload)"
        return
            "No format that notices changes was measured \(reads): measure one, as Benchmarks/plans/default.yml does; "
            + "with any other, \(Protection.guardText)."
    }

    /// The cost of noticing changes: the choice without that demand, and what it would save; `nil` if no unprotected
    /// cell was measured beside, or if changes need not be noticed anyway.
    var integrityCost: String? {
        guard let choice = advice.choice, let other = unguarded?.choice, !pool.setAside.isEmpty else { return nil }
        let head = "Without integrity (--integrity none)"
        guard other.id != choice.id, let cell = cell(other), cell.protection < .integrity else {
            return "\(head) the choice would notice changes all the same: doing without saves nothing."
        }
        let ratio = ratio(of: other, over: choice)
        guard ratio.ratio > 1, !ratio.isTie else {
            return "\(head) the choice would be \(label(other)), which saves no \(meritName) that the data show."
        }
        return
            "\(head) the choice would be \(label(other)), \(figure(other)), \(ratio.text) as fast; "
            + "\(Protection.guardText)."
    }

    /// If nothing fits, the configuration that would fit if changes need not be noticed; `nil` if there is none.
    var unguardedFit: String? {
        guard advice.choice == nil, let other = unguarded?.choice else { return nil }
        return
            "Without integrity (--integrity none) \(label(other)) would fit, \(figure(other)); \(Protection.guardText)."
    }
}

/// One step from the choice in one direction, with its cost.
struct ChoiceStep: Sendable {
    /// The change, such as `chunks of 16 KiB (cobblestone-128)`.
    var change: String
    var cell: CellSummary
    /// The merit after the step ÷ that of the choice; `nil` if it was not measured.
    var ratio: SpeedRatio?
    /// The median latency of a random read of the chunks after the step and before it; `nil` if the step does not
    /// change the chunk, or if none was measured.
    var seek: (after: LatencyRecord.Latency, before: LatencyRecord.Latency)?
    /// True if the budgets are kept after the step.
    var keepsBudgets = true
}

extension RunRecommendation {
    /// The measured steps from the choice: a smaller and a larger chunk, a smaller and a larger window, the next
    /// library, and the other key length. Each changes nothing else.
    var steps: [ChoiceStep] {
        guard let choice else { return [] }
        let own = choice.cell
        func like(_ cells: [CellSummary], _ blank: (inout Cell) -> Void) -> [CellSummary] {
            func blanked(_ cell: Cell) -> Cell {
                var cell = cell
                cell.readCount = nil
                blank(&cell)
                return cell
            }
            let wanted = blanked(own)
            return cells.filter { $0.cell.id != own.id && blanked($0.cell) == wanted }
        }
        let chunks = own.chunkByteCount.map { own in
            let others = like(pool.cells) { blankFormat(of: &$0) }
            let smaller = others.filter { $0.cell.chunkByteCount ?? .max < own }.max { isBefore($0, $1, choice) }
            let larger = others.filter { $0.cell.chunkByteCount ?? 0 > own }.min { isBefore($0, $1, choice) }
            return [smaller, larger]
        }
        let windows = like(pool.cells) { $0.windowByteCount = 0 }
        let window = own.windowByteCount
        let smaller = windows.filter { $0.cell.windowByteCount < window }
            .max { $0.cell.windowByteCount < $1.cell.windowByteCount }
        let larger = windows.filter { $0.cell.windowByteCount > window }
            .min { $0.cell.windowByteCount < $1.cell.windowByteCount }
        let library = best(of: like(pool.cells) { $0.backend = "" })
        let key = best(
            of: like(summary.cells.filter { $0.protection >= pool.protection }) {
                ($0.keyByteCount, $0.strategy) = (0, "")
            }.filter { $0.cell.keyByteCount != own.keyByteCount })
        return (chunks ?? []).compactMap { $0 }.map { step($0, "chunks of \($0.cell.chunkText ?? "")") }
            + [smaller, larger].compactMap { $0 }
            .map { step($0, "windows of \(ByteCountText.size($0.cell.windowByteCount))") }
            + [library].compactMap { $0 }.map { step($0, $0.cell.backend) }
            + [key].compactMap { $0 }.map { step($0, $0.cell.keyName) }
    }

    private func blankFormat(of cell: inout Cell) {
        (cell.chunkByteCount, cell.strategy) = (nil, "")
    }

    /// Orders by chunk. Of equal chunks, those of the choice's own format are closer to the choice.
    private func isBefore(_ one: CellSummary, _ other: CellSummary, _ choice: CellSummary) -> Bool {
        let (a, b) = (one.cell.chunkByteCount ?? 0, other.cell.chunkByteCount ?? 0)
        if a != b { return a < b }
        let isSmaller = a < choice.cell.chunkByteCount ?? 0
        let (isOwn, isOthersOwn) = (
            one.cell.format == choice.cell.format, other.cell.format == choice.cell.format
        )
        return isSmaller ? !isOwn && isOthersOwn : isOwn && !isOthersOwn
    }

    private func best(of cells: [CellSummary]) -> CellSummary? {
        let merit = pool.merit
        let candidates = cells.compactMap { Candidate($0, rankedBy: merit) }
        let best = Candidate.fastest(of: candidates)
        return cells.first { $0.cell.id == best?.id }
    }

    private func step(_ cell: CellSummary, _ change: String) -> ChoiceStep {
        let own = choice
        let format = own.flatMap { $0.cell.format == cell.cell.format ? nil : " (\(cell.cell.format))" } ?? ""
        let merit = pool.merit
        let ratio = own.flatMap { own in
            merit.sample(of: cell).flatMap { after in
                merit.sample(of: own).map { SpeedRatio(of: after, over: $0) }
            }
        }
        let changesChunk = own?.cell.chunkByteCount != cell.cell.chunkByteCount
        var seek: (LatencyRecord.Latency, LatencyRecord.Latency)?
        if merit == .throughput, changesChunk, let own, let after = self.seek(cell.cell),
            let before = self.seek(own.cell)
        {
            seek = (after, before)
        }
        let keepsBudgets = Candidate(cell, rankedBy: merit)?.keeps(request.budgets) ?? true
        return ChoiceStep(
            change: change + format, cell: cell, ratio: ratio, seek: seek, keepsBudgets: keepsBudgets)
    }

    /// Returns the latency of the main random reads of a cell's object; `nil` if it was not measured.
    private func seek(_ cell: Cell) -> LatencyRecord.Latency? {
        guard let workload = summary.mainRandomWorkload else { return nil }
        func blanked(_ cell: Cell) -> Cell {
            var cell = cell
            (cell.workload, cell.windowByteCount, cell.readCount) = ("", 0, nil)
            return cell
        }
        let wanted = blanked(cell)
        return RunSummary.quickest(
            in: summary.cells.filter { $0.cell.workload == workload && blanked($0.cell) == wanted })?.latency
    }
}

extension ChoiceStep {
    /// Returns the step and its cost in a few words: `chunks of 16 KiB: 3 % (2–4 %) slower, a seek 20.8 µs instead of
    /// 27.1 µs`.
    func text(from choice: CellSummary?) -> String {
        var parts: [String] = []
        if let ratio {
            parts.append(
                ratio.isTie ? "a tie" : ratio.ratio < 1 ? "\(ratio.lossText) slower" : "\(ratio.text) as fast")
        }
        if let memory = cell.memory, let less = choice?.memory {
            let (text, lessText) = (
                ByteCountText.growth(memory.growthByteCount), ByteCountText.growth(less.growthByteCount)
            )
            if text != lessText { parts.append("\(text) of memory instead of \(lessText)") }
        }
        if let seek {
            parts.append(
                "a random read \(DurationText.text(nanoseconds: seek.after.p50)) instead of "
                    + DurationText.text(nanoseconds: seek.before.p50))
        }
        if !keepsBudgets { parts.append("over the budgets") }
        return "\(change): \(parts.isEmpty ? "not timed" : parts.joined(separator: ", "))"
    }
}
