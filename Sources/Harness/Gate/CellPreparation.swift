import Measurement
import RandomAccess
package import Results
import Statistics
import SubjectProtocol

/// Correctness before speed: makes a cell's object, and compares both sides' digests with what they must be.
struct CellPreparation {
    /// The processes that all cells are compared in.
    let pair: ProcessPair
    let store: ObjectStore
    let settings: GateSettings
    /// Whether objects are served; `nil` where the sides decide.
    var isServed: Bool?

    private var sides: SidePair { pair.sides }

    enum Outcome {
        case ready(PreparedCell)
        /// A side cannot do it.
        case notCompared(String)
        /// A side delivered wrong bytes.
        case wrong(String)
        /// A side failed at it.
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
                    : "a side only reads files, and the object is none")
        }
        let found: [Finding]
        do throws(SideFailure) {
            found = try twice { () throws(SideFailure) in try examine(object, workload, isServed) }
        } catch {
            switch error {
            case .unsupported(let role, let reason):
                return .notCompared("the \(role.rawValue) does not support it: \(reason)")
            case .failed(let role, let reason): return .failed("the \(role.rawValue) failed: \(reason)")
            case .machine(let error): throw .io(error)
            case .interrupted: throw .interrupted
            }
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

    /// Prepares the control beside a cell: the baseline, and a copy of it whose object is longer by a known part.
    ///
    /// Both read from start to end, with as many windows and chunks, so that the bytes alone make the difference; by
    /// the cell's format and window, and at most 4 MiB.
    func prepareControl(beside cell: PreparedCell, share: Double) throws(GateError) -> Outcome {
        var (plain, longer) = (cell.cell, cell.cell)
        (plain.workload, plain.readCount) = ("sequential", nil)
        plain.objectByteCount = PlantedLength.byteCount(for: plain, delivered: cell.byteCount)
        longer = plain
        longer.objectByteCount = PlantedLength.longer(plain.objectByteCount, by: share)
        let copies = CellPreparation(
            pair: pair.copies, store: store, settings: settings, isServed: cell.isServed)
        let name = "control: \(GateResult.percent(share)) planted"
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

    /// The findings of the baseline and the candidate.
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
        // The fastest, or the mean by a clock whose ticks are longer than an iteration.
        let fastest = times.min() ?? 0
        let nanoseconds = fastest > 0 ? fastest : times.reduce(0, +) / UInt64(times.count)
        return Finding(digest: digest, byteCount: byteCount, nanoseconds: nanoseconds)
    }

    /// Says who delivered what instead of the right bytes; `nil` if neither did.
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

/// Runs a step again, once, if a side failed at it.
func twice<Value>(_ body: () throws(SideFailure) -> Value) throws(SideFailure) -> Value {
    do throws(SideFailure) {
        return try body()
    } catch .failed {
        return try body()
    }
}

/// A cell that both sides did right, ready to be timed.
struct PreparedCell {
    let name: String
    let cell: Cell
    let object: MeasuredObject
    /// What the candidate reads instead, where it is a copy of the baseline with more to do.
    var largerObject: MeasuredObject?
    let workload: Workload
    /// What an iteration delivers.
    let byteCount: UInt64
    /// Whether both sides are served its ciphertext, since one of them does not read files.
    let isServed: Bool
    /// What a block is made of.
    let plan: SlicePlan
    /// How long an iteration took before, on the slower side.
    let iterationNanoseconds: UInt64

    /// How long a side's slices of a block take, in seconds.
    var blockSeconds: Double { Double(iterationNanoseconds) * Double(plan.iterationsPerSide) / 1e9 }
}

/// How long the objects of a control are.
package enum PlantedLength {
    /// The max length, before what is added for the last window.
    private static let max: UInt64 = 4 << 20
    /// The fewest bytes whose reading takes longer than asking for it.
    private static let min: UInt64 = 64 << 10

    /// The bytes of the shorter object, a multiple of 16: about what the cell delivers.
    ///
    /// Where windows or chunks are a large part of it, the last one is short: what is added has its place there, and no
    /// further read comes with it.
    package static func byteCount(for cell: Cell, delivered: UInt64) -> UInt64 {
        let wanted = Swift.min(max, Swift.max(min, delivered))
        let units = [cell.windowByteCount, cell.chunkByteCount ?? 0].filter { $0 > wanted / 31 }
        guard let longest = units.max(), let shortest = units.min(), longest <= wanted else { return wanted & ~15 }
        return (wanted / longest * longest + shortest / 16) & ~15
    }

    /// The bytes of an object that is longer by a part of one, to the next multiple of 16.
    package static func longer(_ byteCount: UInt64, by share: Double) -> UInt64 {
        (UInt64(Double(byteCount) * (1 + share)) + 15) & ~15
    }
}

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
    /// The max number of iterations of a slice, each of which is a number in an answer.
    private static let maxIterations: UInt64 = 2000
    /// From here on a slice is long, and always one iteration.
    private static let longSliceNanoseconds: UInt64 = 10_000_000
    /// From here on a block has one round.
    private static let oneRoundSliceNanoseconds: UInt64 = 500_000_000
    /// The max number of slices that a side has in a row.
    private static let maxSlicesPerTurn: UInt64 = 3
    /// The max number of rounds of a block.
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
        let slicesThatFit = longBlock / (4 * minimum * slice)
        let turn = slice < Self.longSliceNanoseconds ? 1 : min(Self.maxSlicesPerTurn, max(1, slicesThatFit))
        let block = turn > 1 ? longBlock : Self.shortBlockNanoseconds
        slicesPerTurn = Int(turn)
        roundCount = Int(min(Self.maxRounds, max(minimum, block / (4 * turn * slice))))
    }

    /// The iterations of a side in a block.
    package var iterationsPerSide: UInt64 { 2 * iterationCount * UInt64(slicesPerTurn) * UInt64(roundCount) }
}
