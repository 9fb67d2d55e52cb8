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
    /// What a block is made of.
    let plan: SlicePlan
    /// How long an iteration took before, on the slower side.
    let iterationNanoseconds: UInt64

    /// How long a side's slices of a block take, in seconds.
    var blockSeconds: Double { Double(iterationNanoseconds) * Double(plan.iterationsPerSide) / 1e9 }
}
