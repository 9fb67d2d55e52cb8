import Support

/// The result of a cell's first, untimed pass: a digest of the plaintext, and the ciphertext bytes that it took.
public struct CheckRecord: Codable, Hashable, Sendable {
    /// The cell.
    public var cell: Cell
    /// SHA-256 of the plaintext in the order delivered, in hex.
    public var digest: String
    /// The plaintext bytes that the workload delivered.
    public var deliveredByteCount: UInt64
    /// The number of reads in the workload; `nil` if it is unknown.
    public var readCount: UInt64?
    /// The number of requests to the source, views of mapped bytes among them; `nil` if it is unknown.
    public var requestCount: UInt64?
    /// The ciphertext bytes that the source delivered; 0 if unknown.
    public var fetchedByteCount: UInt64
    /// The ciphertext bytes that the cipher decrypted; 0 if unknown.
    public var decryptedByteCount: UInt64
    /// The durations of the first passes over a cold cell's reads, in nanoseconds. The page cache is dropped before
    /// each pass. `nil` for other cells.
    public var coldNanoseconds: [UInt64]?
    /// The plaintext bytes that the workload touches before it touches one of them again; `nil` if unknown.
    public var workingSetByteCount: UInt64?
    /// The largest cache of the machine that ran the check, in bytes; `nil` if unknown.
    public var lastCacheByteCount: UInt64?

    /// True if the reads come from a CPU cache: the file is in memory, and the working set fits the largest cache.
    public var isInCache: Bool {
        guard let workingSetByteCount, let lastCacheByteCount else { return false }
        return workingSetByteCount <= lastCacheByteCount && ["file", "mmap"].contains(cell.source) && cell.isLocal
    }

    /// True if a cache below this system kept the file after the first pass, so that dropping this system's page cache
    /// does not make the file cold. `nil` if the check has no cold passes to compare.
    ///
    /// The test: the first pass took over 25 % and over 1 ms longer than the longest of the others.
    public var isCachedBelow: Bool? {
        guard let coldNanoseconds, let first = coldNanoseconds.first, let longest = coldNanoseconds.dropFirst().max()
        else { return nil }
        return Double(first) > 1.25 * Double(longest) && first > longest &+ 1_000_000
    }

    /// A check without the cold passes, the working set and the cache size, which are set later.
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
    /// The max number of bytes of a cold file that the kernel kept in memory before an iteration; `nil` for other
    /// cells.
    public var residentByteCount: UInt64?
    /// The CPU time, page faults and so on of the timed iterations: their share, by count, of what the whole request
    /// used. `nil` if unknown.
    public var usage: ProcessUsage?
    /// The number of iterations before these that do not count as samples; `nil` if it is unknown.
    public var warmUpIterationCount: Int?

    /// The samples of one process, without usage, resident bytes and warm-up count.
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
    /// The time from before the object is opened until the workload's first read is complete; `nil` if it was not
    /// measured.
    public var firstByte: Latency?
    /// The playback of a film with these latencies; `nil` unless the cell replays a player's trace.
    public var playback: Playback?
    /// The number of times that the reads were measured again because together they took longer than whole iterations
    /// of the same process; `nil` if it is unknown.
    public var repetitionCount: Int?
    /// True if the reads took longer than whole iterations the last time too: then something disturbed the tail. `nil`
    /// if it is unknown.
    public var isContradicted: Bool?

    /// Old results have another figure under `firstByte`: the time to open the object and read one byte.
    private enum CodingKeys: String, CodingKey {
        case cellID
        case round
        case latency
        case firstByte = "firstRead"
        case playback
        case repetitionCount
        case isContradicted
    }

    /// The latencies of one process, without the test against whole iterations.
    public init(
        cellID: String, round: Int? = nil, latency: Latency, firstByte: Latency? = nil, playback: Playback? = nil
    ) {
        self.cellID = cellID
        self.round = round
        self.latency = latency
        self.firstByte = firstByte
        self.playback = playback
    }

