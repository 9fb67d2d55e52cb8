/// A measured configuration as a recommendation sees it: its figures, and what tells it from others.
package struct Candidate: Hashable, Sendable {
    /// A text that is unique among the candidates.
    package var id: String
    /// Everything that makes up the configuration but its window: candidates of one family differ in the window only.
    package var family: String
    /// The plaintext bytes that are decrypted in one step.
    package var windowByteCount: UInt64
    /// The median throughput, in plaintext bytes per second.
    package var bytesPerSecond: UInt64
    /// The throughput's 95 % interval; `nil` where one process was timed, which says nothing of the spread between
    /// processes.
    package var interval: ClosedRange<UInt64>?
    /// How far memory rose, in bytes; `nil` where it was not measured.
    package var memoryByteCount: UInt64?
    /// The time to the first byte, in nanoseconds; `nil` where it was not measured.
    package var firstByteNanoseconds: UInt64?
    /// Ciphertext bytes fetched per plaintext byte delivered; `nil` where it is not known.
    package var amplification: Double?

    /// Creates a candidate.
    package init(
        id: String, family: String, windowByteCount: UInt64, bytesPerSecond: UInt64,
        interval: ClosedRange<UInt64>? = nil, memoryByteCount: UInt64? = nil, firstByteNanoseconds: UInt64? = nil,
        amplification: Double? = nil
    ) {
        self.id = id
        self.family = family
        self.windowByteCount = windowByteCount
        self.bytesPerSecond = bytesPerSecond
        self.interval = interval
        self.memoryByteCount = memoryByteCount
        self.firstByteNanoseconds = firstByteNanoseconds
        self.amplification = amplification
    }

    /// Memory growth below this is not told apart, in bytes: the kernel keeps its counters per CPU.
    package static let memoryResolutionByteCount: UInt64 = 256 << 10

    /// Says whether the data do not tell which of two is faster: their intervals have a point in common.
    ///
    /// A candidate without an interval ties with nothing but itself.
    package func ties(with other: Candidate) -> Bool {
        if id == other.id { return true }
        guard let interval, let otherInterval = other.interval else { return false }
        return interval.overlaps(otherInterval)
    }

    /// The memory that orders and fronts go by: what cannot be told apart is the same, what is unknown is the most.
    var comparedMemory: UInt64 { max(memoryByteCount ?? .max, Self.memoryResolutionByteCount) }

    /// The first byte that orders and fronts go by: what is unknown is the latest.
    var comparedFirstByte: UInt64 { firstByteNanoseconds ?? .max }

    /// The amplification that orders and fronts go by, in hundredths: what is unknown is the most.
    ///
    /// Wide windows fetch a block less here and there, which is a millionth and no reason for anything.
    var comparedAmplification: Double { amplification.map { ($0 * 100).rounded() } ?? .infinity }
}
