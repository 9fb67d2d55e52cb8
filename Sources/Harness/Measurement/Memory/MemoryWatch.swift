import ByteSources
import Glibc
import RandomAccess
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

    /// Runs something that keeps a process busy, and says what it took.
    ///
    /// - Parameters:
    ///   - processID: The process, which must not start others meanwhile.
    ///   - body: What is run here, and waits for the process.
    /// - Returns: What `body` returned, and the memory, which is `nil` where the kernel does not tell.
    /// - Throws: What `body` throws.
    package static func run<Value>(
        _ processID: Int32, _ body: @escaping () throws -> Value
    ) throws -> (value: Value, memory: MemoryWatch?) {
        let members = ProcessTree.members(of: processID)
        let isReset = members.allSatisfy(ProcessMemory.resetPeak)
        guard isReset, let before = sum(members) else { return (try body(), nil) }
        let sampler = MemorySampler(members)
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
            file: Rise(baselineByteCount: before.fileByteCount, peakByteCount: file))
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

    init(_ processIDs: [Int32]) {
        self.processIDs = processIDs
    }

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
