package import RandomAccess

/// One read and its expected outcome.
package struct RangeRead: Hashable, Sendable {
    /// The expected result of a read.
    package enum Expectation: Hashable, Sendable {
        /// The read delivers these bytes.
        case bytes([UInt8])
        /// The read delivers `byteCount` bytes of the group's plaintext, from the read's offset on.
        case plaintext(byteCount: Int)
        /// The read fails with this error.
        case error(ErrorName)
    }

    /// A label that distinguishes the read from others of the same range; part of its identifier.
    package let label: String?
    /// The classes of bugs that the read stands for.
    package let flags: [VectorFlag]
    /// The plaintext offset.
    package let offset: UInt64
    /// The number of bytes to read.
    package let count: Int
    /// The expected result.
    package let expected: Expectation

    package init(label: String? = nil, flags: [VectorFlag], offset: UInt64, count: Int, expected: Expectation) {
        self.label = label
        self.flags = flags
        self.offset = offset
        self.count = count
        self.expected = expected
    }

    /// The expected result follows from the plaintext's length, and so do some flags in addition to the given ones.
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

/// Reads in the compact form of a file: one read, all combinations of offsets and counts, or all ranges.
package enum ReadPattern: Hashable, Sendable {
    /// One read.
    case single(RangeRead)
    /// Every combination, offset by offset.
    ///
    /// Each offset has the `counts` in order, then the counts that reach `toEnd` bytes past the plaintext's end.
    /// Offsets past the end have no `toEnd` counts. Ranges include both ends.
    case product(offsets: [ClosedRange<UInt64>], counts: [ClosedRange<Int>], toEnd: [Int], flags: [VectorFlag])
    /// Every offset from 0 to `past` bytes past the plaintext's end, each with every count from 0 to `past` bytes past
    /// the end.
    case exhaustive(past: Int, flags: [VectorFlag])

    /// Returns every combination of some offsets and counts.
    static func product(
        offsets: [ClosedRange<UInt64>], counts: [Int] = [], toEnd: [Int] = [], flags: [VectorFlag]
    ) -> ReadPattern {
        .product(offsets: offsets, counts: counts.map { $0...$0 }, toEnd: toEnd, flags: flags)
    }

    /// Returns the same reads with other flags. A single read keeps its own flags.
    func flagged(_ flags: [VectorFlag]) -> ReadPattern {
        switch self {
        case .single: self
        case .product(let offsets, let counts, let toEnd, _):
            .product(offsets: offsets, counts: counts, toEnd: toEnd, flags: flags)
        case .exhaustive(let past, _): .exhaustive(past: past, flags: flags)
        }
    }

    /// Returns the reads of a plaintext of this length, in order.
    package func reads(of plaintextByteCount: UInt64) -> [RangeRead] {
        switch self {
        case .single(let read):
            return [read]
        case .product(let offsets, let counts, let toEnd, let flags):
            var reads: [RangeRead] = []
            let counts = counts.flatMap { Array($0) }
            for offset in offsets.joined() {
                for count in counts {
                    reads.append(RangeRead(offset: offset, count: count, of: plaintextByteCount, flags: flags))
                }
                guard offset <= plaintextByteCount else { continue }
                for past in toEnd {
                    let count = Int(plaintextByteCount - offset) + past
                    reads.append(RangeRead(offset: offset, count: count, of: plaintextByteCount, flags: flags))
                }
            }
            return reads
        case .exhaustive(let past, let flags):
            let end = Int(plaintextByteCount)
            return (0...end + past).flatMap { offset in
                (0...max(0, end - offset) + past).map { count in
                    RangeRead(offset: UInt64(offset), count: count, of: plaintextByteCount, flags: flags)
                }
            }
        }
    }

    /// Returns the number of reads of a plaintext of this length.
    package func readCount(of plaintextByteCount: UInt64) -> Int {
        switch self {
        case .single:
            return 1
        case .product(let offsets, let counts, let toEnd, _):
            let inside = offsets.reduce(0) { sum, range in
                guard range.lowerBound <= plaintextByteCount else { return sum }
                return sum + Int(min(range.upperBound, plaintextByteCount) - range.lowerBound) + 1
            }
            return offsets.reduce(0) { $0 + $1.count } * counts.reduce(0) { $0 + $1.count } + inside * toEnd.count
        case .exhaustive(let past, _):
            // An offset n bytes before the end has counts from 0 to n + past, the `past` offsets after the end from 0
            // to past.
            return (0...Int(plaintextByteCount)).reduce(0) { $0 + $1 + past + 1 } + past * (past + 1)
        }
    }
}

/// An error by its name in the subject protocol, so that a vector can require it of any subject.
///
/// - Source: PROTOCOL.md, "Transport".
package enum ErrorName: String, CaseIterable, Codable, Hashable, Sendable {
    /// An invalid request.
    case invalidRequest
    /// A request that the subject understands but does not support.
    case unsupported
    /// A key of the wrong length.
    case invalidKey
    /// An IV of the wrong length.
    case invalidIV
    /// The source failed.
    case io
    /// A length that no plaintext has, or a source that ends early.
    case truncatedCiphertext
    /// The end has no valid padding.
    case invalidPadding
    /// A tag or commitment does not match.
    case authenticationFailed
    /// A header of another format.
    case invalidHeader
    /// A read that starts past the end.
    case rangeOutOfBounds
    /// Anything else.
    case `internal`

    /// The name of an error.
    package init(_ error: DecryptionError) {
        self = ErrorName(rawValue: error.protocolName) ?? .internal
    }
}
