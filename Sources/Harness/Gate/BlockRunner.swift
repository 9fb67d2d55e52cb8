import Measurement
import Results
import Statistics

/// Runs blocks: two processes, both alive for the whole block, take turns in short slices.
struct BlockRunner {
    let pair: ProcessPair
    let shouldStop: () -> Bool

    /// Runs a block.
    ///
    /// - Parameters:
    ///   - cell: The cell to be timed.
    ///   - build: The number of the build of each side, from 1; `nil` if there is only one build.
    ///   - generator: The source of random orders.
    /// - Returns: The block and its duration in seconds, without the start of processes.
    /// - Throws: `SideFailure`.
    func run(
        _ cell: PreparedCell, build: Int?, using generator: inout SplitMix64
    ) throws(SideFailure) -> (block: GateBlock, seconds: Double) {
        // A separate generator, since not every block starts processes, which draw from the other one.
        var orders = SplitMix64(seed: generator.next())
        return try pair.run(build: build, using: &generator) { (first, second) throws(SideFailure) in
            let start = monotonicSeconds()
            let block = try run(cell, build: build, first, second, using: &orders)
            return (block, monotonicSeconds() - start)
        }
    }

    private func run(
        _ cell: PreparedCell, build: Int?, _ first: SideProcess, _ second: SideProcess,
        using generator: inout SplitMix64
    ) throws(SideFailure) -> GateBlock {
        let shared = SharedCPU([first.processID, second.processID])
        shared.release()
        for process in [first, second] {
            let own = process.role == .candidate ? cell.largerObject : nil
            try process.open(own ?? cell.object, isServed: cell.isServed)
        }
        let before = shared.cpuNanoseconds
        var claimed: [UInt64] = []
        for process in [first, second] {
            claimed.append(try warmUp(process, cell))
            process.endWarmUp()
        }
        let worked = zip(shared.cpuNanoseconds, before).map { $0 &- $1 }
        if zip(worked, claimed).allSatisfy({ Double($0) < Self.oneAtATime * Double($1) }) { shared.confine() }
        let (baseline, candidate) = first.role == .baseline ? (first, second) : (second, first)
        var order = ""
        var (baselineSlices, candidateSlices): ([UInt64], [UInt64]) = ([], [])
        for _ in 0..<cell.plan.roundCount {
            if shouldStop() { throw .interrupted }
            let startsWithBaseline = Bool.random(using: &generator)
            order += startsWithBaseline ? "A" : "B"
            if startsWithBaseline { baselineSlices += try turn(baseline, cell) }
            candidateSlices += try turn(candidate, cell)
            if startsWithBaseline { candidateSlices += try turn(candidate, cell) }
            baselineSlices += try turn(baseline, cell)
            if !startsWithBaseline { baselineSlices += try turn(baseline, cell) }
            if !startsWithBaseline { candidateSlices += try turn(candidate, cell) }
        }
        for process in [first, second] { try process.close() }
        return GateBlock(
            first: first.role, order: order, iterationCount: cell.plan.iterationCount, baseline: baselineSlices,
            candidate: candidateSlices, build: build)
    }

    /// Runs one turn of a side: slices of the same work, however long they take.
    private func turn(_ process: SideProcess, _ cell: PreparedCell) throws(SideFailure) -> [UInt64] {
        let isLong = cell.plan.slicesPerTurn > 1
        let asked = isLong ? UInt64(cell.plan.slicesPerTurn) : cell.plan.iterationCount
        let nanoseconds = try process.time(cell.workload, iterationCount: asked)
        if isLong { return nanoseconds }
        let sum = nanoseconds.reduce(0, +)
        guard nanoseconds.count < Int(asked) else { return [sum] }
        // A subject may stop early; the sum is then extrapolated to the requested iterations.
        let all = Double(sum) / Double(nanoseconds.count) * Double(asked)
        return [UInt64(min(all, Double(SideProcess.longestIteration)))]
    }

    /// Runs slices that do not count, until they get no faster: the median of three slices is at most 2 % below the
    /// median of the three before. This gives a just-in-time compiler time to work, within bounds. If turns have
    /// several slices, one turn is enough.
    ///
    /// - Returns: The total time of all these slices, in nanoseconds.
    private func warmUp(_ process: SideProcess, _ cell: PreparedCell) throws(SideFailure) -> UInt64 {
        var taken: [UInt64] = []
        var sum: UInt64 = 0
        repeat {
            let turn = try turn(process, cell)
            taken += turn
            sum += turn.reduce(0, +)
            if cell.plan.slicesPerTurn > 1 { return sum }
            if taken.count >= 6 {
                let earlier = median(of: Array(taken.suffix(6).prefix(3))) ?? 0
                let latest = median(of: Array(taken.suffix(3))) ?? 0
                if latest >= 0.98 * earlier { return sum }
            }
        } while sum < Self.longestWarmUp && taken.count < Self.maxWarmUps
        return sum
    }

    /// The maximum ratio of CPU time to claimed time for a program that does one thing at a time.
    private static let oneAtATime = 1.5
    private static let longestWarmUp: UInt64 = 100_000_000
    private static let maxWarmUps = 400
}
