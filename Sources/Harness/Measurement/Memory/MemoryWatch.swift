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
        /// The most that was held while it lasted.
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
