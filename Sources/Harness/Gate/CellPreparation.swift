import Measurement
import RandomAccess
import Results
import SubjectProtocol

/// Correctness before speed: makes a cell's object, and compares both sides' digests with what they must be.
struct CellPreparation {
    let sides: SidePair
    let store: ObjectStore
    let settings: GateSettings
    let shouldStop: () -> Bool

    enum Outcome {
        case ready(PreparedCell)
        /// A side cannot do it.
        case notCompared(String)
        /// A side did it wrong, or failed at it.
        case wrong(String)
    }

    func prepare(_ cell: Cell, name: String) throws(GateError) -> Outcome {
        if cell.isCold == true || cell.remoteLatencyNanoseconds != nil || ObjectKind(of: cell)?.isServed == true {
            return .notCompared("cold files, servers and simulated remote stores are beyond the subject protocol")
        }
        for side in sides.both {
            guard side.strategies.contains(cell.strategy) else {
                return .notCompared("the \(side.role.rawValue) has no strategy \(cell.strategy)")
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
            reads = try workload.reads(plaintextByteCount: object.plaintextByteCount)
            expected = try store.expectedDigest(of: object, cell: cell, reads: reads)
        } catch {
            throw .io(error)
        }
        guard reads.totalByteCount > 0 else { return .notCompared("its workload delivers no bytes") }
        guard let isServed = sides.isServed(object) else {
            return .notCompared(
                object.isFile
                    ? "one side only reads files, and the other only what it is served"
                    : "a side only reads files, and the object is none")
        }
        var found: [Finding] = []
        for side in sides.both {
            do throws(SideFailure) {
                found.append(try twice { () throws(SideFailure) in try examine(side, object, workload, isServed) })
            } catch {
                switch error {
                case .unsupported(let role, let reason):
                    return .notCompared("the \(role.rawValue) does not support it: \(reason)")
                case .failed(let role, let reason): return .wrong("the \(role.rawValue) failed: \(reason)")
                case .machine(let error): throw .io(error)
                case .interrupted: throw .interrupted
                }
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
                name: name, cell: cell, object: object, workload: workload, isServed: isServed, plan: plan,
                iterationNanoseconds: max(one, other)))
    }

    private struct Finding {
        let digest: String
        let byteCount: UInt64
        let nanoseconds: UInt64
    }

    private func examine(
        _ side: GateSide, _ object: MeasuredObject, _ workload: Workload, _ isServed: Bool
    ) throws(SideFailure) -> Finding {
        let process = try SideProcess(side, timeout: settings.timeout, shouldStop: shouldStop)
        try process.greet()
        try process.open(object, isServed: isServed)
        let (digest, byteCount) = try process.digest(workload)
        let times = try process.time(workload, iterationCount: 10, atMostNanoseconds: 3_000_000)
        process.end()
        // The fastest, or the mean by a clock whose ticks are longer than an iteration.
        let fastest = times.min() ?? 0
        let nanoseconds = fastest > 0 ? fastest : times.reduce(0, +) / UInt64(times.count)
        return Finding(digest: digest, byteCount: byteCount, nanoseconds: nanoseconds)
    }

    /// Says who delivered what instead of the right bytes; `nil` if nobody did.
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
