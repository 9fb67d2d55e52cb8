/// How limits are measured.
package struct LimitOptions: Hashable, Sendable {
    /// The threads that work side by side in the second half of the figures; at least 1.
    package var threads: Int
    /// The length of each side of a copy in cache, for each thread.
    package var cacheByteCount: Int
    /// The length of each side of a copy in memory, and of the file, over all threads.
    package var memoryByteCount: Int
    /// The windows that are read into, in bytes.
    package var windowByteCounts: [Int]
    /// The folder for the file; it has no name there while it is used.
    package var folder: String
    /// How long a sample is to take at least.
    package var sampleNanoseconds: UInt64
    /// The samples of each figure; at least 1.
    package var sampleCount: Int

    /// Creates options that suit a machine.
    ///
    /// - Parameters:
    ///   - threads: The threads that work side by side.
    ///   - cacheByteCounts: The sizes of the data caches, smallest first; usual ones are assumed where it is empty.
    ///   - machineByteCount: The machine's memory. An eighth of it is used at most.
    ///   - folder: The folder for the file.
    package init(threads: Int, cacheByteCounts: [UInt64], machineByteCount: UInt64, folder: String) {
        self.threads = threads
        let second = cacheByteCounts.dropFirst().first ?? 1 << 20
        // Both sides, and space for whatever else is in the cache.
        self.cacheByteCount = Int(clamping: second / 4)
        // The last cache may be shared with machines that cannot be seen from here, so that there is an upper bound, too.
        let last = cacheByteCounts.last ?? 32 << 20
        let wanted = min(max(2 * last, 64 << 20), 256 << 20)
        self.memoryByteCount = Int(clamping: max(1 << 20, min(wanted, machineByteCount / 16)))
        self.windowByteCounts = [4 << 10, 64 << 10, 256 << 10, 1 << 20, 16 << 20, 64 << 20]
        self.folder = folder
        self.sampleNanoseconds = 5_000_000
        self.sampleCount = 7
    }
}
