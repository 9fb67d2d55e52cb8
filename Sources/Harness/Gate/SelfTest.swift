import CLinux
import Glibc
package import RandomAccess
package import Results
import Statistics
import Synchronization

/// Measures the gate itself on this machine, by complete runs whose right answer is known.
package struct SelfTest {
    private let settings: SelfTestSettings
    private let header: SelfTestHeader
    private let encryption: any CipherBackend
    private let log: SelfTestLog?
    private let progress: (String) -> Void
    private let shouldStop: () -> Bool

    /// A self-test that has not started any process yet.
    ///
    /// - Parameters:
    ///   - settings: The runs and their number.
    ///   - header: The first record of the file.
    ///   - encryption: The backend that encrypts the objects.
    ///   - log: The file, which may already hold a part of this self-test; `nil` if there is no file.
    ///   - progress: Called with messages for the user.
    ///   - shouldStop: Called repeatedly; `true` stops the self-test.
    package init(
        _ settings: SelfTestSettings, header: SelfTestHeader, encryption: any CipherBackend, log: SelfTestLog?,
        progress: @escaping (String) -> Void, shouldStop: @escaping () -> Bool
    ) {
        self.settings = settings
        self.header = header
        self.encryption = encryption
        self.log = log
        self.progress = progress
        self.shouldStop = shouldStop
    }

    /// Runs the self-test, or its missing part.
    ///
    /// - Returns: All records, including those of earlier parts, and whether the self-test is complete.
    /// - Throws: `GateError`; `.badFile` if the file belongs to another self-test.
    package func run() throws(GateError) -> (records: [SelfTestRecord], isComplete: Bool) {
        let busy = settings.isBusy ? BusyCores() : nil
        if let busy, busy.threadCount == 0 { throw .noOtherCore }
        defer { withExtendedLifetime(busy) {} }
        var records = log?.earlierRecords ?? []
        if case .header(let earlier)? = records.first {
            if let difference = earlier.difference(from: header) {
                throw .badFile("the file belongs to another self-test: \(difference); expected the same, or a new file")
            }
        } else {
            try keep(.header(header), in: &records)
        }
        // A later part of a self-test gets other seeds.
        var seeds = SplitMix64(seed: header.seed &+ UInt64(records.count - 1))
        do throws(GateError) {
            var calibration: SelfTestCalibration?
            if !settings.slowdowns.isEmpty, missing(in: records).contains(where: { $0 > 0 }) {
                let found = try calibrate(using: &seeds)
                try keep(.calibration(found), in: &records)
                calibration = found
            }
            // A round has each kind once, in random order, so that drift of the machine affects all kinds alike.
            while true {
                let round = Set(missing(in: records)).sorted().shuffled(using: &seeds)
                guard !round.isEmpty else { return (records, true) }
                for injected in round {
                    let run = try gate(injected, calibration, seed: seeds.next() >> 11, records: records)
                    try keep(.run(run), in: &records)
                }
            }
        } catch .interrupted {
            return (records, false)
        }
    }

    private func keep(_ record: SelfTestRecord, in records: inout [SelfTestRecord]) throws(GateError) {
        try log?.append(record)
        records.append(record)
    }

    /// Returns the remaining runs, by the slowdown that they inject.
    private func missing(in records: [SelfTestRecord]) -> [Double] {
        var left: [Double: Int] = [:]
        for kind in settings.kinds { left[kind] = settings.runCount }
        for case .run(let run) in records { left[run.injected, default: 0] -= 1 }
        return left.flatMap { Array(repeating: $0.key, count: max(0, $0.value)) }
    }

    private func gate(
        _ injected: Double, _ calibration: SelfTestCalibration?, seed: UInt64, records: [SelfTestRecord]
    ) throws(GateError) -> SelfTestRun {
        let extraWork = injected > 0 ? calibration?.extraWork(for: injected) ?? 0 : 0
        let done = records.count { if case .run = $0 { true } else { false } }
        let text = injected > 0 ? "\(injected) injected" : "nothing injected"
        var gate = settings.gate
        gate.seed = seed
        gate.candidate = candidate(extraWork)
        let result = try run(gate, "run \(done + 1) of \(done + missing(in: records).count), \(text)")
        return SelfTestRun(injected: injected, extraWork: extraWork, result: result)
    }

    /// Measures the slowdowns that two amounts of extra work cause.
    private func calibrate(using seeds: inout SplitMix64) throws(GateError) -> SelfTestCalibration {
        let large = try point(SelfTestCalibration.largeShare, seconds: 1, using: &seeds)
        let smallest = settings.slowdowns.min() ?? 0.01
        // It is measured for twice as long, since its relative error is larger.
        let share = (smallest / (large.slowdown - 1) * large.extraWork * 1e6).rounded() / 1e6
        let small = try point(min(share, large.extraWork / 2), seconds: 2, using: &seeds)
        return SelfTestCalibration(large: large, small: small)
    }

    /// Measures the slowdown of a share of extra work. The time is a multiple of the seconds of a cell, within bounds.
    /// A noisy machine gets three tries.
    private func point(
        _ extraWork: Double, seconds: Double, using seeds: inout SplitMix64
    ) throws(GateError) -> SelfTestCalibration.Point {
        var gate = settings.gate
        gate.candidate = candidate(extraWork)
        gate.secondsPerCell = seconds * min(max(gate.secondsPerCell, 2), 20)
        gate.isRecording = true
        var found: GateResult?
        for _ in 0..<3 {
            gate.seed = seeds.next() >> 11
            let result = try run(gate, "calibration with \(extraWork)")
            if let point = SelfTestCalibration.Point(result, extraWork: extraWork), point.isPlausible { return point }
            found = result
            // If there is surely no slowdown, another try does not help; noise may be lower the next time.
            let maximum = result.cells.compactMap(\.high).min() ?? .infinity
            guard result.verdict == .noisyHost || maximum - 1 > SelfTestCalibration.Point.minSlope * extraWork else {
                break
            }
        }
        let seen = found?.cells.map { "\($0.name) \($0.verdict.rawValue) \($0.slowdown ?? 1)" }.joined(separator: ", ")
        throw .cannotMeasure(
            side: .candidate, command: gate.candidate,
            reason:
                "no slowdown can be injected with it (\(seen ?? "nothing measured")): expected --extra-work to add its "
                + "share of time, as with chunkwise subject; or --slowdown none")
    }

    private func candidate(_ extraWork: Double) -> String {
        extraWork > 0 ? "\(settings.gate.baseline) --extra-work \(extraWork)" : settings.gate.baseline
    }

    private func run(_ gate: GateSettings, _ text: String) throws(GateError) -> GateResult {
        progress(text)
        return try GateRun(settings: gate, encryption: encryption, programVersion: header.programVersion)
            .run(progress: { progress("\(text): \($0)") }, shouldStop: shouldStop)
    }
}

