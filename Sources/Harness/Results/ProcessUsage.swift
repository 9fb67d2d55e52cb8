/// What a process used while it was timed, beside the time.
public struct ProcessUsage: Codable, Hashable, Sendable {
    /// CPU time outside of the kernel, over all threads, in nanoseconds.
    public var userNanoseconds: UInt64
    /// CPU time in the kernel, over all threads, in nanoseconds.
    public var systemNanoseconds: UInt64
    /// Page faults that needed no reading.
    public var minorFaults: UInt64
    /// Page faults that waited for a disk.
    public var majorFaults: UInt64
    /// How often a thread gave up its CPU to wait; `nil` where the kernel does not tell.
    public var voluntarySwitches: UInt64?
    /// How often a thread's CPU was given to another; `nil` where the kernel does not tell.
    public var involuntarySwitches: UInt64?
    /// Instructions outside of the kernel; `nil` where `perf_event_open` has no such counter, or is not allowed.
    public var instructions: UInt64?
    /// CPU cycles outside of the kernel; `nil` where `perf_event_open` has no such counter, or is not allowed.
    public var cycles: UInt64?

    /// Creates figures.
    public init(
        userNanoseconds: UInt64, systemNanoseconds: UInt64, minorFaults: UInt64, majorFaults: UInt64,
        voluntarySwitches: UInt64?, involuntarySwitches: UInt64?, instructions: UInt64? = nil, cycles: UInt64? = nil
    ) {
        self.userNanoseconds = userNanoseconds
        self.systemNanoseconds = systemNanoseconds
        self.minorFaults = minorFaults
        self.majorFaults = majorFaults
        self.voluntarySwitches = voluntarySwitches
        self.involuntarySwitches = involuntarySwitches
        self.instructions = instructions
        self.cycles = cycles
    }

    /// The sum of two, of what both have.
    public static func + (one: Self, other: Self) -> Self {
        one.combined(other) { $0 &+ $1 }
    }

    /// What came between two moments, of what both have; 0 where a counter went back.
    public static func - (end: Self, start: Self) -> Self {
        end.combined(start) { $0 > $1 ? $0 - $1 : 0 }
    }

    private func combined(_ other: Self, _ combine: (UInt64, UInt64) -> UInt64) -> Self {
        func both(_ member: KeyPath<Self, UInt64?>) -> UInt64? {
            guard let one = self[keyPath: member], let two = other[keyPath: member] else { return nil }
            return combine(one, two)
        }
        return ProcessUsage(
            userNanoseconds: combine(userNanoseconds, other.userNanoseconds),
            systemNanoseconds: combine(systemNanoseconds, other.systemNanoseconds),
            minorFaults: combine(minorFaults, other.minorFaults), majorFaults: combine(majorFaults, other.majorFaults),
            voluntarySwitches: both(\.voluntarySwitches), involuntarySwitches: both(\.involuntarySwitches),
            instructions: both(\.instructions), cycles: both(\.cycles))
    }
}
