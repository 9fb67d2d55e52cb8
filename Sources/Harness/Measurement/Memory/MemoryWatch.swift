import ByteSources
import Glibc
import RandomAccess
package import Results
import Support
import Synchronization
import SystemPackage

/// The memory of another process and its children during a measurement.
///
/// The peak is the kernel's own high-water mark, which also sees memory that is freed at once. The kernel has no
/// separate marks for anonymous and file-backed memory. These are sampled a thousand times a second. While the
/// file-backed part is steady, the rest of the mark is anonymous. On kernels before 6.16, each CPU holds back up to 32
/// pages of each counter, or twice the number of CPUs if that is more.
///
/// - Source: proc_pid_clear_refs(5) and proc_pid_status(5).
package struct MemoryWatch: Sendable {
    /// A figure before and at its highest, in bytes.
    package struct Growth: Hashable, Sendable {
        /// The memory at the start of the watch.
        package var baselineByteCount: UInt64
        /// The maximum during the watch.
        package var peakByteCount: UInt64

        /// The rise from the baseline to the peak.
        package var byteCount: UInt64 { peakByteCount > baselineByteCount ? peakByteCount - baselineByteCount : 0 }
    }

    /// All resident memory.
    package let resident: Growth
    /// Memory that belongs to no file.
    package let anonymous: Growth
    /// Pages of files, and shared memory.
    package let file: Growth
    /// The peak of resident memory since the start of the process, in bytes.
    package let processPeakByteCount: UInt64
    /// The memory charged to the process's cgroup; `nil` without one.
    package let cgroup: MemoryRecord.Memory.Cgroup?

    /// Measures the memory of a process while `body` runs.
    ///
    /// - Parameters:
    ///   - processID: The process. It must not start other processes during the measurement.
    ///   - cgroup: The cgroup of the process alone; `nil` without one.
    ///   - body: A function that makes the process work, and waits for it.
    /// - Returns: The result of `body`, and the memory, which is `nil` if the kernel does not report it.
    /// - Throws: The errors of `body`.
    package static func run<Value>(
        _ processID: Int32, cgroup: MemoryCgroup? = nil, _ body: @escaping () throws -> Value
    ) throws -> (value: Value, memory: MemoryWatch?) {
        let members = ProcessTree.members(of: processID)
        let earlier = sum(members)
        let isReset = members.allSatisfy(ProcessMemory.resetPeak)
        guard isReset, let before = sum(members) else { return (try body(), nil) }
        let sampler = MemorySampler(members, cgroup)
        let value = try sampler.run(body)
        guard let after = sum(members) else { return (value, nil) }
        // The mark may lack pages that CPUs hold back. Sampled memory did exist.
        let peak = max(after.peakByteCount, sampler.resident)
        let file = max(sampler.file, before.fileByteCount)
        let memory = MemoryWatch(
            resident: Growth(baselineByteCount: before.byteCount, peakByteCount: peak),
            anonymous: Growth(
                baselineByteCount: before.anonymousByteCount,
                peakByteCount: max(sampler.anonymous, peak - min(peak, file))),
            file: Growth(baselineByteCount: before.fileByteCount, peakByteCount: file),
            processPeakByteCount: max(earlier?.peakByteCount ?? 0, peak), cgroup: sampler.cgroupMemory)
        return (value, memory)
    }

    /// The sum of the memory of processes; `nil` if one of them no longer exists.
    static func sum(_ processIDs: [Int32]) -> ResidentMemory? {
        var sum = ResidentMemory(byteCount: 0, peakByteCount: 0, anonymousByteCount: 0, fileByteCount: 0)
        for processID in processIDs {
            guard let one = ProcessMemory.resident(of: processID) else { return nil }
            sum.byteCount += one.byteCount
            sum.peakByteCount += one.peakByteCount
            sum.anonymousByteCount += one.anonymousByteCount
            sum.fileByteCount += one.fileByteCount
        }
        return sum
    }
}

/// A sampler of the memory of processes that keeps the maximum of each kind.
final class MemorySampler: Sendable {
    private let processIDs: [Int32]
    private let isDone = Atomic<Bool>(false)
    private let highest = Atomic<UInt64>(0)
    private let highestAnonymous = Atomic<UInt64>(0)
    private let highestFile = Atomic<UInt64>(0)
    private let cgroup: MemoryCgroup?
    private let charged = Mutex<MemoryRecord.Memory.Cgroup?>(nil)

    init(_ processIDs: [Int32], _ cgroup: MemoryCgroup?) {
        self.processIDs = processIDs
        self.cgroup = cgroup
    }

    /// The maximum charge of the cgroup, of each kind and in total.
    var cgroupMemory: MemoryRecord.Memory.Cgroup? { charged.withLock { $0 } }

    /// The maximum resident memory in the samples, in bytes.
    var resident: UInt64 { highest.load(ordering: .relaxed) }

    /// The maximum anonymous memory in the samples, in bytes.
    var anonymous: UInt64 { highestAnonymous.load(ordering: .relaxed) }

    /// The maximum file-backed memory in the samples, in bytes.
    var file: UInt64 { highestFile.load(ordering: .relaxed) }

    /// Runs `body` on this thread, and samples on another one, a thousand times a second and once at the end.
    func run<Value>(_ body: @escaping () throws -> Value) throws -> Value {
        var result: Result<Value, any Error>?
        ThreadTeam(threadCount: 2).run { thread in
            if thread == 0 {
                result = Result(catching: body)
                self.isDone.store(true, ordering: .releasing)
            } else {
                while !self.isDone.load(ordering: .acquiring) {
                    self.look()
                    usleep(1000)
                }
            }
        }
        look()
        guard let result else { preconditionFailure("the first thread of a team is the caller's") }
        return try result.get()
    }

    private func look() {
        guard let now = MemoryWatch.sum(processIDs) else { return }
        highest.max(now.byteCount, ordering: .relaxed)
        highestAnonymous.max(now.anonymousByteCount, ordering: .relaxed)
        highestFile.max(now.fileByteCount, ordering: .relaxed)
        guard let seen = cgroup?.charged else { return }
        charged.withLock { $0 = $0?.highest(seen) ?? seen }
    }
}

extension MemoryRecord.Memory.Cgroup {
    /// The greater value of each figure.
    fileprivate func highest(_ other: Self) -> Self {
        func both(_ one: UInt64?, _ two: UInt64?) -> UInt64? { one.flatMap { one in two.map { max(one, $0) } } }
        return Self(
            peakByteCount: max(peakByteCount, other.peakByteCount),
            anonymousByteCount: both(anonymousByteCount, other.anonymousByteCount),
            pageCacheByteCount: both(pageCacheByteCount, other.pageCacheByteCount),
            kernelByteCount: both(kernelByteCount, other.kernelByteCount))
    }
}

/// Sparse files of any length, which consist of one hole and take no space.
enum SparseFile {
    /// Makes a file of zeros, or changes the length of an existing file. The corresponding C function is `ftruncate`.
    ///
    /// - Throws: `DecryptionError.io`.
    static func create(_ path: FilePath, byteCount: UInt64) throws(DecryptionError) {
        let descriptor = try SystemCall.check("create \(path)") {
            try FileDescriptor.open(
                path, .writeOnly, options: [.create, .closeOnExec], permissions: [.ownerReadWrite])
        }
        defer { try? descriptor.close() }
        try SystemCall.check("resize \(path)") { try descriptor.resize(to: Int64(clamping: byteCount)) }
    }
}
