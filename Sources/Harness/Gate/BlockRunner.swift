import Measurement
import Results
import Statistics

/// Runs blocks: two fresh processes, both alive throughout, that take turns in short slices.
struct BlockRunner {
    let sides: SidePair
    let timeout: Duration
    let shouldStop: () -> Bool

    /// Runs a block.
    ///
    /// - Parameters:
    ///   - cell: What is timed.
    ///   - build: Which build of each side, from 1 on; `nil` where there is one.
    ///   - generator: What orders are drawn from.
    /// - Returns: The block.
    /// - Throws: `SideFailure`.
    func run(
        _ cell: PreparedCell, build: Int?, using generator: inout SplitMix64
    ) throws(SideFailure) -> GateBlock {
        let firstRole: GateSide.Role = Bool.random(using: &generator) ? .baseline : .candidate
        // Both are started before either is waited for, so that they come up side by side.
        let pair = firstRole == .baseline ? sides.both : sides.both.reversed()
        var builds: [GateBuild?] = [nil, nil]
        if let build {
            for index in builds.indices {
                let padding = Int.random(in: 0..<Self.maxPadding, using: &generator)
                builds[index] = GateBuild(number: build, paddingByteCount: padding)
            }
        }
        let first = try SideProcess(pair[0], build: builds[0], timeout: timeout, shouldStop: shouldStop)
        let second = try SideProcess(pair[1], build: builds[1], timeout: timeout, shouldStop: shouldStop)
        for (process, role) in [(first, pair[0].role), (second, pair[1].role)] {
            try process.greet()
            let own = role == .candidate ? cell.largerObject : nil
            try process.open(own ?? cell.object, isServed: cell.isServed)
        }
        for process in [first, second] {
            try warmUp(process, cell)
            process.endWarmUp()
        }
        let baseline = firstRole == .baseline ? first : second
        let candidate = firstRole == .baseline ? second : first
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
        first.end()
        second.end()
        return GateBlock(
            first: firstRole, order: order, iterationCount: cell.plan.iterationCount, baseline: baselineSlices,
            candidate: candidateSlices, build: build)
    }

    /// A side's turn: slices of the same work, however long it takes.
    private func turn(_ process: SideProcess, _ cell: PreparedCell) throws(SideFailure) -> [UInt64] {
        let isLong = cell.plan.slicesPerTurn > 1
        let asked = isLong ? UInt64(cell.plan.slicesPerTurn) : cell.plan.iterationCount
        let nanoseconds = try process.time(cell.workload, iterationCount: asked)
        if isLong { return nanoseconds }
        let sum = nanoseconds.reduce(0, +)
        guard nanoseconds.count < Int(asked) else { return [sum] }
        // A subject that stops early for reasons of its own.
        let all = Double(sum) / Double(nanoseconds.count) * Double(asked)
        return [UInt64(min(all, Double(SideProcess.longestIteration)))]
    }

    /// Slices that are not counted, until they get no faster: three are no faster than the three before them by more
    /// than 2 %. A process that compiles on the way gets time to do so, within bounds; one turn of several slices is
    /// enough.
    private func warmUp(_ process: SideProcess, _ cell: PreparedCell) throws(SideFailure) {
        var taken: [UInt64] = []
        var sum: UInt64 = 0
        repeat {
            let turn = try turn(process, cell)
            if cell.plan.slicesPerTurn > 1 { return }
            taken += turn
            sum += turn.reduce(0, +)
            if taken.count >= 6 {
                let earlier = median(of: Array(taken.suffix(6).prefix(3))) ?? 0
                let latest = median(of: Array(taken.suffix(3))) ?? 0
                if latest >= 0.98 * earlier { return }
            }
        } while sum < Self.longestWarmUp && taken.count < Self.maxWarmUps
    }

    /// A page, within which alignment repeats.
    private static let maxPadding = 4096
    private static let longestWarmUp: UInt64 = 100_000_000
    private static let maxWarmUps = 400
}
