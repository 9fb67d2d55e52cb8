/// What the machine itself can do: rates that no reader exceeds, whatever its backend.
///
/// A throughput means little without them: half of what the AES unit gives is slow, and all of what `pread` gives is as
/// fast as it gets.
package struct MachineLimits: Codable, Hashable, Sendable {
    /// The CPU instructions for AES: `vaes-avx512`, `vaes-avx2`, `aes-ni`, `arm`, or `none`.
    package var aesUnit: String
    /// What one thread can do.
    package var oneThread: ThreadLimits
    /// What as many threads as there are CPUs, or as were asked for, can do together.
    package var allThreads: ThreadLimits

    /// Creates limits.
    package init(aesUnit: String, oneThread: ThreadLimits, allThreads: ThreadLimits) {
        self.aesUnit = aesUnit
        self.oneThread = oneThread
        self.allThreads = allThreads
    }
}

/// The limits of a number of threads together.
package struct ThreadLimits: Codable, Hashable, Sendable {
    /// The number of threads.
    package var threads: Int
    /// Decryption of independent blocks in the smallest cache, by key length; empty without an AES unit.
    package var aesDecrypt: [KeyRate]
    /// Copying where both sides are in the second cache. The rate counts each byte once.
    package var cacheCopy: BufferRate
    /// Copying where neither side fits a cache. The rate counts each byte once.
    package var memoryCopy: BufferRate
    /// Copying from memory into a window, shortest window first.
    package var memoryRead: [BufferRate]
    /// `pread` of a file that is in the page cache into a window, shortest window first.
    package var pageCacheRead: [BufferRate]

    /// Creates limits.
    package init(
        threads: Int, aesDecrypt: [KeyRate], cacheCopy: BufferRate, memoryCopy: BufferRate, memoryRead: [BufferRate],
        pageCacheRead: [BufferRate]
    ) {
        self.threads = threads
        self.aesDecrypt = aesDecrypt
        self.cacheCopy = cacheCopy
        self.memoryCopy = memoryCopy
        self.memoryRead = memoryRead
        self.pageCacheRead = pageCacheRead
    }
}
