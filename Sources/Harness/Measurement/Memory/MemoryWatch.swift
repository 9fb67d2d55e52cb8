import ByteSources
import Glibc
import RandomAccess
package import Results
import Support
import Synchronization
import SystemPackage

/// Watches the memory of another process, and of those that it started, while something runs there.
///
/// The high-water mark is the kernel's own, so that nothing is missed that is freed at once. The kernel keeps none for
/// anonymous and file-backed memory apart; these are sampled a thousand times a second, and where the file-backed part
/// was steady, what the mark has beyond it is anonymous. On kernels before 6.16 each CPU keeps up to 32 pages, or twice
/// as many as there are CPUs, of each counter to itself.
///
/// - Source: proc_pid_clear_refs(5) and proc_pid_status(5).
package struct MemoryWatch: Sendable {
    /// A figure before and at its highest, in bytes.
    package struct Rise: Hashable, Sendable {
        /// What was held when the watch began.
        package var baselineByteCount: UInt64
        /// The max that was held while it lasted.
        package var peakByteCount: UInt64

        /// How far the peak lies above the baseline.
        package var byteCount: UInt64 { peakByteCount > baselineByteCount ? peakByteCount - baselineByteCount : 0 }
    }

    /// All resident memory.
    package let resident: Rise
    /// Memory that belongs to no file.
    package let anonymous: Rise
    /// Pages of files, and shared memory.
    package let file: Rise
    /// The max that was resident since the process began, in bytes.
    package let processPeakByteCount: UInt64
    /// What was charged to the process's cgroup; `nil` where it has none of its own.
    package let cgroup: MemoryRecord.Memory.Cgroup?

    /// Runs something that keeps a process busy, and says what it took.
    ///
    /// - Parameters:
    ///   - processID: The process, which must not start others meanwhile.
    ///   - cgroup: The cgroup that it has to itself; `nil` where it has none.
    ///   - body: What is run here, and waits for the process.
    /// - Returns: What `body` returned, and the memory, which is `nil` where the kernel does not tell.
    /// - Throws: What `body` throws.
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
        // The mark may lack what CPUs keep to themselves, and what was seen was there.
        let peak = max(after.peakByteCount, sampler.resident)
        let file = max(sampler.file, before.fileByteCount)
        let memory = MemoryWatch(
            resident: Rise(baselineByteCount: before.byteCount, peakByteCount: peak),
            anonymous: Rise(
                baselineByteCount: before.anonymousByteCount,
                peakByteCount: max(sampler.anonymous, peak - min(peak, file))),
            file: Rise(baselineByteCount: before.fileByteCount, peakByteCount: file),
            processPeakByteCount: max(earlier?.peakByteCount ?? 0, peak), cgroup: sampler.cgroupMemory)
        return (value, memory)
    }

    /// What processes hold together; `nil` if one of them is gone.
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

/// Looks at the memory of processes again and again while something runs, and keeps the max of each kind.
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

    /// What the cgroup was charged at most of each kind, and altogether.
    var cgroupMemory: MemoryRecord.Memory.Cgroup? { charged.withLock { $0 } }

    /// The max memory that was seen, in bytes.
    var resident: UInt64 { highest.load(ordering: .relaxed) }

    /// The max anonymous memory that was seen, in bytes.
    var anonymous: UInt64 { highestAnonymous.load(ordering: .relaxed) }

    /// The max memory of files that was seen, in bytes.
    var file: UInt64 { highestFile.load(ordering: .relaxed) }

    /// Runs `body` on this thread, and looks from another, a thousand times a second and once at the end.
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
    /// Of each figure the greater one.
    fileprivate func highest(_ other: Self) -> Self {
        func both(_ one: UInt64?, _ two: UInt64?) -> UInt64? { one.flatMap { one in two.map { max(one, $0) } } }
        return Self(
            peakByteCount: max(peakByteCount, other.peakByteCount),
            anonymousByteCount: both(anonymousByteCount, other.anonymousByteCount),
            pageCacheByteCount: both(pageCacheByteCount, other.pageCacheByteCount),
            kernelByteCount: both(kernelByteCount, other.kernelByteCount))
    }
}

/// Files of any length that are one hole, and take no space.
enum SparseFile {
    /// Creates a file of zeros, or gives one that is there this length. The corresponding C function is `ftruncate`.
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
