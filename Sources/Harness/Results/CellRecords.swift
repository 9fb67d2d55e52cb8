import Support

/// The untimed first look at a cell: is the plaintext right, and how much ciphertext did it take?
public struct CheckRecord: Codable, Hashable, Sendable {
    /// The cell.
    public var cell: Cell
    /// SHA-256 of the plaintext in the order delivered, in hex.
    public var digest: String
    /// The plaintext bytes that the workload delivered.
    public var deliveredByteCount: UInt64
    /// How many reads the workload has; `nil` in results that do not say.
    public var readCount: UInt64?
    /// How often the source was asked for bytes, or looked at, for them; `nil` in results that do not say.
    public var requestCount: UInt64?
    /// The ciphertext bytes that were fetched for them; 0 where that is not known.
    public var fetchedByteCount: UInt64
    /// The ciphertext bytes that went through the cipher for them; 0 where that is not known.
    public var decryptedByteCount: UInt64
    /// Of a cold cell, how long passes over its reads took that were made before any other, in nanoseconds, each with the
    /// page cache dropped; `nil` for other cells, and in results that do not say.
    public var coldNanoseconds: [UInt64]?
    /// The plaintext bytes that are touched before one of them is touched again; `nil` in results that do not say.
    public var workingSetByteCount: UInt64?
    /// The largest cache of the machine that looked, in bytes; `nil` where it is not known.
    public var lastCacheByteCount: UInt64?

    /// Whether the reads are reads of a CPU cache: of a file in memory whose working set fits the last one.
    public var isInCache: Bool {
        guard let workingSetByteCount, let lastCacheByteCount else { return false }
        return workingSetByteCount <= lastCacheByteCount && ["file", "mmap"].contains(cell.source) && cell.isLocal
    }

    /// Whether a cache below this system held the file after it was read once: then dropping this system's page cache
    /// makes no cold file. `nil` where that was not looked for.
    ///
    /// The first pass took a quarter longer than the longest of the others, and at least a millisecond.
    public var isCachedBelow: Bool? {
        guard let coldNanoseconds, let first = coldNanoseconds.first, let longest = coldNanoseconds.dropFirst().max()
        else { return nil }
        return Double(first) > 1.25 * Double(longest) && first > longest &+ 1_000_000
    }

    /// Creates a record.
    public init(
        cell: Cell, digest: String, deliveredByteCount: UInt64, readCount: UInt64? = nil, requestCount: UInt64? = nil,
        fetchedByteCount: UInt64, decryptedByteCount: UInt64
    ) {
        self.readCount = readCount
        self.requestCount = requestCount
        self.cell = cell
        self.digest = digest
        self.deliveredByteCount = deliveredByteCount
        self.fetchedByteCount = fetchedByteCount
        self.decryptedByteCount = decryptedByteCount
    }
}

/// The timed iterations of a cell in one round: one fresh process.
public struct TimeRecord: Codable, Hashable, Sendable {
    /// The cell's `id`.
    public var cellID: String
    /// The round, from 0.
    public var round: Int
    /// One duration an iteration, in nanoseconds.
    public var nanoseconds: [UInt64]
    /// The max number of bytes of a cold file that the kernel kept in memory before an iteration; `nil` for other cells.
    public var residentByteCount: UInt64?
    /// What the process used in all these iterations: of what a request used, their share by count; `nil` where it is not
    /// known.
    public var usage: ProcessUsage?
    /// The iterations that were run before, and are no samples; `nil` in results that do not say.
    public var warmUpIterationCount: Int?

    /// Creates a record.
    public init(cellID: String, round: Int, nanoseconds: [UInt64]) {
        self.cellID = cellID
        self.round = round
        self.nanoseconds = nanoseconds
    }
}

/// The latencies of single reads of a cell in one fresh process.
public struct LatencyRecord: Codable, Hashable, Sendable {
    /// The cell's `id`.
    public var cellID: String
    /// The round, from 0; `nil` in results that have one process a cell.
    public var round: Int?
    /// The percentiles.
    public var latency: Latency
    /// From before the object is opened until the first read of the workload is there; `nil` where that was not measured.
    public var firstByte: Latency?
    /// How a film would play, for the replay of a player's trace.
    public var playback: Playback?
    /// How often the reads were measured anew, since they took longer than whole iterations of the same process do;
    /// `nil` in results that do not say.
    public var repetitionCount: Int?
    /// Whether they still took longer the last time: then the tail is that of a disturbance. `nil` in results that do not
    /// say.
    public var isContradicted: Bool?