    /// The start and the stalls that a viewer would see with the latencies of a replay.
    ///
    /// - Source: docs/serving.md, "How a replay is judged".
    public struct Playback: Codable, Hashable, Sendable {
        /// The film's bits per second.
        public var bitsPerSecond: UInt64
        /// The latency of the first read, in nanoseconds.
        public var firstByteNanoseconds: UInt64
        /// The time from the first range's request until that range is complete, in nanoseconds.
        public var startNanoseconds: UInt64
        /// The number of stalls after the film had started.
        public var stallCount: Int
        /// The duration of all stalls together, in nanoseconds.
        public var stallNanoseconds: UInt64

        package init(
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
        /// The number of reads that were timed.
        public var readCount: Int
        /// The median: half of the reads took no longer.
        public var p50: UInt64
        /// The 90th percentile.
        public var p90: UInt64
        /// The 99th percentile.
        public var p99: UInt64
        /// The 99.9th percentile.
        public var p999: UInt64
        /// The latency of the slowest read.
        public var max: UInt64

        /// The 90th percentile, or `nil` if there are fewer than 29 reads, which give it no upper bound.
        ///
        /// The longest of n reads is an upper bound of the p-th part with a confidence of 1 − pⁿ, whatever the
        /// distribution.
        /// - Source: David and Nagaraja, "Order Statistics", 3rd edition (2003), §7.1.
        public var trustedP90: UInt64? { readCount >= 29 ? p90 : nil }

        /// The 99th percentile, or `nil` if there are fewer than 299 reads, which give it no upper bound.
        public var trustedP99: UInt64? { readCount >= 299 ? p99 : nil }

        /// The 99.9th percentile, or `nil` if there are fewer than 2,995 reads, which give it no upper bound.
        public var trustedP999: UInt64? { readCount >= 2995 ? p999 : nil }

        /// The median of each percentile over several processes; `nil` without any.
        ///
        /// Of an even number of processes, it is the greater of the two values in the middle. So it is still a latency
        /// that occurred, and not below the median. A disturbed process does not move it. The number of reads is that
        /// of the process with the fewest.
        /// - Parameter processes: The latencies of each process.
        public init?(combining processes: [Latency]) {
            guard let readCount = processes.map(\.readCount).min() else { return nil }
            func middle(_ figure: (Latency) -> UInt64) -> UInt64 {
                processes.map(figure).sorted()[processes.count / 2]
            }
            self.init(
                readCount: readCount, p50: middle(\.p50), p90: middle(\.p90), p99: middle(\.p99), p999: middle(\.p999),
                max: middle(\.max))
        }

        package init(readCount: Int, p50: UInt64, p90: UInt64, p99: UInt64, p999: UInt64, max: UInt64) {
            self.readCount = readCount
            self.p50 = p50
            self.p90 = p90
            self.p99 = p99
            self.p999 = p999
            self.max = max
        }
    }
}

/// The memory of a cell: that of a subject's process, seen from outside. Nothing else is measured in this process.
public struct MemoryRecord: Codable, Hashable, Sendable {
    /// The cell's `id`.
    public var cellID: String
    /// The round, from 0; `nil` in results that have one process a cell.
    public var round: Int?
    /// The figures.
    public var memory: Memory

    package init(cellID: String, round: Int? = nil, memory: Memory) {
        self.cellID = cellID
        self.round = round
        self.memory = memory
    }

