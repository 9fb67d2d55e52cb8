import Glibc
import Results
import Statistics
import Support

/// The timed part of a run: the measurement, the confirmation of apparent slowdowns, and the conclusions.
struct Comparison {
    let sides: SidePair
    let settings: GateSettings
    let progress: (String) -> Void
    let shouldStop: () -> Bool

    /// Measures cells that both sides read correctly, beside a control, and enters them into a result that lists them.
    func run(
        _ prepared: [PreparedCell], control outcome: CellPreparation.Outcome?, into result: inout GateResult
    ) throws(GateError) {
        var seeds = SplitMix64(seed: settings.seed)
        let first = seeds.next() >> 11
        var control: SequentialTest?
        if case .ready(let cell) = outcome {
            var own = settings
            (own.stored, own.buildCount) = (nil, nil)
            control = SequentialTest(cell, settings: own, comparisonCount: 1, seed: first)
        }
        let tracks = try phase(prepared, control: control, seed: first, label: "measuring")
        enter(tracks, into: &result)
        let suspects = settings.isRecording ? [] : tracks.filter { $0.phase.looks.last?.verdict == .slower }
        if !suspects.isEmpty, control?.failure == nil {
            confirm(
                try phase(suspects.map(\.cell), control: nil, seed: seeds.next() >> 11, label: "confirming"),
                in: &result)
        }
        if let outcome { judge(control, outcome, in: &result) }
    }

    private func phase(
        _ cells: [PreparedCell], control: SequentialTest?, seed: UInt64, label: String
    ) throws(GateError) -> [SequentialTest] {
        let stored = Dictionary(
            (settings.stored?.ratios ?? []).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let tracks = cells.map { cell in
            SequentialTest(
                cell, settings: settings, comparisonCount: cells.count, seed: seed, stored: stored[cell.name])
        }
        try PhaseRunner(
            sides: sides, settings: settings, seed: seed, label: label, progress: progress, shouldStop: shouldStop
        ).run(tracks, control: control)
        return tracks
    }

    private func enter(_ tracks: [SequentialTest], into result: inout GateResult) {
        for track in tracks {
            guard let index = result.cells.firstIndex(where: { $0.name == track.cell.name }) else { continue }
            result.cells[index].take(track)
            if !settings.isRecording { result.cells[index].explain(track, rule: settings.rule) }
        }
    }

    /// Enters a second phase. Cells that are slower again stay slower. Others become inconclusive, with an interval
    /// that spans both phases if the second one has an interval.
    private func confirm(_ tracks: [SequentialTest], in result: inout GateResult) {
        for track in tracks {
            guard let index = result.cells.firstIndex(where: { $0.name == track.cell.name }) else { continue }
            let before = result.cells[index]
            result.cells[index].take(track)
            guard track.failure == nil, result.cells[index].verdict != .slower else { continue }
            var cell = result.cells[index]
            cell.verdict = .inconclusive
            cell.explain(track, rule: settings.rule)
            if let again = track.phase.looks.last, again.low != nil, again.high != nil {
                cell.reason = "not reproduced: it seemed slower, and with fresh processes and another seed it did not"
                // More time does not help: it cannot resolve the contradiction between two phases that each decided.
                if again.verdict != .inconclusive { cell.secondsToSettle = nil }
                cell.high = [before.high, cell.high].contains(nil) ? nil : max(before.high ?? 0, cell.high ?? 0)
                cell.slowdown = [before.slowdown, cell.slowdown].compactMap(\.self).reduce(0, +) / 2
            } else {
                cell.reason = "not confirmed: it seemed slower, and \(cell.reason ?? "there was no second look")"
                (cell.slowdown, cell.low, cell.high) = (before.slowdown, before.low, before.high)
            }
            result.cells[index] = cell
        }
    }

    /// Enters the control. If the gate did not see the injected slowdown, cells found slower or faster keep their
    /// verdict, but no cell counts as the same.
    private func judge(
        _ control: SequentialTest?, _ outcome: CellPreparation.Outcome, in result: inout GateResult
    ) {
        let injected = settings.rule.injectedShare
        var reason = "cannot see \(GateResult.percent(injected)) here"
        if let control {
            var cell = GateCell(name: control.cell.name, cell: control.cell.cell)
            cell.injected = injected
            cell.take(control)
            result.control = cell
            if cell.isSeen { return }
            if !control.isDone, !result.cells.contains(where: { $0.verdict == .same }) {
                result.control?.reason = "ended with the cells, none of which is called the same"
                return
            }
            reason += ": injected in a copy of the baseline, it showed as "
            reason += cell.slowdown.map { GateResult.percent($0 - 1) } ?? "nothing"
            // A reader whose time does not grow is likelier than noise.
            if let high = cell.high, high < 1 {
                reason +=
                    "; the baseline takes less time for more bytes: expected a reader that takes longer for more bytes"
            }
        } else {
            switch outcome {
            case .notCompared(let why), .wrong(let why), .failed(let why):
                reason += ": no slowdown could be injected: \(why)"
            case .ready: break
            }
        }
        if result.control?.reason == nil { result.control?.reason = reason }
        result.distrust(reason)
    }
}

extension GateCell {
    /// Takes over the result of a phase.
    fileprivate mutating func take(_ track: SequentialTest) {
        phases.append(track.phase)
        seconds += track.phase.seconds
        stored = track.stored
        if let look = track.phase.looks.last {
            (slowdown, low, high, verdict) = (look.slowdown, look.low, look.high, look.verdict)
        }
        if let failure = track.failure { (verdict, reason) = (.failed, failure) }
    }

