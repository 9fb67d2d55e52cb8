import Measurement
import Results
import Statistics
import Support

/// Compares the peak memory of both sides in separate runs: fresh processes, in turns, read from outside.
struct MemoryComparison {
    let sides: SidePair
    let settings: GateSettings
    let limit: MemoryLimit
    let shouldStop: () -> Bool

    /// The number of runs of each side.
    static let runCount = 5

    func run(_ cells: [PreparedCell], progress: (String) -> Void) throws(GateError) -> GateMemory {
        var generator = SplitMix64(seed: settings.seed ^ 0x6d65_6d6f_7279)
        var found: [GateMemory.Cell] = []
        for cell in cells {
            progress("peak memory: \(cell.name)")
            found.append(try examine(cell, &generator))
        }
        let verdicts = found.map(\.verdict)
        let verdict: GateMemory.Verdict =
            verdicts.contains(.grew) ? .grew : verdicts.contains(.inconclusive) || found.isEmpty ? .inconclusive : .same
        return GateMemory(verdict: verdict, limit: limit, cells: found)
    }

    private func examine(_ cell: PreparedCell, _ generator: inout SplitMix64) throws(GateError) -> GateMemory.Cell {
        var peaks: [GateSide.Role: [UInt64]] = [.baseline: [], .candidate: []]
        var reason: String?
        do throws(SideFailure) {
            for _ in 0..<Self.runCount {
                for side in sides.both.shuffled(using: &generator) {
                    if shouldStop() { throw .interrupted }
                    let taken = try twice { () throws(SideFailure) in try peak(side, cell) }
                    guard let taken else {
                        reason = "the kernel does not tell: expected a writable /proc/PID/clear_refs"
                        continue
                    }
                    peaks[side.role, default: []].append(taken)
                }
            }
        } catch {
            let (role, what) = try error.ofSide()
            reason = "the \(role.rawValue) failed: \(what)"
        }
        let baseline = GateMemory.Peaks(byteCounts: peaks[.baseline] ?? [])
        let candidate = GateMemory.Peaks(byteCounts: peaks[.candidate] ?? [])
        let limitByteCount = limit.byteCount(over: baseline.median)
        return GateMemory.Cell(
            name: cell.name,
            verdict: reason == nil
                ? GateMemory.verdict(baseline, candidate, limitByteCount: limitByteCount) : .inconclusive,
            reason: reason, baseline: baseline, candidate: candidate, limitByteCount: limitByteCount)
    }

    /// Returns the maximum memory that a process held until the end of one iteration; `nil` if the kernel does not
    /// report it.
    private func peak(_ side: GateSide, _ cell: PreparedCell) throws(SideFailure) -> UInt64? {
        let process = try SideProcess(side, timeout: settings.timeout, shouldStop: shouldStop)
        try process.greet()
        do {
            let (_, memory) = try MemoryWatch.run(process.processID) {
                try process.open(cell.object, isServed: cell.isServed)
                _ = try process.time(cell.workload, iterationCount: 1)
            }
            process.end()
            return memory?.resident.peakByteCount
        } catch let failure as SideFailure {
            throw failure
        } catch {
            throw .failed(side.role, "\(error)")
        }
    }
}
