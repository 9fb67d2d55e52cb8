internal import Statistics

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
        self.bytesPerSecond = typical > 0 ? UInt64((Double(byteCount) / typical * 1e9).rounded()) : 0
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
