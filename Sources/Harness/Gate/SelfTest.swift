import CLinux
import Glibc
package import RandomAccess
package import Results
import Statistics
import Synchronization

/// Measures the gate itself on this machine, by whole runs of it whose right answer is known.
package struct SelfTest {
    private let settings: SelfTestSettings
    private let header: SelfTestHeader
    private let encryption: any CipherBackend
    private let log: SelfTestLog?
    private let progress: (String) -> Void
    private let shouldStop: () -> Bool

    /// Prepares a self-test; nothing is started yet.
    ///
    /// - Parameters:
    ///   - settings: What is run, and how often.
    ///   - header: What the file begins with.
    ///   - encryption: What encrypts the objects.
    ///   - log: The file, which may hold a part of this self-test already; `nil` if it is not kept.
    ///   - progress: Called with what comes, for a person who waits.
    ///   - shouldStop: Asked again and again.
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

    /// Runs it, or what of it is missing.
    ///
    /// - Returns: All records, those of earlier parts included, and whether it came to its end.
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
        // Seeds of a part that follows another one are others.
        var seeds = SplitMix64(seed: header.seed &+ UInt64(records.count - 1))
        do throws(GateError) {
            var calibration: SelfTestCalibration?
            if !settings.slowdowns.isEmpty, missing(in: records).contains(where: { $0 > 0 }) {
                let found = try calibrate(using: &seeds)
                try keep(.calibration(found), in: &records)
                calibration = found
            }
            // A round holds each kind once, in random order, so that drift of the machine hits all alike.
            while true {
                let round = Set(missing(in: records)).sorted().shuffled(using: &seeds)
                guard !round.isEmpty else { return (records, true) }
                for planted in round {
                    let run = try gate(planted, calibration, seed: seeds.next() >> 11, records: records)
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

    /// The runs that are still to be made, by what they plant.
    private func missing(in records: [SelfTestRecord]) -> [Double] {
        var left: [Double: Int] = [:]
        for kind in settings.kinds { left[kind] = settings.runCount }
        for case .run(let run) in records { left[run.planted, default: 0] -= 1 }
        return left.flatMap { Array(repeating: $0.key, count: max(0, $0.value)) }
    }

    private func gate(
        _ planted: Double, _ calibration: SelfTestCalibration?, seed: UInt64, records: [SelfTestRecord]
    ) throws(GateError) -> SelfTestRun {
        let extraWork = planted > 0 ? calibration?.extraWork(for: planted) ?? 0 : 0
        let done = records.count { if case .run = $0 { true } else { false } }
        let text = planted > 0 ? "\(planted) planted" : "nothing planted"
        var gate = settings.gate
        gate.seed = seed
        gate.candidate = candidate(extraWork)
        let result = try run(gate, "run \(done + 1) of \(done + missing(in: records).count), \(text)")
        return SelfTestRun(planted: planted, extraWork: extraWork, result: result)
    }

    /// Measures how much work makes how much of a slowdown.
    private func calibrate(using seeds: inout SplitMix64) throws(GateError) -> SelfTestCalibration {
        let large = try point(SelfTestCalibration.largeShare, seconds: 1, using: &seeds)
        let smallest = settings.slowdowns.min() ?? 0.01
        // Twice as long, as its error is a larger part of what it is used for.
        let share = (smallest / (large.slowdown - 1) * large.extraWork * 1e6).rounded() / 1e6
        let small = try point(min(share, large.extraWork / 2), seconds: 2, using: &seeds)
        return SelfTestCalibration(large: large, small: small)
    }

    /// Measures a share of extra work, for some times the seconds of a cell, within bounds; a noisy machine
    /// gets three tries.
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
            // What is surely no slowdown stays none; noise may be less the next time.
            let maximum = result.cells.compactMap(\.high).min() ?? .infinity
            guard result.verdict == .noisyHost || maximum - 1 > SelfTestCalibration.Point.minSlope * extraWork else {
                break
            }
        }
        let seen = found?.cells.map { "\($0.name) \($0.verdict.rawValue) \($0.slowdown ?? 1)" }.joined(separator: ", ")
        throw .cannotMeasure(
            side: .candidate, command: gate.candidate,
            reason:
                "no slowdown can be planted with it (\(seen ?? "nothing measured")): expected --extra-work to add its "
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
    /// Describes a self-test; `baseline` is what the baseline is called.
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

/// How a gate is measured: which whole runs of it, how often.
package struct SelfTestSettings: Sendable {
    /// The gate that is run again and again: baseline, cells, tolerance, seconds a cell, timeout. Its candidate and seed
    /// mean nothing here.
    package var gate: GateSettings
    /// How often each kind of run is made.
    package var runCount: Int
    /// The slowdowns that are planted: 0.03 for 3 %.
    package var slowdowns: [Double]
    /// Whether there are runs with nothing planted too.
    package var includesUnchanged: Bool
    /// Whether all other cores are kept busy.
    package var isBusy: Bool

    /// Creates settings.
    package init(
        gate: GateSettings, runCount: Int, slowdowns: [Double], includesUnchanged: Bool = true, isBusy: Bool = false
    ) {
        self.gate = gate
        self.runCount = runCount
        self.slowdowns = slowdowns
        self.includesUnchanged = includesUnchanged
        self.isBusy = isBusy
    }

    /// The kinds of runs: 0 for nothing planted, then the slowdowns.
    package var kinds: [Double] { (includesUnchanged ? [0] : []) + slowdowns }
}

/// Threads that do nothing, as fast as they can, until they are let go.
package final class BusyCores {
    private let isEnding = Flag()
    private var threads: [pthread_t] = []

    /// Starts a thread for each CPU but one: a CPU that this process is kept from (`taskset`) gets its own, and those
    /// that it shares get one less than there are. Where the system gives fewer, there are fewer.
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

    /// How many threads there are.
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
