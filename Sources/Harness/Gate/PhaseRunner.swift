import Glibc
import Statistics

/// One phase of a run: blocks of all undecided cells, and of the control, in rounds.
struct PhaseRunner {
    let sides: SidePair
    let settings: GateSettings
    let seed: UInt64
    /// What the phase is called, for whoever waits.
    let label: String
    let progress: (String) -> Void
    let shouldStop: () -> Bool

    /// Runs the phase until every cell is decided, or has had its time.
    ///
    /// - Parameters:
    ///   - tracks: The cells.
    ///   - control: The baseline against itself, which has a block whenever a cell has one.
    /// - Throws: `GateError.interrupted`, `.io`.
    func run(_ tracks: [SequentialTest], control: SequentialTest) throws(GateError) {
        var generator = SplitMix64(seed: seed)
        let blocks = BlockRunner(sides: sides, timeout: settings.timeout, shouldStop: shouldStop)
        let controlBlocks = BlockRunner(sides: sides.control, timeout: settings.timeout, shouldStop: shouldStop)
        while true {
            let active = tracks.filter { !$0.isDone }
            guard !active.isEmpty else { return }
            // The control fails for all of them.
            if control.failure != nil { return }
            for track in (active + [control]).shuffled(using: &generator) {
                if shouldStop() { throw .interrupted }
                let isControl = track === control
                progress(
                    "\(label): \(active.count) of \(tracks.count) cells open, block \(track.phase.blocks.count + 1) of "
                        + (isControl ? "the control" : track.cell.name))
                let start = monotonicSeconds()
                do throws(SideFailure) {
                    let block = try (isControl ? controlBlocks : blocks).run(track.cell, using: &generator)
                    track.add(block, seconds: monotonicSeconds() - start)
                } catch {
                    switch error {
                    case .failed(let role, let reason), .unsupported(let role, let reason):
                        let name = isControl ? "baseline, against itself," : role.rawValue
                        // Both copies are one program.
                        track.addFailure(of: isControl ? .baseline : role, "the \(name) failed: \(reason)")
                    case .machine(let error): throw .io(error)
                    case .interrupted: throw .interrupted
                    }
                }
            }
        }
    }
}

/// The time by a clock that nobody sets. The corresponding C function is `clock_gettime` with `CLOCK_MONOTONIC`.
func monotonicSeconds() -> Double {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
}
