import CLinux
import Glibc

/// The resources that this process uses, measured by itself: more exact than a measurement from outside.
final class OwnUsage {
    private let instructions = chunkwise_perf_open(chunkwise_perf_instructions)
    private let cycles = chunkwise_perf_open(chunkwise_perf_cycles)
    private var start: [String: UInt64]?
    /// The usage between calls of ``begin()`` and ``end()``: the member `usage` of an answer. It lacks the counters
    /// that the kernel does not have.
    private(set) var total: [String: UInt64]?

    /// `RUSAGE_SELF`, whose type differs between C libraries.
    private static let thisProcess: Int32 = 0

    deinit {
        if instructions >= 0 { close(instructions) }
        if cycles >= 0 { close(cycles) }
    }

    /// Resets the count.
    func reset() {
        total = nil
    }

    /// Starts counting.
    func begin() {
        start = now
    }

    /// Adds the usage since ``begin()``.
    func end() {
        guard let start else { return }
        let earlier = total ?? [:]
        total = now.reduce(into: [:]) { sums, figure in
            guard let before = start[figure.key] else { return }
            sums[figure.key] = (earlier[figure.key] ?? 0) &+ (figure.value > before ? figure.value - before : 0)
        }
        self.start = nil
    }

    /// The corresponding C function is `getrusage`.
    private var now: [String: UInt64] {
        var usage = rusage()
        getrusage(Self.thisProcess, &usage)
        func nanoseconds(_ time: timeval) -> UInt64 {
            UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_usec) * 1000
        }
        var figures = [
            "userNanoseconds": nanoseconds(usage.ru_utime), "systemNanoseconds": nanoseconds(usage.ru_stime),
            "minorFaults": UInt64(clamping: usage.ru_minflt), "majorFaults": UInt64(clamping: usage.ru_majflt),
            "voluntarySwitches": UInt64(clamping: usage.ru_nvcsw),
            "involuntarySwitches": UInt64(clamping: usage.ru_nivcsw),
        ]
        figures["instructions"] = Self.read(instructions)
        figures["cycles"] = Self.read(cycles)
        return figures
    }

    private static func read(_ descriptor: Int32) -> UInt64? {
        var value: UInt64 = 0
        return chunkwise_perf_read(descriptor, &value) ? value : nil
    }
}