    /// `firstByte` in results of old was the time to open the object and read one byte, which is another figure.
    private enum CodingKeys: String, CodingKey {
        case cellID
        case round
        case latency
        case firstByte = "firstRead"
        case playback
        case repetitionCount
        case isContradicted
    }

    /// Creates a record.
    public init(
        cellID: String, round: Int? = nil, latency: Latency, firstByte: Latency? = nil, playback: Playback? = nil
    ) {
        self.cellID = cellID
        self.round = round
        self.latency = latency
        self.firstByte = firstByte
        self.playback = playback
    }

    /// What a viewer would notice of the latencies of a replay. Source: docs/serving.md, "How a replay is judged".
    public struct Playback: Codable, Hashable, Sendable {
        /// The film's bits per second.
        public var bitsPerSecond: UInt64
        /// The latency of the first read, in nanoseconds.
        public var firstByteNanoseconds: UInt64
        /// When the first range was there, from its request on, in nanoseconds.
        public var startNanoseconds: UInt64
        /// How often the film stood still after it had started.
        public var stallCount: Int
        /// How long it stood still altogether, in nanoseconds.
        public var stallNanoseconds: UInt64

        /// Creates figures.
        public init(
            bitsPerSecond: UInt64, firstByteNanoseconds: UInt64, startNanoseconds: UInt64, stallCount: Int,
            stallNanoseconds: UInt64
        ) {
            self.bitsPerSecond = bitsPerSecond
            self.firstByteNanoseconds = firstByteNanoseconds
            self.startNanoseconds = startNanoseconds
            self.stallCount = stallCount
            self.stallNanoseconds = stallNanoseconds
        }
    }

    /// Percentiles by nearest rank (Hyndman and Fan 1996, type 1): each is a latency that occurred, in nanoseconds.
    public struct Latency: Codable, Hashable, Sendable {
        /// How many reads were timed.
        public var readCount: Int
        /// Half the reads took no longer.
        public var p50: UInt64
        /// 90 % of the reads took no longer.
        public var p90: UInt64
        /// 99 % of the reads took no longer.
        public var p99: UInt64
        /// 99.9 % of the reads took no longer.
        public var p999: UInt64
        /// The longest read.
        public var max: UInt64

        /// The 90th percentile, or `nil` where fewer than 29 reads give it no upper bound.
        ///
        /// The longest of n reads is an upper bound of the p-th part with a confidence of 1 − pⁿ, whatever the
        /// distribution. Source: David and Nagaraja, "Order Statistics", 3rd edition (2003), §7.1.
        public var trustedP90: UInt64? { readCount >= 29 ? p90 : nil }

        /// The 99th percentile, or `nil` where fewer than 299 reads give it no upper bound.
        public var trustedP99: UInt64? { readCount >= 299 ? p99 : nil }

        /// The 99.9th percentile, or `nil` where fewer than 2,995 reads give it no upper bound.
        public var trustedP999: UInt64? { readCount >= 2995 ? p999 : nil }

        /// Combines what several processes found: of each percentile the median, of an even number the greater one, so
        /// that it is still a latency that occurred, and not below a median between the two in the middle. A process
        /// that was disturbed does not move it; `nil` without any.
        ///
        /// The number of reads is that of the process with the fewest.
        /// - Parameter processes: One a process.
        public init?(combining processes: [Latency]) {
            guard let readCount = processes.map(\.readCount).min() else { return nil }
            func middle(_ figure: (Latency) -> UInt64) -> UInt64 {
                processes.map(figure).sorted()[processes.count / 2]
            }
            self.init(
                readCount: readCount, p50: middle(\.p50), p90: middle(\.p90), p99: middle(\.p99), p999: middle(\.p999),
                max: middle(\.max))
        }

        /// Creates percentiles.
        public init(readCount: Int, p50: UInt64, p90: UInt64, p99: UInt64, p999: UInt64, max: UInt64) {
            self.readCount = readCount
            self.p50 = p50
            self.p90 = p90
            self.p99 = p99
            self.p999 = p999
            self.max = max
        }
    }
}

