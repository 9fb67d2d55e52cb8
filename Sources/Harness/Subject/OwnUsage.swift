import CLinux
import Glibc

/// What this process uses, for a subject that reports on itself: finer than what can be seen from outside.
final class OwnUsage {
    private let instructions = chunkwise_perf_open(chunkwise_perf_instructions)
    private let cycles = chunkwise_perf_open(chunkwise_perf_cycles)
    private var start: [String: UInt64]?
    /// What was used between starts and stops: the member `usage` of an answer; counters that the kernel does not have
    /// are not in it.
    private(set) var total: [String: UInt64]?

    /// `RUSAGE_SELF`, whose type differs between C libraries.
    private static let thisProcess: Int32 = 0

    deinit {
        if instructions >= 0 { close(instructions) }
        if cycles >= 0 { close(cycles) }
    }

    /// Forgets what was counted.
    func reset() {
        total = nil
    }

    /// Begins to count.
    func begin() {
        start = now
    }

    /// Adds what was used since ``begin()``.
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
