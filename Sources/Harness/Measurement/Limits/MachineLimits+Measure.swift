import Glibc
package import Results
package import Support

extension MachineLimits {
    /// Measures this machine: first with one thread, then with all. It takes a few seconds, each figure well under one.
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
        // No window is longer than what one thread reads.
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
        // The last cache may be shared with machines that cannot be seen from here, so that there is an upper bound,
        // too.
        let last = cacheByteCounts.last ?? 32 << 20
        let wanted = min(max(2 * last, 64 << 20), 256 << 20)
        self.memoryByteCount = Int(clamping: max(1 << 20, min(wanted, machineByteCount / 16)))
        self.windowByteCounts = [4 << 10, 64 << 10, 256 << 10, 1 << 20, 16 << 20, 64 << 20]
        self.folder = folder
        self.sampleNanoseconds = 5_000_000
        self.sampleCount = 7
    }

    /// Leaves out threads and windows that no cell runs into: of the windows, the nearest on both sides of each that a
    /// cell reads into stay, since rates are interpolated between them.
    package mutating func restrict(to cells: [Cell]) {
        threads = min(threads, cells.map(\.threads).max() ?? 1)
        let wanted = cells.filter { LimitedSource(rawValue: $0.source) != nil }.flatMap { cell -> [Int] in
            let window = Int(clamping: cell.windowByteCount)
            return switch CellWorkload(cell.workload) {
            case .sequential, nil: [window]
            case .random(let rangeByteCount): [min(window, Int(clamping: rangeByteCount))]
            // Reads of many lengths.
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
    /// - Throws: `LimitError` if the folder takes no file of that length.
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

    /// Reads into a buffer from an offset on, all of it; whether that worked. The corresponding C function is `pread`.
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

/// Why limits could not be measured.
package struct LimitError: Error, Hashable, Sendable, CustomStringConvertible, ExitStatusProviding {
    /// What was tried.
    package var operation: String
    /// The `errno` value; 0 if a file ended too early.
    package var code: Int32

    init(_ operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    /// A folder did not take a file.
    package var exitStatus: ExitStatus { .io }

    /// What failed, why, and what was expected.
    package var description: String {
        "\(operation) failed: \(code == 0 ? "it ended too early" : String(cString: strerror(code))): "
            + "expected a folder that takes a file of this length"
    }
}