/// The memory of a cell: a subject's process, seen from outside, in which nothing else is measured.
public struct MemoryRecord: Codable, Hashable, Sendable {
    /// The cell's `id`.
    public var cellID: String
    /// The round, from 0; `nil` in results that have one process a cell.
    public var round: Int?
    /// The figures.
    public var memory: Memory

    /// Creates a record.
    public init(cellID: String, round: Int? = nil, memory: Memory) {
        self.cellID = cellID
        self.round = round
        self.memory = memory
    }

    /// Resident memory in bytes.
    public struct Memory: Codable, Hashable, Sendable {
        /// Resident memory after the object was opened and before the first read.
        public var baselineByteCount: UInt64
        /// The high-water mark (`VmHWM`) while the workload ran.
        public var peakByteCount: UInt64
        /// What the reader says its buffers need at most beside the baseline; `nil` for subjects that do not say.
        public var boundByteCount: UInt64?
        /// How far memory that belongs to no file rose; `nil` in results that do not say.
        public var anonymousGrowthByteCount: UInt64?
        /// How far pages of files rose, code and `mmap` among them; `nil` in results that do not say.
        public var fileGrowthByteCount: UInt64?
        /// The high-water mark of the fresh process from its start until the workload had run; `nil` in results that do
        /// not say.
        public var processPeakByteCount: UInt64?
        /// The same of a cgroup that held nothing but this process; `nil` where there was none to be had.
        public var cgroup: Cgroup?

        /// Creates figures.
        public init(
            baselineByteCount: UInt64, peakByteCount: UInt64, boundByteCount: UInt64?,
            anonymousGrowthByteCount: UInt64? = nil, fileGrowthByteCount: UInt64? = nil,
            processPeakByteCount: UInt64? = nil, cgroup: Cgroup? = nil
        ) {
            self.baselineByteCount = baselineByteCount
            self.peakByteCount = peakByteCount
            self.boundByteCount = boundByteCount
            self.anonymousGrowthByteCount = anonymousGrowthByteCount
            self.fileGrowthByteCount = fileGrowthByteCount
            self.processPeakByteCount = processPeakByteCount
            self.cgroup = cgroup
        }

        /// The max memory that the process held at once. Where results say only what it held while the workload ran, that.
        public var absolutePeakByteCount: UInt64 { processPeakByteCount ?? peakByteCount }

        /// How far the peak lies above the baseline.
        public var growthByteCount: UInt64 { peakByteCount > baselineByteCount ? peakByteCount - baselineByteCount : 0 }
    }
}

extension MemoryRecord.Memory {
    /// What the kernel charged to a cgroup of one process, in bytes, from its start until the workload had run.
    ///
    /// Pages that several cgroups use are charged to the first one: a program and a file that were in the page cache before
    /// are not in it.
    /// - Source: cgroup-v2.rst, "Memory Interface Files"; for version 1, memory.rst.
    public struct Cgroup: Codable, Hashable, Sendable {
        /// The peak of everything: `memory.peak`, in version 1 `memory.max_usage_in_bytes`.
        public var peakByteCount: UInt64
        /// The max that was seen of memory that belongs to no file; `nil` where the kernel does not tell.
        public var anonymousByteCount: UInt64?
        /// The max that was seen of the page cache, mapped or not; `nil` where the kernel does not tell.
        public var pageCacheByteCount: UInt64?
        /// The max that was seen of what the kernel keeps for the process, buffers of sockets among it; `nil` where the
        /// kernel does not tell.
        public var kernelByteCount: UInt64?

        /// Creates figures.
        public init(
            peakByteCount: UInt64, anonymousByteCount: UInt64? = nil, pageCacheByteCount: UInt64? = nil,
            kernelByteCount: UInt64? = nil
        ) {
            self.peakByteCount = peakByteCount
            self.anonymousByteCount = anonymousByteCount
            self.pageCacheByteCount = pageCacheByteCount
            self.kernelByteCount = kernelByteCount
        }
    }
}

/// Why a cell has no figures.
public struct FailureRecord: Codable, Hashable, Sendable {
    /// The cell.
    public var cell: Cell
    /// What failed, the value, what was expected.
    public var reason: String

    /// Creates a record.
    public init(cell: Cell, reason: String) {
        self.cell = cell
        self.reason = reason
    }
}

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

    /// A share of it, from 0 to 1.
    public func scaled(by share: Double) -> Self {
        combined(self) { figure, _ in UInt64(nearest: Double(figure) * share) }
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
