import CLinux
import Glibc
import Results
import Support

/// What this process uses, for a subject that reports on itself: finer than what can be seen from outside.
final class OwnUsage {
    private let instructions = chunkwise_perf_open(chunkwise_perf_instructions)
    private let cycles = chunkwise_perf_open(chunkwise_perf_cycles)
    private var start: ProcessUsage?
    /// What was used between starts and stops.
    private(set) var total: ProcessUsage?

    /// `RUSAGE_SELF`, whose type differs between C libraries.
    private static let thisProcess: Int32 = 0

    deinit {
        if instructions >= 0 { close(instructions) }
        if cycles >= 0 { close(cycles) }
    }

    /// Begins to count.
    func begin() {
        start = now
    }

    /// Adds what was used since ``begin()``.
    func end() {
        guard let start else { return }
        let used = now - start
        total = total.map { $0 + used } ?? used
        self.start = nil
    }

    /// The corresponding C function is `getrusage`.
    private var now: ProcessUsage {
        var usage = rusage()
        getrusage(Self.thisProcess, &usage)
        func nanoseconds(_ time: timeval) -> UInt64 {
            UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_usec) * 1000
        }
        return ProcessUsage(
            userNanoseconds: nanoseconds(usage.ru_utime), systemNanoseconds: nanoseconds(usage.ru_stime),
            minorFaults: UInt64(clamping: usage.ru_minflt), majorFaults: UInt64(clamping: usage.ru_majflt),
            voluntarySwitches: UInt64(clamping: usage.ru_nvcsw), involuntarySwitches: UInt64(clamping: usage.ru_nivcsw),
            instructions: Self.read(instructions), cycles: Self.read(cycles))
    }

    private static func read(_ descriptor: Int32) -> UInt64? {
        var value: UInt64 = 0
        return chunkwise_perf_read(descriptor, &value) ? value : nil
    }
}

extension ProcessUsage {
    /// The member `usage` of an answer.
    var json: JSONValue {
        [
            "userNanoseconds": .integer(userNanoseconds), "systemNanoseconds": .integer(systemNanoseconds),
            "minorFaults": .integer(minorFaults), "majorFaults": .integer(majorFaults),
            "voluntarySwitches": JSONValue(voluntarySwitches), "involuntarySwitches": JSONValue(involuntarySwitches),
            "instructions": JSONValue(instructions), "cycles": JSONValue(cycles),
        ]
    }

    /// Reads the member `usage` of an answer; `nil` if it is none.
    init?(_ json: JSONValue?) {
        guard let user = json?["userNanoseconds"]?.integer, let system = json?["systemNanoseconds"]?.integer,
            let minor = json?["minorFaults"]?.integer, let major = json?["majorFaults"]?.integer
        else { return nil }
        self.init(
            userNanoseconds: user, systemNanoseconds: system, minorFaults: minor, majorFaults: major,
            voluntarySwitches: json?["voluntarySwitches"]?.integer,
            involuntarySwitches: json?["involuntarySwitches"]?.integer,
            instructions: json?["instructions"]?.integer, cycles: json?["cycles"]?.integer)
    }
}
