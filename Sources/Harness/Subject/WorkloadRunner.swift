import ByteSources
import RandomAccess
import SubjectProtocol
import Support
import Synchronization

/// Runs the reads of a workload with one reader per thread, into buffers that it keeps.
final class WorkloadRunner {
    /// The reads of the next iteration.
    var reads: ReadList
    private let readers: [any RandomAccessDecryptor]
    private let buffers: [UnsafeMutableRawBufferPointer]
    private let team: ThreadTeam

    /// Prepares everything that is not timed.
    init(reads: ReadList, object: ReadObject, configuration: ReaderConfiguration) throws(DecryptionError) {
        self.reads = reads
        let threadCount = max(1, min(configuration.threadCount, reads.count))
        self.team = ThreadTeam(threadCount: threadCount)
        var readers: [any RandomAccessDecryptor] = []
        for _ in 0..<team.threadCount { readers.append(try configuration.makeReader(of: object)) }
        self.readers = readers
        let longest = Int(reads.largestByteCount)
        self.buffers = try UnsafeMutableRawBufferPointer.tryAllocate(byteCounts: readers.map { _ in longest })
        // The kernel only allocates pages when they are first touched, which is not part of a read into a buffer that
        // is kept.
        for buffer in buffers { buffer.initializeMemory(as: UInt8.self, repeating: 0) }
    }

    deinit {
        for buffer in buffers {
            eraseBytes(buffer)
            buffer.deallocate()
        }
    }

    /// Runs all reads of the next iteration.
    ///
    /// - Returns: The duration in nanoseconds by the monotonic clock.
    func time() throws(DecryptionError) -> UInt64 {
        forgetPlaintext()
        let start = monotonicNanoseconds()
        try runAll { (_, reader, read, buffer) throws(DecryptionError) in
            _ = try reader.read(at: read.offset, into: buffer)
        }
        let nanoseconds = monotonicNanoseconds() - start
        reads.goOn()
        return nanoseconds
    }

    /// Runs all reads repeatedly, at least once.
    ///
    /// - Parameters:
    ///   - minimum: The total duration of all runs that is enough, in nanoseconds.
    ///   - maxCount: The number of runs that is enough.
    ///   - prepare: Called before each run, and not timed.
    /// - Returns: The duration of each run; see ``time()``.
    /// - Throws: The error of a read or of `prepare`.
    func durations(
        atLeast minimum: UInt64, maxCount: UInt64, prepare: () throws(DecryptionError) -> Void = {}
    ) throws(DecryptionError) -> [UInt64] {
        var durations: [UInt64] = []
        var sum: UInt64 = 0
        repeat {
            try prepare()
            let duration = try time()
            durations.append(duration)
            sum += duration
        } while sum < minimum && durations.count < maxCount
        return durations
    }

