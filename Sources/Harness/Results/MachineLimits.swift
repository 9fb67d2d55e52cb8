import Glibc
import Statistics
import Support

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

/// The limit that a throughput runs into first.
package struct BindingLimit: Codable, Hashable, Sendable {
    /// What is limited.
    package enum Kind: String, CaseIterable, Codable, Hashable, Sendable {
        /// Decryption by the CPU's AES instructions.
        case aesUnit
        /// `pread` from the page cache into the window.
        case pageCacheRead
        /// Copying from memory into the window.
        case memoryCopy
    }

    /// What is limited.
    package var kind: Kind
    /// The limit.
    package var bytesPerSecond: UInt64
    /// The throughput over the limit: 1 is as fast as this machine gets.
    ///
    /// One thread that first reads and then decrypts stays below 1 even if both are perfect, since it never does both at
    /// once: it gets 1 ÷ (1 ÷ a + 1 ÷ b) of two limits a and b.
    package var share: Double

    /// Creates a limit.
    package init(kind: Kind, bytesPerSecond: UInt64, share: Double) {
        self.kind = kind
        self.bytesPerSecond = bytesPerSecond
        self.share = share
    }
}

/// Where ciphertext comes from, as far as it limits; the raw values are those of `source` in a cell.
package enum LimitedSource: String, CaseIterable, Codable, Hashable, Sendable {
    /// A file in the page cache.
    case file
    /// A file in the page cache that is mapped: decryption takes the place of the copy, and needs its bandwidth.
    case mmap
    /// Memory.
    case memory
    /// Computed where it is read: there is no limit but the AES unit's.
    case generated
}

extension MachineLimits {
    /// Says which limit a cell runs into: the smaller one of the AES unit's and of the one for getting at ciphertext.
    ///
    /// - Parameters:
    ///   - bytesPerSecond: The cell's throughput.
    ///   - keyByteCount: The key's length: 16, 24 or 32.
    ///   - windowByteCount: The bytes that are read and decrypted in one step.
    ///   - source: Where they are read.
    ///   - threads: The threads that read side by side.
    /// - Returns: The limit, or `nil` if none is known.
    package func bindingLimit(
        bytesPerSecond: Double, keyByteCount: Int, windowByteCount: UInt64, source: LimitedSource, threads: Int
    ) -> BindingLimit? {
        let limits = limits(
            keyByteCount: keyByteCount, windowByteCount: windowByteCount, source: source, threads: threads)
        guard let (kind, bound) = limits.min(by: { $0.bytesPerSecond < $1.bytesPerSecond }) else { return nil }
        return BindingLimit(kind: kind, bytesPerSecond: UInt64(nearest: bound), share: bytesPerSecond / bound)
    }

    /// The limits of a cell, as far as they are known: the AES unit's, and the one for getting at ciphertext.
    ///
    /// - Parameters:
    ///   - keyByteCount: The key's length: 16, 24 or 32.
    ///   - windowByteCount: The bytes that are read and decrypted in one step.
    ///   - source: Where they are read.
    ///   - threads: The threads that read side by side.
    /// - Returns: What is limited, and the limit in bytes per second, above 0.
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
            // The longest window is one that fits no cache.
            case .memory, .mmap:
                limit(.memoryCopy) { Self.rate(of: $0.memoryRead + [$0.memoryCopy], at: windowByteCount) }
            case .generated: nil
            }
        return [aes, read].compactMap { $0 }
    }

    /// What some threads can do at most, if one and all are known: as many times what one does, up to what all do.
    static func interpolate(one: Double, all: Double, of allThreadCount: Int, threads: Int) -> Double {
        // All can do what one can, and one its share of what all can: where they did less, something else was running.
        let minimum = max(one, all / Double(max(1, allThreadCount)))
        let maximum = max(minimum, all)
        return threads >= allThreadCount ? maximum : min(minimum * Double(max(1, threads)), maximum)
    }

    /// The rate at a window between two measured ones, on a line over the logarithm of the window; beyond the shortest
    /// and the longest, theirs.
    ///
    /// - Returns: `nil` if none was measured.
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

/// The binary logarithm of the ratio of two lengths, both above 0. The corresponding C function is `log2`.
private func logarithm(_ byteCount: UInt64, over other: UInt64) -> Double {
    log2(Double(max(1, byteCount)) / Double(max(1, other)))
}

/// How fast bytes went through something, several times over.
package struct Rate: Codable, Hashable, Sendable {
    /// The bytes that went through during each sample, over all threads.
    package var byteCount: UInt64
    /// How long each sample took.
    package var nanoseconds: [UInt64]
    /// `byteCount` over the median of the samples; 0 if there are none.
    package var bytesPerSecond: UInt64

    /// Creates a rate from its samples.
    package init(byteCount: UInt64, nanoseconds: [UInt64]) {
        self.byteCount = byteCount
        self.nanoseconds = nanoseconds
        let typical = median(of: nanoseconds) ?? 0
        self.bytesPerSecond = typical > 0 ? UInt64(nearest: Double(byteCount) / typical * 1e9) : 0
    }

}

/// A rate that depends on the length of a buffer.
package struct BufferRate: Codable, Hashable, Sendable {
    /// The buffer's length in bytes: the window that is read into, or each of the two sides of a copy.
    package var bufferByteCount: UInt64
    /// The rate with such buffers.
    package var rate: Rate

    /// Creates a rate.
    package init(bufferByteCount: UInt64, rate: Rate) {
        self.bufferByteCount = bufferByteCount
        self.rate = rate
    }
}

/// A rate that depends on the length of an AES key.
package struct KeyRate: Codable, Hashable, Sendable {
    /// The key's length in bytes: 16, 24 or 32.
    package var keyByteCount: Int
    /// The rate with such keys.
    package var rate: Rate

    /// Creates a rate.
    package init(keyByteCount: Int, rate: Rate) {
        self.keyByteCount = keyByteCount
        self.rate = rate
    }
}