extension SelfTestHeader {
    /// The header of a self-test; `baseline` is the name of the baseline.
    package init(
        settings: SelfTestSettings, baseline: String, programVersion: String, command: [String], startedAt: String,
        host: RunHeader.Host
    ) {
        self.init(
            programVersion: programVersion, command: command, startedAt: startedAt, host: host, baseline: baseline,
            cells: settings.gate.cells ?? [], tolerance: settings.gate.tolerance,
            confidence: settings.gate.confidence, secondsPerCell: settings.gate.secondsPerCell,
            isBusy: settings.isBusy, seed: settings.gate.seed)
    }
}

/// The settings of a self-test: the runs of a gate, and their number.
package struct SelfTestSettings: Sendable {
    /// The gate that is run repeatedly: baseline, cells, tolerance, seconds per cell, timeout. Its candidate and seed
    /// are ignored.
    package var gate: GateSettings
    /// The number of runs of each kind.
    package var runCount: Int
    /// The injected slowdowns: 0.03 for 3 %.
    package var slowdowns: [Double]
    /// True if there are also runs with nothing injected.
    package var includesUnchanged: Bool
    /// True if all other cores are kept busy.
    package var isBusy: Bool

    package init(
        gate: GateSettings, runCount: Int, slowdowns: [Double], includesUnchanged: Bool = true, isBusy: Bool = false
    ) {
        self.gate = gate
        self.runCount = runCount
        self.slowdowns = slowdowns
        self.includesUnchanged = includesUnchanged
        self.isBusy = isBusy
    }

    /// The kinds of runs: 0 for nothing injected, then the slowdowns.
    package var kinds: [Double] { (includesUnchanged ? [0] : []) + slowdowns }
}

/// Threads that spin until this object is deinitialized.
package final class BusyCores {
    private let isEnding = Flag()
    private var threads: [pthread_t] = []

    /// Starts one thread for each CPU but one. Each CPU that this process may not use (`taskset`) gets a thread pinned
    /// to it. The CPUs that the process may use get one thread less than there are CPUs. There may be fewer threads if
    /// the system refuses some.
    package init() {
        let maximum = chunkwise_cpu_count()
        let others = (0..<maximum).filter { !chunkwise_is_allowed($0) }
        for cpu in others { start(on: cpu) }
        for _ in 0..<max(0, Int(maximum) - others.count - 1) { start(on: -1) }
    }

    private func start(on cpu: Int32) {
        let flag = Unmanaged.passRetained(isEnding)
        var thread = pthread_t()
        if chunkwise_start_on(cpu, &thread, BusyCores.spin, flag.toOpaque()) {
            threads.append(thread)
        } else {
            flag.release()
        }
    }

    deinit {
        isEnding.value.store(true, ordering: .relaxed)
        for thread in threads { pthread_join(thread, nil) }
    }

    /// The number of running threads.
    package var threadCount: Int { threads.count }

    private static let spin: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
        guard let argument else { return nil }
        let flag = Unmanaged<Flag>.fromOpaque(argument).takeRetainedValue()
        while !flag.value.load(ordering: .relaxed) {}
        return nil
    }

    private final class Flag: Sendable {
        let value = Atomic<Bool>(false)
    }
}
