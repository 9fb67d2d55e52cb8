/// One read and its expected outcome.
package struct RangeRead: Hashable, Sendable {
    /// What a read is to deliver.
    package enum Expectation: Hashable, Sendable {
        /// These bytes.
        case bytes([UInt8])
        /// So many bytes of the group's plaintext, from the read's offset on.
        case plaintext(byteCount: Int)
        /// This error.
        case error(ErrorName)
    }

    /// What sets the read apart from others of the same range; part of its identifier.
    package let label: String?
    /// The classes of bugs that the read stands for.
    package let flags: [VectorFlag]
    /// The plaintext offset.
    package let offset: UInt64
    /// The bytes asked for.
    package let count: Int
    /// What is to come of it.
    package let expected: Expectation

    /// Creates a read.
    package init(label: String? = nil, flags: [VectorFlag], offset: UInt64, count: Int, expected: Expectation) {
        self.label = label
        self.flags = flags
        self.offset = offset
        self.count = count
        self.expected = expected
    }

    /// Creates a read whose outcome follows from the plaintext's length; so do some flags beside the given ones.
    ///
    /// - Source: PROTOCOL.md, "read".
    package init(offset: UInt64, count: Int, of plaintextByteCount: UInt64, flags: [VectorFlag]) {
        var flags = flags
        if offset > plaintextByteCount {
            self.expected = .error(.rangeOutOfBounds)
            flags.append(.offsetPastEnd)
        } else {
            let rest = plaintextByteCount - offset
            self.expected = .plaintext(byteCount: rest < UInt64(count) ? Int(rest) : count)
            if rest == 0 {
                flags.append(.offsetAtEnd)
            } else if UInt64(count) > rest {
                flags.append(.readPastEnd)
            }
        }
        if count == 0 { flags.append(.zeroCount) }
        self.label = nil
        self.flags = flags
        self.offset = offset
        self.count = count
    }
}
