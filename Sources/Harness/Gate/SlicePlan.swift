/// How a block's time is divided: iterations into slices, slices into turns, turns into rounds.
///
/// A machine's disturbances last for milliseconds, so that of the same time many short slices are worth more than few
/// long ones, down to what a request costs; and a block's processes take their time to come up, whatever they then do.
package struct SlicePlan: Hashable, Sendable {
    /// The iterations of a slice.
    package let iterationCount: UInt64
    /// The slices that a side has in a row.
    package let slicesPerTurn: Int
    /// The rounds of a block.
    package let roundCount: Int

    /// How long a slice should take.
    private static let sliceNanoseconds: UInt64 = 500_000
    /// The most iterations of a slice, each of which is a number in an answer.
    private static let maxIterations: UInt64 = 2000
    /// From here on a slice is long, and always one iteration.
    private static let longSliceNanoseconds: UInt64 = 10_000_000
    /// From here on a block has one round.
    private static let oneRoundSliceNanoseconds: UInt64 = 500_000_000
    /// The most slices that a side has in a row.
    private static let maxSlicesPerTurn: UInt64 = 3
    /// The most rounds of a block.
    private static let maxRounds: UInt64 = 32
    /// Where as many would take longer than this, a block has fewer rounds, down to two, or one of the longest slices.
    private static let shortBlockNanoseconds: UInt64 = 128_000_000
    /// The same for long slices, in seconds: what such a process takes to come up, with large buffers, is to be the
    /// smaller part.
    private static let longBlockSeconds = 0.75
    /// A phase's time is to be enough for as many such blocks, but for what their processes take to come up.
    private static let fewestLongBlocks = 16.0

    /// Plans blocks.
    ///
    /// - Parameters:
    ///   - iterationNanoseconds: How long an iteration takes, the mean of both sides.
    ///   - secondsPerCell: The seconds that a phase has, 0 or more.
    package init(iterationNanoseconds: UInt64, secondsPerCell: Double) {
        let iteration = min(max(1, iterationNanoseconds), SideProcess.longestIteration)
        iterationCount = min(Self.maxIterations, max(1, Self.sliceNanoseconds / iteration))
        let slice = iterationCount * iteration
        let minimum: UInt64 = slice < Self.oneRoundSliceNanoseconds ? 2 : 1
        let longBlock = UInt64(min(Self.longBlockSeconds, secondsPerCell / Self.fewestLongBlocks) * 1e9)
        // A subject may take new buffers for each request, which for long slices cost as much as they do; as many as
        // the shortest block has space for.
        let room = longBlock / (4 * minimum * slice)
        let turn = slice < Self.longSliceNanoseconds ? 1 : min(Self.maxSlicesPerTurn, max(1, room))
        let block = turn > 1 ? longBlock : Self.shortBlockNanoseconds
        slicesPerTurn = Int(turn)
        roundCount = Int(min(Self.maxRounds, max(minimum, block / (4 * turn * slice))))
    }

    /// The iterations of a side in a block.
    package var iterationsPerSide: UInt64 { 2 * iterationCount * UInt64(slicesPerTurn) * UInt64(roundCount) }
}
