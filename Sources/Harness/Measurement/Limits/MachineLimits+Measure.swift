package import Results
internal import Support

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
