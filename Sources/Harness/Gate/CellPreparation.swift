import Measurement
import RandomAccess
package import Results
import Statistics
import SubjectProtocol

/// Checks correctness before speed: creates a cell's object, and compares the digests of both sides with the expected
/// one.
struct CellPreparation {
    /// The processes in which all cells are compared.
    let pair: ProcessPair
    let store: ObjectStore
    let settings: GateSettings
    /// True if objects are served, false if sides read them from files; `nil` if the sides decide.
    var isServed: Bool?

    private var sides: SidePair { pair.sides }

    enum Outcome {
        case ready(PreparedCell)
        /// A side does not support it.
        case notCompared(String)
        /// A side delivered wrong bytes.
        case wrong(String)
        /// A side failed.
        case failed(String)
    }

    func prepare(_ cell: Cell, name: String) throws(GateError) -> Outcome {
        let kind = ObjectKind(of: cell)
        if cell.isCold == true || cell.remoteLatencyNanoseconds != nil || kind?.isServed == true
            || kind?.isDirect == true
        {
            return .notCompared(
                "cold files, direct reads, servers and simulated remote stores are beyond the subject protocol")
        }
        for side in sides.both {
            guard store.isOffered(cell, by: side.strategies) else {
                return .notCompared("the \(side.role.rawValue) has no strategy \(cell.format)")
            }
            guard side.keyByteCounts.contains(cell.keyByteCount) else {
                return .notCompared("the \(side.role.rawValue) takes no keys of \(cell.keyByteCount * 8) bits")
            }
        }
        let object: MeasuredObject
        let workload: Workload
        let reads: ReadList
        let expected: String
        do {
            object = try store.object(for: cell)
            workload = try cell.workload(seed: settings.seed, traces: settings.traces)
            reads = try workload.starting(atDraw: workload.checkedDraw)
                .reads(plaintextByteCount: object.plaintextByteCount)
            expected = try store.expectedDigest(of: object, cell: cell, reads: reads)
        } catch {
            throw .io(error)
        }
        guard reads.totalByteCount > 0 else { return .notCompared("its workload delivers no bytes") }
        guard let isServed = isServed ?? sides.isServed(object) else {
            return .notCompared(
                object.isFile
                    ? "one side only reads files, and the other only what it is served"
                    : "a side only reads files, and the object is not a file")
        }
        let found: [Finding]
        do throws(SideFailure) {
            found = try twice { () throws(SideFailure) in try examine(object, workload, isServed) }
        } catch {
            let (role, reason) = try error.ofSide()
            if case .unsupported = error {
                return .notCompared("the \(role.rawValue) does not support it: \(reason)")
            }
            return .failed("the \(role.rawValue) failed: \(reason)")
        }
        let isRight = found.map { $0.digest == expected && $0.byteCount == reads.totalByteCount }
        if let reason = Self.mismatch(found, isRight, expected: expected, byteCount: reads.totalByteCount) {
            return .wrong(reason)
        }
        let (one, other) = (found[0].nanoseconds, found[1].nanoseconds)
        let plan = SlicePlan(iterationNanoseconds: one / 2 + other / 2, secondsPerCell: settings.secondsPerCell)
        return .ready(
            PreparedCell(
                name: name, cell: cell, object: object, workload: workload, byteCount: reads.totalByteCount,
                isServed: isServed, plan: plan, iterationNanoseconds: max(one, other)))
    }

    /// Prepares a control with the format and window of a cell: the baseline, and a copy of it whose object is longer
    /// by a known share.
    ///
    /// Both read sequentially with the same number of windows and chunks, so that only the bytes make the difference.
    /// The shorter object has at most about 4 MiB.
    func prepareControl(beside cell: PreparedCell, share: Double) throws(GateError) -> Outcome {
        var (plain, longer) = (cell.cell, cell.cell)
        (plain.workload, plain.readCount) = ("sequential", nil)
        plain.objectByteCount = InjectedLength.byteCount(for: plain, delivered: cell.byteCount)
        longer = plain
        longer.objectByteCount = InjectedLength.longer(plain.objectByteCount, by: share)
        let copies = CellPreparation(
            pair: pair.copies, store: store, settings: settings, isServed: cell.isServed)
        let name = "control: \(GateResult.percent(share)) injected"
        let outcomes = [try copies.prepare(plain, name: name), try copies.prepare(longer, name: name)]
        guard case .ready(var control) = outcomes[0], case .ready(let other) = outcomes[1] else {
            return outcomes.first { if case .ready = $0 { false } else { true } } ?? outcomes[0]
        }
        control.largerObject = other.object
        return .ready(control)
    }

