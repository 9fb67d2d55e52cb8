import ByteSources
import RandomAccess
import Results
import Support

/// An estimate of a sweep's duration, good enough to decide whether to wait for it.
package struct SweepEstimate: Hashable, Sendable {
    /// The number of processes, without those that a precision may add.
    package let processCount: Int
    /// The total duration in nanoseconds.
    package let nanoseconds: UInt64

    /// The time of a process's start, end and requests, measured with a release build on two cores.
    private static let processSeconds = 0.04
    /// The rates of SHA-256 with CPU instructions, and of writing objects, in bytes per second.
    private static let digestRate = 1.0e9
    private static let writeRate = 0.6e9
    /// The rates of reads from the page cache, and from a disk, in bytes per second.
    private static let cachedRate = 8.0e9
    private static let coldRate = 1.0e9

    /// The steps in order, one process each.
    package let steps: [SweepStep]
    /// The duration of each step in seconds.
    package let stepSeconds: [Double]

    /// Estimates a plan.
    ///
    /// - Parameters:
    ///   - plan: The plan.
    ///   - bytesPerSecond: Returns the rate at which a backend decrypts, with or without tags; more than 0.
    package init(_ plan: Plan, bytesPerSecond: (_ backend: String, _ hasTags: Bool) -> Double) {
        var objects: Set<String> = []
        steps = SweepStep.all(of: plan)
        stepSeconds = steps.map { step in
            let cell = step.cell
            let hasTags = plan.strategies[cell.strategy]?.isAuthenticated == true
            let rate = max(1, bytesPerSecond(cell.backend, hasTags))
            let iteration = Self.iteration(cell, rate, hasTags: hasTags)
            let isSlow = !cell.isLocal
            let warmUp =
                isSlow
                ? min(iteration, Double(8 << 20) / rate + Self.remote(cell, requests: 8, byteCount: 8_388_608))
                : iteration
            switch step.pass {
            case .check:
                let delivered = Double(Self.readCount(cell)) * Double(Self.readByteCount(cell))
                var seconds = Self.processSeconds + iteration + delivered / Self.digestRate
                let object = "\(cell.strategy) \(cell.keyByteCount) \(cell.objectByteCount)"
                if ObjectKind(of: cell)?.isFile == true, objects.insert(object).inserted {
                    // The object is made once, and digested once for each new workload.
                    seconds += Double(cell.objectByteCount) / Self.writeRate + delivered / Self.digestRate
                }
                return seconds
            case .memory:
                return Self.processSeconds + iteration
            case .latencies:
                // Adds whole iterations, and 32 first bytes or 2 s of them.
                let first =
                    32
                    * (Self.remote(cell, requests: 2, byteCount: 0) + iteration / Double(max(1, Self.readCount(cell))))
                let whole = isSlow ? 0 : min(max(iteration, 0.05), 3 * iteration)
                return Self.processSeconds + warmUp + min(max(iteration, 0.2), 16 * iteration) + whole + min(2, first)
            case .time(let round):
                // Added rounds are not known in advance.
                guard round < step.plannedRounds else { return 0 }
                let settling = SettlingTime(forMinimum: plan.roundNanoseconds)
                return Self.processSeconds + warmUp + Double(settling.nanoseconds) / 1e9
                    + max(iteration, Double(plan.roundNanoseconds) / 1e9)
            }
        }
        processCount = steps.count { step in
            if case .time(let round) = step.pass { round < step.plannedRounds } else { true }
        }
        nanoseconds = UInt64(min(stepSeconds.reduce(0, +), 1e9) * 1e9)
    }

    /// The seconds of one iteration.
    private static func iteration(_ cell: Cell, _ rate: Double, hasTags: Bool) -> Double {
        let reads = Double(readCount(cell))
        var fetched = Double(readByteCount(cell))
        if cell.access.readsWholeChunks, cell.workload != CellWorkload.sequential.description {
            // Assumes that no chunk is read twice.
            fetched = max(fetched, Double(min(cell.chunkByteCount ?? cell.windowByteCount, cell.objectByteCount)))
        }
        if hasTags, cell.workload != CellWorkload.sequential.description {
            // On average, a range touches almost one chunk more than it fills.
            fetched += Double(min(cell.chunkByteCount ?? 0, cell.objectByteCount))
        }
        let byteCount = reads * fetched
        let sourceRate = cell.isCold == true || ObjectKind(of: cell)?.isDirect == true ? coldRate : cachedRate
        return byteCount / rate + byteCount / sourceRate
            + remote(
                cell, requests: reads * max(1, fetched / Double(max(1, cell.windowByteCount))), byteCount: byteCount)
    }

    private static func remote(_ cell: Cell, requests: Double, byteCount: Double) -> Double {
        guard let latency = cell.remoteLatencyNanoseconds else { return 0 }
        if cell.remoteClient == RemoteClient.chunkwise.rawValue, CellWorkload(cell.workload) == .sequential {
            // With read-ahead, there is almost no waiting.
            return 3 * Double(latency) / 1e9 + byteCount / Double(cell.remoteBytesPerSecond ?? .max)
        }
        return requests * Double(latency) / 1e9 + byteCount / Double(cell.remoteBytesPerSecond ?? .max)
    }

    private static func readCount(_ cell: Cell) -> UInt64 {
        cell.readCount.map { UInt64(max(0, $0)) }
            ?? (cell.objectByteCount + cell.windowByteCount - 1) / max(1, cell.windowByteCount)
    }

    private static func readByteCount(_ cell: Cell) -> UInt64 {
        if let rangeByteCount = cell.rangeByteCount { return rangeByteCount }
        return min(cell.windowByteCount, cell.objectByteCount)
    }
}

extension SweepEstimate: CustomStringConvertible {
    /// The estimate in words: `412 processes, about 3 min 20 s`.
    package var description: String {
        let seconds = (nanoseconds + 999_999_999) / 1_000_000_000
        let time =
            seconds < 60
            ? "\(seconds) s"
            : seconds < 3600 ? "\(seconds / 60) min \(seconds % 60) s" : "\(seconds / 3600) h \(seconds / 60 % 60) min"
        return "\(processCount) processes, about \(time)"
    }
}
