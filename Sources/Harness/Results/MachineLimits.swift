import Glibc
import Statistics
import Support

/// The limits of the machine itself: rates that no reader exceeds, whatever its backend.
///
/// A throughput means little without them. Half of the AES unit's rate is slow, and all of `pread`'s rate is as fast as
/// this machine gets.
package struct MachineLimits: Codable, Hashable, Sendable {
    /// The CPU instructions for AES: `vaes-avx512`, `vaes-avx2`, `aes-ni`, `arm`, or `none`.
    package var aesUnit: String
    /// The limits of one thread.
    package var oneThread: ThreadLimits
    /// The limits of all threads together: as many as the machine has CPUs, or as the user asked for.
    package var allThreads: ThreadLimits

    package init(aesUnit: String, oneThread: ThreadLimits, allThreads: ThreadLimits) {
        self.aesUnit = aesUnit
        self.oneThread = oneThread
        self.allThreads = allThreads
    }
}

/// The limits of a number of threads that work together.
package struct ThreadLimits: Codable, Hashable, Sendable {
    /// The number of threads.
    package var threads: Int
    /// Decryption of independent blocks in the smallest cache, by key length; empty without an AES unit.
    package var aesDecrypt: [KeyRate]
    /// Copying between two buffers in the second cache. The rate counts each byte once.
    package var cacheCopy: BufferRate
    /// Copying between two buffers that fit no cache. The rate counts each byte once.
    package var memoryCopy: BufferRate
    /// Copying from memory into a window, shortest window first.
    package var memoryRead: [BufferRate]
    /// `pread` of a file that is in the page cache into a window, shortest window first.
    package var pageCacheRead: [BufferRate]

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

/// The limit that a throughput reaches first.
package struct BindingLimit: Codable, Hashable, Sendable {
    /// The limited resource.
    package enum Kind: String, CaseIterable, Codable, Hashable, Sendable {
        /// Decryption by the CPU's AES instructions.
        case aesUnit
        /// `pread` from the page cache into the window.
        case pageCacheRead
        /// Copying from memory into the window.
        case memoryCopy
    }

    /// The limited resource.
    package var kind: Kind
    /// The limit in bytes per second.
    package var bytesPerSecond: UInt64
    /// The throughput divided by the limit: 1 is as fast as this machine gets.
    ///
    /// One thread that first reads and then decrypts stays below 1 even if both steps are perfect, since it never does
    /// both at once. With two limits a and b, it gets 1 ÷ (1 ÷ a + 1 ÷ b).
    package var share: Double

    package init(kind: Kind, bytesPerSecond: UInt64, share: Double) {
        self.kind = kind
        self.bytesPerSecond = bytesPerSecond
        self.share = share
    }
}

/// The sources of ciphertext that have different limits; the raw values are those of `source` in a cell.
package enum LimitedSource: String, CaseIterable, Codable, Hashable, Sendable {
    /// A file in the page cache.
    case file
    /// A mapped file in the page cache: decryption takes the place of the copy, and needs its bandwidth.
    case mmap
    /// A buffer in memory.
    case memory
    /// Ciphertext that is computed during the read; only the AES unit limits it.
    case generated
}

extension MachineLimits {
    /// Returns the limit that a cell reaches first: the AES unit's or the source's, whichever is lower.
    ///
    /// - Parameters:
    ///   - bytesPerSecond: The cell's throughput.
    ///   - keyByteCount: The key's length: 16, 24 or 32.
    ///   - windowByteCount: The bytes that the reader reads and decrypts in one step.
    ///   - source: The source of the ciphertext.
    ///   - threads: The threads that read at the same time.
    /// - Returns: The limit, or `nil` if none is known.
    package func bindingLimit(
        bytesPerSecond: Double, keyByteCount: Int, windowByteCount: UInt64, source: LimitedSource, threads: Int
    ) -> BindingLimit? {
        let limits = limits(
            keyByteCount: keyByteCount, windowByteCount: windowByteCount, source: source, threads: threads)
        guard let (kind, bound) = limits.min(by: { $0.bytesPerSecond < $1.bytesPerSecond }) else { return nil }
        return BindingLimit(kind: kind, bytesPerSecond: UInt64(nearest: bound), share: bytesPerSecond / bound)
    }

    /// Returns the known limits of a cell: the AES unit's and the source's.
    ///
    /// - Parameters:
    ///   - keyByteCount: The key's length: 16, 24 or 32.
    ///   - windowByteCount: The bytes that the reader reads and decrypts in one step.
    ///   - source: The source of the ciphertext.
    ///   - threads: The threads that read at the same time.
    /// - Returns: Each limited resource with its limit in bytes per second, above 0.
    package func limits(
        keyByteCount: Int, windowByteCount: UInt64, source: LimitedSource, threads: Int
    ) -> [(kind: BindingLimit.Kind, bytesPerSecond: Double)] {
        func limit(_ kind: BindingLimit.Kind, _ rate: (ThreadLimits) -> Double?) -> (BindingLimit.Kind, Double)? {
            guard let one = rate(oneThread), let all = rate(allThreads) else { return nil }
            let bound = Self.interpolate(one: one, all: all, of: allThreads.threads, threads: threads)
            return bound > 0 ? (kind, bound) : nil
        }
        let aes = limit(.aesUnit) { limits in
            limits.aesDecrypt.first { $0.keyByteCount == keyByteCount }.map { Double($0.rate.bytesPerSecond) }
        }
        let read: (BindingLimit.Kind, Double)? =
            switch source {
            case .file: limit(.pageCacheRead) { Self.rate(of: $0.pageCacheRead, at: windowByteCount) }
            // The copy between buffers that fit no cache serves as the longest window.
            case .memory, .mmap:
                limit(.memoryCopy) { Self.rate(of: $0.memoryRead + [$0.memoryCopy], at: windowByteCount) }
            case .generated: nil
            }
        return [aes, read].compactMap { $0 }
    }

    /// Returns the limit of some threads from those of one thread and of all threads: the limit of one thread times the
    /// number of threads, up to that of all threads.
    static func interpolate(one: Double, all: Double, of allThreadCount: Int, threads: Int) -> Double {
        // All threads can do what one can, and one thread can do its share of what all can. If they did less, something
        // else was running.
        let minimum = max(one, all / Double(max(1, allThreadCount)))
        let maximum = max(minimum, all)
        return threads >= allThreadCount ? maximum : min(minimum * Double(max(1, threads)), maximum)
    }

    /// Returns the rate at a window, interpolated between the two nearest measured windows.
    ///
    /// The rate is linear in the logarithm of the window. Below the shortest and above the longest window, it is
    /// theirs.
    /// - Returns: `nil` if no window was measured.
    static func rate(of rates: [BufferRate], at windowByteCount: UInt64) -> Double? {
        let points = rates.sorted { $0.bufferByteCount < $1.bufferByteCount }
        guard let above = points.first(where: { $0.bufferByteCount >= windowByteCount }) else {
            return points.last.map { Double($0.rate.bytesPerSecond) }
        }
        guard let below = points.last(where: { $0.bufferByteCount < windowByteCount }) else {
            return Double(above.rate.bytesPerSecond)
        }
        let position =
            logarithm(windowByteCount, over: below.bufferByteCount)
            / logarithm(above.bufferByteCount, over: below.bufferByteCount)
        let (low, high) = (Double(below.rate.bytesPerSecond), Double(above.rate.bytesPerSecond))
        return low + (high - low) * position
    }
}

/// Returns the binary logarithm of the ratio of two lengths, both above 0. The corresponding C function is `log2`.
private func logarithm(_ byteCount: UInt64, over other: UInt64) -> Double {
    log2(Double(max(1, byteCount)) / Double(max(1, other)))
}

/// The rate of a flow of bytes, from several samples.
package struct Rate: Codable, Hashable, Sendable {
    /// The bytes of each sample, over all threads.
    package var byteCount: UInt64
    /// The duration of each sample.
    package var nanoseconds: [UInt64]
    /// `byteCount` divided by the median of the samples; 0 if there are none.
    package var bytesPerSecond: UInt64

    /// A rate whose `bytesPerSecond` is computed from the samples.
    package init(byteCount: UInt64, nanoseconds: [UInt64]) {
        self.byteCount = byteCount
        self.nanoseconds = nanoseconds
        let typical = median(of: nanoseconds) ?? 0
        self.bytesPerSecond = typical > 0 ? UInt64(nearest: Double(byteCount) / typical * 1e9) : 0
    }

}

/// A rate that depends on the length of a buffer.
package struct BufferRate: Codable, Hashable, Sendable {
    /// The buffer's length in bytes: that of the window, or of each side of a copy.
    package var bufferByteCount: UInt64
    /// The rate with buffers of this length.
    package var rate: Rate

    package init(bufferByteCount: UInt64, rate: Rate) {
        self.bufferByteCount = bufferByteCount
        self.rate = rate
    }
}

/// A rate that depends on the length of an AES key.
package struct KeyRate: Codable, Hashable, Sendable {
    /// The key's length in bytes: 16, 24 or 32.
    package var keyByteCount: Int
    /// The rate with keys of this length.
    package var rate: Rate

    package init(keyByteCount: Int, rate: Rate) {
        self.keyByteCount = keyByteCount
        self.rate = rate
    }
}