    private struct Finding {
        let digest: String
        let byteCount: UInt64
        let nanoseconds: UInt64
    }

    /// Returns the findings of the baseline and the candidate.
    private func examine(
        _ object: MeasuredObject, _ workload: Workload, _ isServed: Bool
    ) throws(SideFailure) -> [Finding] {
        var generator = SplitMix64(seed: settings.seed)
        return try pair.run(using: &generator) { (first, second) throws(SideFailure) in
            let inOrder = first.role == .baseline ? [first, second] : [second, first]
            var found: [Finding] = []
            for process in inOrder { found.append(try examine(process, object, workload, isServed)) }
            return found
        }
    }

    private func examine(
        _ process: SideProcess, _ object: MeasuredObject, _ workload: Workload, _ isServed: Bool
    ) throws(SideFailure) -> Finding {
        try process.open(object, isServed: isServed)
        let (digest, byteCount) = try process.digest(workload.starting(atDraw: workload.checkedDraw))
        let times = try process.time(workload, iterationCount: 10, atMostNanoseconds: 3_000_000)
        try process.close()
        // If the clock's ticks are longer than an iteration, the minimum is 0 and the mean is used.
        let fastest = times.min() ?? 0
        let nanoseconds = fastest > 0 ? fastest : times.reduce(0, +) / UInt64(times.count)
        return Finding(digest: digest, byteCount: byteCount, nanoseconds: nanoseconds)
    }

    /// Returns an error that names the side that delivered wrong bytes, with those bytes; `nil` if both are right.
    private static func mismatch(
        _ found: [Finding], _ isRight: [Bool], expected: String, byteCount: UInt64
    ) -> String? {
        let what = found.map { "\($0.byteCount) bytes with SHA-256 \($0.digest.prefix(16))…" }
        let right = "expected \(byteCount) with \(expected.prefix(16))…"
        switch (isRight[0], isRight[1]) {
        case (true, true): return nil
        case (true, false): return "the candidate delivered wrong plaintext: \(what[1]): \(right)"
        case (false, true): return "the baseline delivered wrong plaintext: \(what[0]): \(right)"
        case (false, false):
            return "both sides delivered wrong plaintext: baseline \(what[0]), candidate \(what[1]): \(right)"
        }
    }
}

/// Runs a step, and runs it once more if a side failed.
func twice<Value>(_ body: () throws(SideFailure) -> Value) throws(SideFailure) -> Value {
    do throws(SideFailure) {
        return try body()
    } catch .failed {
        return try body()
    }
}

/// A cell that both sides read correctly, ready to be timed.
struct PreparedCell {
    let name: String
    let cell: Cell
    let object: MeasuredObject
    /// The object that the candidate reads instead, if the candidate is a copy of the baseline with more work.
    var largerObject: MeasuredObject?
    let workload: Workload
    /// The plaintext bytes that an iteration delivers.
    let byteCount: UInt64
    /// True if the ciphertext is served to both sides, since at least one of them does not read files.
    let isServed: Bool
    /// The structure of a block.
    let plan: SlicePlan
    /// The duration of an iteration in the preparation, on the slower side.
    let iterationNanoseconds: UInt64

    /// The duration of one side's slices of a block, in seconds.
    var blockSeconds: Double { Double(iterationNanoseconds) * Double(plan.iterationsPerSide) / 1e9 }
}