    /// Adds the time that would settle the cell, or a reason, if the cell is inconclusive.
    fileprivate mutating func explain(_ track: SequentialTest, rule: GateRule) {
        guard verdict == .inconclusive, track.failure == nil else { return }
        guard let look = track.phase.looks.last else {
            reason = "the baseline failed against itself before anything was known"
            return
        }
        let stored = track.storedEstimate
        let blocks = track.phase.blocks.map { $0.logRatio - log(stored?.estimate ?? 1) }
        let needed: Double?
        if let low = look.low, let high = look.high {
            let ratio = RatioEstimate(estimate: look.slowdown, low: low, high: high)
            let growth = rule.growthToDecide(ratio, over: stored)
            if growth == nil, rule.growthToDecide(ratio) != nil {
                reason = "the tolerance lies within the stored ratio's own interval: expected a longer recording"
                return
            }
            reason = "the tolerance lies within the interval"
            needed = growth.map { $0 * track.phase.seconds }
        } else {
            reason = blocks.count == 1 ? "1 block is too few" : "\(blocks.count) blocks are too few"
            needed = rule.blockCountToDecide(blocks, alpha: look.alpha)
                .map { $0 / Double(max(1, blocks.count)) * track.phase.seconds }
        }
        if let builds = track.buildCount {
            reason = "the tolerance lies within the interval of \(builds) builds: more of them would settle it"
            return
        }
        secondsToSettle = needed.flatMap { $0 <= 3600 ? max($0, 1.2 * track.phase.seconds).rounded(.up) : nil }
        // A single block does not allow an estimate.
        if secondsToSettle == nil, blocks.count > 1 { reason = (reason ?? "") + ", and no hour would settle it" }
    }
}

/// One phase of a run: blocks of all undecided cells, and of the control, in passes.
struct PhaseRunner {
    let sides: SidePair
    let settings: GateSettings
    let seed: UInt64
    /// The phase's name in progress messages.
    let label: String
    let progress: (String) -> Void
    let shouldStop: () -> Bool

    /// Runs the phase until every cell is decided or has used up its time.
    ///
    /// - Parameters:
    ///   - tracks: The cells.
    ///   - control: The baseline beside a copy of it with more work. It ends when the gate sees the difference. It
    ///     continues after the cells only if one of them would count as the same.
    /// - Throws: `GateError.interrupted`, `.io`.
    func run(_ tracks: [SequentialTest], control: SequentialTest?) throws(GateError) {
        var generator = SplitMix64(seed: seed)
        let pair = ProcessPair(sides, timeout: settings.timeout, shouldStop: shouldStop)
        let pairs = [pair, pair.copies]
        while true {
            var active = tracks.filter { !$0.isDone }
            let count = active.count
            if let control {
                // A baseline that fails against itself would fail in all cells.
                if control.failure != nil { return }
                let isNeeded = count > 0 || tracks.contains(where: \.isSame)
                if isNeeded, !control.isDone { active.append(control) }
            }
            guard !active.isEmpty else { return }
            // Each pass starts fresh processes, all side by side. A process that fails here is started again in a
            // block, which then records the failure.
            let firstTracks = [active.first { $0 !== control }, active.first { $0 === control }]
            for (pair, track) in zip(pairs, firstTracks) {
                pair.end()
                if let track { try? pair.start(build: track.nextBuild, using: &generator) }
            }
            for pair in pairs { try? pair.greet() }
            for track in active.shuffled(using: &generator) {
                if shouldStop() { throw .interrupted }
                let isControl = track === control
                progress(
                    "\(label): \(count) of \(tracks.count) cells open, block \(track.phase.blocks.count + 1) of "
                        + (isControl ? "the control" : track.cell.name))
                do throws(SideFailure) {
                    let blocks = BlockRunner(pair: pairs[isControl ? 1 : 0], shouldStop: shouldStop)
                    let (block, seconds) = try blocks.run(track.cell, build: track.nextBuild, using: &generator)
                    track.add(block, seconds: seconds)
                } catch {
                    let (role, reason) = try error.ofSide()
                    let name = isControl ? "baseline, against itself," : role.rawValue
                    // Both copies are the same program.
                    track.addFailure(of: isControl ? .baseline : role, "the \(name) failed: \(reason)")
                }
            }
        }
    }
}

/// The time in seconds by the monotonic clock, which cannot be set.
func monotonicSeconds() -> Double { Double(monotonicNanoseconds()) / 1e9 }