    /// Resident memory in bytes.
    public struct Memory: Codable, Hashable, Sendable {
        /// The resident memory before the object is opened.
        public var baselineByteCount: UInt64
        /// The high-water mark (`VmHWM`) while the object was opened and the workload ran.
        public var peakByteCount: UInt64
        /// The max size of the reader's buffers beside the baseline, as the reader reports it; `nil` for subjects that
        /// do not say.
        public var boundByteCount: UInt64?
        /// The growth of memory that belongs to no file; `nil` if it is unknown.
        public var anonymousGrowthByteCount: UInt64?
        /// The growth of file pages, code and `mmap` among them; `nil` if it is unknown.
        public var fileGrowthByteCount: UInt64?
        /// The high-water mark of the fresh process from its start to the end of the workload; `nil` if unknown.
        public var processPeakByteCount: UInt64?
        /// The memory that the kernel charged to a cgroup of this process alone; `nil` if there was no cgroup.
        public var cgroup: Cgroup?

        package init(
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

        /// The max memory that the process held at once, or else while the workload ran.
        public var absolutePeakByteCount: UInt64 { processPeakByteCount ?? peakByteCount }

        /// The distance from the baseline to the peak, in bytes.
        public var growthByteCount: UInt64 { peakByteCount > baselineByteCount ? peakByteCount - baselineByteCount : 0 }
    }
}

extension MemoryRecord.Memory {
    /// The memory that the kernel charged to a cgroup of one process, in bytes, from its start to the end of the
    /// workload.
    ///
    /// A page that several cgroups use is charged to the first one. So a program or a file that was in the page cache
    /// before is not included.
    /// - Source: cgroup-v2.rst, "Memory Interface Files"; for version 1, memory.rst.
    public struct Cgroup: Codable, Hashable, Sendable {
        /// The peak of everything: `memory.peak`, in version 1 `memory.max_usage_in_bytes`.
        public var peakByteCount: UInt64
        /// The max memory that was seen and belongs to no file; `nil` if the kernel does not tell.
        public var anonymousByteCount: UInt64?
        /// The max size of the page cache that was seen, mapped pages among it; `nil` if the kernel does not tell.
        public var pageCacheByteCount: UInt64?
        /// The max memory seen that the kernel keeps for the process, socket buffers among it; `nil` if the kernel does
        /// not tell.
        public var kernelByteCount: UInt64?

        package init(
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

/// The reason for a cell without figures.
public struct FailureRecord: Codable, Hashable, Sendable {
    /// The cell.
    public var cell: Cell
    /// The message: what failed, the value, and what was expected.
    public var reason: String

    package init(cell: Cell, reason: String) {
        self.cell = cell
        self.reason = reason
    }
}

/// The CPU time, page faults, context switches and counters of a process while it was timed.
public struct ProcessUsage: Codable, Hashable, Sendable {
    /// CPU time outside of the kernel, over all threads, in nanoseconds.
    public var userNanoseconds: UInt64
    /// CPU time in the kernel, over all threads, in nanoseconds.
    public var systemNanoseconds: UInt64
    /// Page faults that needed no read from a disk.
    public var minorFaults: UInt64
    /// Page faults that waited for a disk.
    public var majorFaults: UInt64
    /// The number of times that a thread gave up its CPU to wait; `nil` if the kernel does not tell.
    public var voluntarySwitches: UInt64?
    /// The number of times that the kernel gave a thread's CPU to another; `nil` if the kernel does not tell.
    public var involuntarySwitches: UInt64?
    /// Instructions outside of the kernel; `nil` if `perf_event_open` has no such counter or is not allowed.
    public var instructions: UInt64?
    /// CPU cycles outside of the kernel; `nil` if `perf_event_open` has no such counter or is not allowed.
    public var cycles: UInt64?

    package init(
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

    /// Returns the sum of the figures that both sides have; the others are `nil`.
    public static func + (one: Self, other: Self) -> Self {
        one.combined(other) { $0 &+ $1 }
    }

    /// Returns the usage between two moments, for the figures that both have; 0 for a counter that went back.
    public static func - (end: Self, start: Self) -> Self {
        end.combined(start) { $0 > $1 ? $0 - $1 : 0 }
    }

    /// Returns a share of the usage, from 0 to 1.
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