/// The lengths of the objects of a control.
package enum InjectedLength {
    /// The maximum length, before the addition for the last window.
    private static let max: UInt64 = 4 << 20
    /// The minimum length for which reading takes longer than the request.
    private static let min: UInt64 = 64 << 10

    /// Returns the length of the shorter object, a multiple of 16: about the bytes that the cell delivers.
    ///
    /// If windows or chunks are a large part of the object, the last one is left short. The added bytes then fit into
    /// it and cause no further read.
    package static func byteCount(for cell: Cell, delivered: UInt64) -> UInt64 {
        let wanted = Swift.min(max, Swift.max(min, delivered))
        let units = [cell.windowByteCount, cell.chunkByteCount ?? 0].filter { $0 > wanted / 31 }
        guard let longest = units.max(), let shortest = units.min(), longest <= wanted else { return wanted & ~15 }
        return (wanted / longest * longest + shortest / 16) & ~15
    }

    /// Returns a length increased by a share, rounded up to a multiple of 16.
    package static func longer(_ byteCount: UInt64, by share: Double) -> UInt64 {
        (UInt64(Double(byteCount) * (1 + share)) + 15) & ~15
    }
}

/// The division of a block's time: iterations into slices, slices into turns, turns into rounds.
///
/// Disturbances of a machine last for milliseconds. In the same time, many short slices therefore tell more than few
/// long ones, until the cost of a request dominates. The start of a block's processes takes time, too, whatever they do
/// then.
package struct SlicePlan: Hashable, Sendable {
    /// The iterations of a slice.
    package let iterationCount: UInt64
    /// The number of consecutive slices in a side's turn.
    package let slicesPerTurn: Int
    /// The rounds of a block.
    package let roundCount: Int

    /// The target duration of a slice.
    private static let sliceNanoseconds: UInt64 = 500_000
    /// The maximum number of iterations in a slice. Each of them is a number in an answer.
    private static let maxIterations: UInt64 = 2000
    /// From this duration on, a slice is long and has one iteration.
    private static let longSliceNanoseconds: UInt64 = 10_000_000
    /// From this duration of a slice on, a block has one round.
    private static let oneRoundSliceNanoseconds: UInt64 = 500_000_000
    /// The maximum number of consecutive slices of a side.
    private static let maxSlicesPerTurn: UInt64 = 3
    /// The maximum number of rounds in a block.
    private static let maxRounds: UInt64 = 32
    /// The target duration of a block with short slices. It limits the number of rounds, but not below two, or below
    /// one for the longest slices.
    private static let shortBlockNanoseconds: UInt64 = 128_000_000
    /// The target duration of a block with long slices, in seconds. The start of its processes, with large buffers,
    /// should take less than that.
    private static let longBlockSeconds = 0.75
    /// The minimum number of such blocks in a phase, not counting the start of their processes.
    private static let fewestLongBlocks = 16.0

    /// Plans blocks.
    ///
    /// - Parameters:
    ///   - iterationNanoseconds: The mean duration of an iteration on both sides.
    ///   - secondsPerCell: The duration of a phase in seconds, 0 or more.
    package init(iterationNanoseconds: UInt64, secondsPerCell: Double) {
        let iteration = min(max(1, iterationNanoseconds), SideProcess.longestIteration)
        iterationCount = min(Self.maxIterations, max(1, Self.sliceNanoseconds / iteration))
        let slice = iterationCount * iteration
        let minimum: UInt64 = slice < Self.oneRoundSliceNanoseconds ? 2 : 1
        let longBlock = UInt64(min(Self.longBlockSeconds, secondsPerCell / Self.fewestLongBlocks) * 1e9)
        // A subject may allocate new buffers for each request. For long slices they cost as much as the slices
        // themselves, so a turn has as many slices as fit into the shortest block.
        let slicesThatFit = longBlock / (4 * minimum * slice)
        let turn = slice < Self.longSliceNanoseconds ? 1 : min(Self.maxSlicesPerTurn, max(1, slicesThatFit))
        let block = turn > 1 ? longBlock : Self.shortBlockNanoseconds
        slicesPerTurn = Int(turn)
        roundCount = Int(min(Self.maxRounds, max(minimum, block / (4 * turn * slice))))
    }

    /// The iterations of a side in a block.
    package var iterationsPerSide: UInt64 { 2 * iterationCount * UInt64(slicesPerTurn) * UInt64(roundCount) }
}