    /// Runs all reads once and times each of them.
    ///
    /// - Returns: One duration per read, in the order of the reads.
    func latencies() throws(DecryptionError) -> [UInt64] {
        forgetPlaintext()
        let latencies = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: reads.count)
        latencies.initialize(repeating: 0)
        defer { latencies.deallocate() }
        try runAll { (index, reader, read, buffer) throws(DecryptionError) in
            let start = monotonicNanoseconds()
            _ = try reader.read(at: read.offset, into: buffer)
            latencies[index] = monotonicNanoseconds() - start
        }
        return Array(latencies)
    }

    /// Runs all reads once and hashes the delivered bytes in the order of the reads.
    ///
    /// As many reads as there are threads run at once; then their results are hashed in order.
    /// - Returns: The SHA-256 of the plaintext, and its length.
    func digest() throws(DecryptionError) -> (digest: [UInt8], byteCount: UInt64) {
        let hash = SHA256Hasher()
        var byteCount: UInt64 = 0
        var next = 0
        while next < reads.count {
            let group = next..<min(next + readers.count, reads.count)
            let failure = FirstFailure()
            let delivered = UnsafeMutableBufferPointer<Int>.allocate(capacity: group.count)
            delivered.initialize(repeating: 0)
            defer { delivered.deallocate() }
            team.run { [self] thread in
                guard thread < group.count else { return }
                let read = reads[group.lowerBound + thread]
                do throws(DecryptionError) {
                    delivered[thread] = try readers[thread].read(at: read.offset, into: buffer(thread, read))
                } catch {
                    failure.note(error)
                }
            }
            try failure.rethrow()
            for thread in 0..<group.count {
                hash.update(UnsafeRawBufferPointer(rebasing: buffers[thread][..<delivered[thread]]))
                byteCount += UInt64(delivered[thread])
            }
            next = group.upperBound
        }
        try readers[0].checkVersion()
        return (hash.finish(), byteCount)
    }

    /// Starts each read when it is due, no matter how earlier reads fared. After the last read, it continues with the
    /// next iteration.
    ///
    /// Each thread takes the next due time, waits for it if it is in the future, and reads. A late thread does not
    /// wait, and its delay counts: a stall delays all reads that become due meanwhile.
    /// - Parameter due: The due times in ascending order, in nanoseconds from the start.
    /// - Returns: One duration per read from its due time on, one from its start on, and the duration of the whole.
    /// - Throws: The error of a read.
    func openLoop(
        due: [UInt64]
    ) throws(DecryptionError) -> (latencies: [UInt64], services: [UInt64], elapsedNanoseconds: UInt64) {
        guard reads.count > 0, !due.isEmpty else { return ([], [], 0) }
        let times = UnsafeMutableBufferPointer<(start: UInt64, end: UInt64)>.allocate(capacity: due.count)
        times.initialize(repeating: (0, 0))
        defer { times.deallocate() }
        let (failure, next, first) = (FirstFailure(), NextIndex(), reads[0])
        // The first read of each thread runs code and touches tables that later reads find ready.
        team.run { [self] thread in
            failure.noting { () throws(DecryptionError) in
                _ = try readers[thread].read(at: first.offset, into: buffer(thread, first))
            }
        }
        try failure.rethrow()
        forgetPlaintext()
        let start = monotonicNanoseconds() + Self.leadNanoseconds
        team.run { [self] thread in
            failure.noting { () throws(DecryptionError) in
                while case let index = next.take(), index < due.count {
                    let read = reads.continued(index)
                    Self.wait(until: start + due[index])
                    times[index].start = monotonicNanoseconds()
                    let count = try readers[thread].read(at: read.offset, into: buffer(thread, read))
                    times[index].end = monotonicNanoseconds()
                    guard count == Int(read.count) else {
                        throw .io(operation: "read \(read.count) bytes", code: 0, reason: "\(count) were delivered")
                    }
                }
            } otherwise: {
                next.stop()
            }
        }
        try failure.rethrow()
        try readers[0].checkVersion()
        return (
            due.indices.map { times[$0].end - min(times[$0].end, start + due[$0]) },
            times.map { $0.end - $0.start }, (times.map(\.end).max() ?? start) - start
        )
    }

    /// Sleeps until shortly before a time, and then polls the clock: the kernel wakes a thread some 50 µs late.
    private static func wait(until time: UInt64) {
        if monotonicNanoseconds() + spinNanoseconds < time { SystemClock().sleep(until: time - spinNanoseconds) }
        while monotonicNanoseconds() < time {}
    }

    private static let spinNanoseconds: UInt64 = 100_000
    /// The time for all threads to start.
    private static let leadNanoseconds: UInt64 = 1_000_000

    /// Drops kept plaintext, since an iteration keeps none for the next. Source: PROTOCOL.md, "measure".
    private func forgetPlaintext() {
        for reader in readers { (reader as? any CachingReader)?.invalidate() }
    }

    /// A function that does one read, given its index, the thread's reader, the read, and the buffer for its bytes.
    private typealias Body = (
        Int, any RandomAccessDecryptor, Workload.Read, UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) -> Void

    private func buffer(_ thread: Int, _ read: Workload.Read) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: buffers[thread][..<Int(read.count)])
    }

    /// Passes each read to the next free thread, and checks that all of them read one version.
    private func runAll(_ body: @escaping Body) throws(DecryptionError) {
        if readers.count == 1 {
            for index in 0..<reads.count {
                let read = reads[index]
                try body(index, readers[0], read, buffer(0, read))
            }
            return try readers[0].checkVersion()
        }
        let failure = FirstFailure()
        let next = NextIndex()
        let count = reads.count
        team.run { [self] thread in
            do throws(DecryptionError) {
                while case let index = next.take(), index < count {
                    let read = reads[index]
                    try body(index, readers[thread], read, buffer(thread, read))
                }
            } catch {
                failure.note(error)
                next.stop()
            }
        }
        try failure.rethrow()
        try readers[0].checkVersion()
    }
}

/// The first error of several threads.
private final class FirstFailure: Sendable {
    private let error = Mutex<DecryptionError?>(nil)

    func note(_ error: DecryptionError) {
        self.error.withLock { $0 = $0 ?? error }
    }

    /// Calls `body`; if it fails, notes the error and calls `otherwise`.
    func noting(_ body: () throws(DecryptionError) -> Void, otherwise: () -> Void = {}) {
        do throws(DecryptionError) {
            try body()
        } catch {
            note(error)
            otherwise()
        }
    }

    func rethrow() throws(DecryptionError) {
        if let error = error.withLock({ $0 }) { throw error }
    }
}

/// A counter that several threads take numbers from.
private final class NextIndex: Sendable {
    private let value = Atomic<Int>(0)

    func take() -> Int { value.wrappingAdd(1, ordering: .relaxed).oldValue }

    func stop() { value.store(.max / 2, ordering: .relaxed) }
}
