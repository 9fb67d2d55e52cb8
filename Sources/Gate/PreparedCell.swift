import Measurement
import Results
import SubjectProtocol

/// A cell that both sides did right, ready to be timed.
struct PreparedCell {
    let name: String
    let cell: Cell
    let object: MeasuredObject
    let workload: Workload
    /// Whether both sides are served its ciphertext, since one of them does not read files.
    let isServed: Bool
    /// The iterations of a slice.
    let iterationCount: UInt64
    /// The slices that a side has in a row.
    let slicesPerTurn: Int
    /// The rounds of a block.
    let roundCount: Int
    /// How long an iteration took before, on the slower side.
    let iterationNanoseconds: UInt64

    /// How long a slice should take.
    static let sliceNanoseconds: UInt64 = 1_000_000
    /// The most iterations of a slice, each of which is a number in an answer.
    static let mostIterations: UInt64 = 2000
    /// From here on a slice is long, and always one iteration.
    static let longSliceNanoseconds: UInt64 = 10_000_000
    /// The most slices that a side has in a row.
    static let mostSlicesPerTurn = 3
    /// The most rounds of a block.
    static let mostRounds = 16
    /// Beyond this, a block has fewer rounds: two, or one if a slice takes half a second.
    static let shortBlockNanoseconds: UInt64 = 128_000_000
    /// The same for long slices, in seconds: what such a process takes to come up, with large buffers, is to be the smaller
    /// part.
    static let longBlockSeconds = 0.75
    /// A phase's time is to be enough for as many such blocks, but for what their processes take to come up.
    static let fewestLongBlocks = 16.0

    /// Chooses slices and rounds by how long iterations took, on the one side and the other, and by the seconds that a phase
    /// has.
    init(
        name: String, cell: Cell, object: MeasuredObject, workload: Workload, isServed: Bool,
        iterationNanoseconds: (UInt64, UInt64), secondsPerCell: Double
    ) {
        self.name = name
        self.cell = cell
        self.object = object
        self.workload = workload
        self.isServed = isServed
        let (one, other) = (max(1, iterationNanoseconds.0), max(1, iterationNanoseconds.1))
        let mean = max(1, one / 2 + other / 2)
        iterationCount = min(Self.mostIterations, max(1, Self.sliceNanoseconds / mean))
        let slice = iterationCount * mean
        let least: UInt64 = slice < 500_000_000 ? 2 : 1
        let longBlock = UInt64(min(Self.longBlockSeconds, secondsPerCell / Self.fewestLongBlocks) * 1e9)
        // A subject may take new buffers for each request, which for long slices cost as much as they do; as many as
        // the shortest block has room for.
        let room = Int(min(UInt64(Self.mostSlicesPerTurn), longBlock / (4 * least * slice)))
        slicesPerTurn = slice < Self.longSliceNanoseconds ? 1 : max(1, room)
        let block = slicesPerTurn > 1 ? longBlock : Self.shortBlockNanoseconds
        roundCount = Int(
            min(UInt64(Self.mostRounds), max(least, block / (4 * UInt64(slicesPerTurn) * slice))))
        self.iterationNanoseconds = max(one, other)
    }

    /// How long the slices of a block's side take, in nanoseconds.
    var blockNanoseconds: UInt64 {
        iterationNanoseconds * iterationCount * UInt64(slicesPerTurn) * UInt64(roundCount)
    }
}
