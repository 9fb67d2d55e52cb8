import Glibc
package import Results
package import Support

extension MachineLimits {
    /// Measures this machine, first with one thread and then with all. Takes a few seconds, and much less than one for
    /// each figure.
    ///
    /// - Throws: `LimitError` if the file for the page cache cannot be written or read.
    package static func measure(_ options: LimitOptions) throws(LimitError) -> MachineLimits {
        let file = try CachedFile(byteCount: options.memoryByteCount, folder: options.folder)
        let memory = (Buffer(byteCount: options.memoryByteCount), Buffer(byteCount: options.memoryByteCount))
        let one = Sampling(threads: 1, options: options)
        let unit = one.fastestUnit()
        let oneThread = try one.limits(unit: unit, file: file, memory: memory, options: options)
        var allThreads = oneThread
        if options.threads > 1 {
            let all = Sampling(threads: options.threads, options: options)
            allThreads = try all.limits(unit: unit, file: file, memory: memory, options: options)
        }
        return MachineLimits(aesUnit: unit?.rawValue ?? "none", oneThread: oneThread, allThreads: allThreads)
    }
}

extension Sampling {
    init(threads: Int, options: LimitOptions) {
        self.init(
            team: ThreadTeam(threadCount: max(1, threads)), sampleNanoseconds: options.sampleNanoseconds,
            sampleCount: options.sampleCount)
    }

    fileprivate func limits(
        unit: AESUnit?, file: CachedFile, memory: (Buffer, Buffer), options: LimitOptions
    ) throws(LimitError) -> ThreadLimits {
        let threads = team.threadCount
        // A window is at most the share of one thread.
        let windows = options.windowByteCounts.filter {
            $0 > 0 && $0 <= share(of: options.memoryByteCount, 0, threads).count
        }
        var pageCacheRead: [BufferRate] = []
        for window in windows { pageCacheRead.append(try self.pageCacheRead(from: file, windowByteCount: window)) }
        return ThreadLimits(
            threads: threads,
            aesDecrypt: [16, 24, 32].compactMap { keyByteCount in
                unit.flatMap { decryption(unit: $0, keyByteCount: keyByteCount) }.map {
                    KeyRate(keyByteCount: keyByteCount, rate: $0)
                }
            },
            cacheCopy: cacheCopy(byteCount: options.cacheByteCount),
            memoryCopy: memoryCopy(from: memory.0, to: memory.1),
            memoryRead: windows.map { memoryRead(from: memory.0, windowByteCount: $0) },
            pageCacheRead: pageCacheRead)
    }
}

/// The options for the measurement of limits.
package struct LimitOptions: Hashable, Sendable {
    /// The number of parallel threads in the second half of the figures; at least 1.
    package var threads: Int
    /// The length of each side of a copy in cache in bytes, for each thread.
    package var cacheByteCount: Int
    /// The length of each side of a copy in memory, and of the file, over all threads, in bytes.
    package var memoryByteCount: Int
    /// The windows of reads, in bytes.
    package var windowByteCounts: [Int]
    /// The folder for the file. The file has no name there while it is used.
    package var folder: String
    /// The minimum duration of a sample.
    package var sampleNanoseconds: UInt64
    /// The number of samples of each figure; at least 1.
    package var sampleCount: Int

    /// Options that suit a machine.
    ///
    /// - Parameters:
    ///   - threads: The number of parallel threads.
    ///   - cacheByteCounts: The sizes of the data caches, smallest first. If it is empty, usual sizes are assumed.
    ///   - machineByteCount: The machine's memory in bytes. The measurement uses at most an eighth of it.
    ///   - folder: The folder for the file.
    package init(threads: Int, cacheByteCounts: [UInt64], machineByteCount: UInt64, folder: String) {
        self.threads = threads
        let second = cacheByteCounts.dropFirst().first ?? 1 << 20
        // Leaves space in the cache for both sides and for other data.
        self.cacheByteCount = Int(clamping: second / 4)
        // The last cache may be shared with other virtual machines, so that there is also an upper limit.
        let last = cacheByteCounts.last ?? 32 << 20
        let wanted = min(max(2 * last, 64 << 20), 256 << 20)
        self.memoryByteCount = Int(clamping: max(1 << 20, min(wanted, machineByteCount / 16)))
        self.windowByteCounts = [4 << 10, 64 << 10, 256 << 10, 1 << 20, 16 << 20, 64 << 20]
        self.folder = folder
        self.sampleNanoseconds = 5_000_000
        self.sampleCount = 7
    }

    /// Removes threads and windows that do not matter for any cell. If a cell's window is not measured itself, the
    /// nearest windows on both sides stay, because rates are interpolated between them.
    package mutating func restrict(to cells: [Cell]) {
        threads = min(threads, cells.map(\.threads).max() ?? 1)
        let wanted = cells.filter { LimitedSource(rawValue: $0.source) != nil }.flatMap { cell -> [Int] in
            let window = Int(clamping: cell.windowByteCount)
            return switch CellWorkload(cell.workload) {
            case .sequential, nil: [window]
            case .random(let rangeByteCount): [min(window, Int(clamping: rangeByteCount))]
            // A trace has reads of many lengths.
            case .trace: windowByteCounts.filter { $0 < window } + [window]
            }
        }
        let kept = wanted.flatMap { window in
            windowByteCounts.contains(window)
                ? [window] : [windowByteCounts.last { $0 < window }, windowByteCounts.first { $0 > window }]
        }
        windowByteCounts.removeAll { !kept.contains($0) }
    }
}

/// A file without a name whose content is in the page cache.
final class CachedFile {
    let byteCount: Int
    private let descriptor: Int32

    /// Writes the file. The corresponding C functions are `mkstemp`, `unlink` and `write`.
    ///
    /// - Throws: `LimitError` if the folder has no space for a file of that length.
    init(byteCount: Int, folder: String) throws(LimitError) {
        var path = Array("\(folder)/chunkwise-limits-XXXXXX".utf8CString)
        let descriptor = mkstemp(&path)
        let code = errno
        guard descriptor >= 0 else { throw LimitError("make a file in \(folder)", code: code) }
        unlink(path)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        self.byteCount = byteCount
        self.descriptor = descriptor
        let block = Buffer(byteCount: 1 << 20)
        var done = 0
        while done < byteCount {
            let count = write(descriptor, block.bytes.baseAddress, min(block.bytes.count, byteCount - done))
            let code = errno
            if count < 0, code == EINTR { continue }
            guard count > 0 else { throw LimitError("write \(byteCount) bytes in \(folder)", code: code) }
            done += count
        }
    }

    deinit {
        close(descriptor)
    }

    /// Fills a buffer from an offset on, and returns whether that worked. The corresponding C function is `pread`.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Bool {
        var done = 0
        while done < buffer.count {
            let count = pread(
                descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(offset + done))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }
}

/// An error of the measurement of limits.
package struct LimitError: Error, Hashable, Sendable, CustomStringConvertible, ExitStatusProviding {
    /// The operation that failed.
    package var operation: String
    /// The `errno` value; 0 if a file ended too early.
    package var code: Int32

    init(_ operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    /// Always an I/O error.
    package var exitStatus: ExitStatus { .io }

    /// The message: what failed, the reason, and what was expected.
    package var description: String {
        "\(operation) failed: \(code == 0 ? "it ended too early" : String(cString: strerror(code))): "
            + "expected a folder that takes a file of this length"
    }
}
