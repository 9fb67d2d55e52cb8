import ByteSources
package import RandomAccess
package import Support

/// The reads of a measurement. Source: PROTOCOL.md, "measure".
package enum Workload: Hashable, Sendable {
    /// The whole plaintext, `windowByteCount` bytes a read.
    case sequential(windowByteCount: UInt64)
    /// `readCount` reads of `rangeByteCount` bytes at offsets drawn from `seed`.
    case random(rangeByteCount: UInt64, seed: UInt64, readCount: UInt64)
    /// These reads.
    case trace([Read])

    /// One read.
    package struct Read: Hashable, Sendable {
        /// The plaintext offset.
        package let offset: UInt64
        /// How many bytes are asked for.
        package let count: UInt64

        /// Creates a read.
        package init(offset: UInt64, count: UInt64) {
            self.offset = offset
            self.count = count
        }
    }

    /// The max that a read may ask for. Source: PROTOCOL.md, "read".
    package static let largestRead: UInt64 = 256 << 20

    /// The max number of reads of which the latencies are kept.
    package static let maxLatencies: UInt64 = 1 << 24

    /// The max number of reads of a random workload: their offsets are drawn before the clock starts, and kept.
    package static let maxRandomReads: UInt64 = 1 << 22

    private static func readCount(of json: JSONValue) throws(DecryptionError) -> UInt64 {
        guard let count = json["reads"]?.integer, count <= maxRandomReads else {
            throw .invalidParameter(
                name: "workload member", value: "\"reads\"", expected: "an integer of at most \(maxRandomReads)")
        }
        return count
    }

    /// The workload's JSON object.
    package var json: JSONValue {
        switch self {
        case .sequential(let windowByteCount):
            ["kind": "sequential", "windowByteCount": .integer(windowByteCount)]
        case .random(let rangeByteCount, let seed, let readCount):
            [
                "kind": "random", "rangeByteCount": .integer(rangeByteCount), "seed": .integer(seed),
                "reads": .integer(readCount),
            ]
        case .trace(let reads):
            [
                "kind": "trace",
                "ranges": .array(reads.map { .array([.integer($0.offset), .integer($0.count)]) }),
            ]
        }
    }

    /// Reads a workload's JSON object.
    ///
    /// - Throws: `DecryptionError.invalidParameter` if it is none.
    package init(_ json: JSONValue) throws(DecryptionError) {
        func positive(_ member: String) throws(DecryptionError) -> UInt64 {
            guard let value = json[member]?.integer, value > 0, value <= OpenParameters.largestInteger else {
                throw .invalidParameter(name: "workload member", value: "\"\(member)\"", expected: "a positive integer")
            }
            return value
        }
        switch json["kind"]?.string {
        case "sequential":
            self = .sequential(windowByteCount: try positive("windowByteCount"))
        case "random":
            guard let seed = json["seed"]?.integer, seed <= OpenParameters.largestInteger else {
                throw .invalidParameter(name: "workload member", value: "\"seed\"", expected: "an integer below 2^53")
            }
            self = .random(
                rangeByteCount: try positive("rangeByteCount"), seed: seed, readCount: try Self.readCount(of: json))
        case "trace":
            var reads: [Read] = []
            for range in json["ranges"]?.array ?? [.null] {
                guard let pair = range.array, pair.count == 2, let offset = pair[0].integer,
                    let count = pair[1].integer, max(offset, count) <= OpenParameters.largestInteger
                else {
                    throw .invalidParameter(
                        name: "workload member", value: "\"ranges\"", expected: "pairs of offset and count")
                }
                reads.append(Read(offset: offset, count: count))
            }
            self = .trace(reads)
        default:
            throw .invalidParameter(
                name: "workload member", value: "\"kind\"", expected: "sequential, random or trace")
        }
    }

    /// The reads in their order, clipped at the end of the plaintext, so that each delivers what it asks for.
    ///
    /// - Parameter plaintextByteCount: The plaintext's length.
    /// - Returns: The reads; none for an empty plaintext read in sequence.
    /// - Throws: `DecryptionError.rangeOutOfBounds` if a range lies past the end; `.invalidParameter` if a read is
    ///   larger than the protocol allows; `.unsupported` if there are too many.
    package func reads(plaintextByteCount: UInt64) throws(DecryptionError) -> ReadList {
        switch self {
        case .sequential(let windowByteCount):
            try Self.check(min(windowByteCount, plaintextByteCount))
            return .windows(byteCount: windowByteCount, plaintextByteCount: plaintextByteCount)
        case .random(let rangeByteCount, let seed, let readCount):
            try Self.check(rangeByteCount)
            guard rangeByteCount <= plaintextByteCount else {
                throw .rangeOutOfBounds(offset: rangeByteCount, plaintextByteCount: plaintextByteCount)
            }
            guard readCount <= Self.maxRandomReads else {
                throw .unsupported("\(readCount) random reads: expected at most \(Self.maxRandomReads)")
            }
            let stream = SplitMix64Stream(seed: seed)
            return .listed(
                (0..<readCount).map {
                    Read(offset: stream.word($0) % (plaintextByteCount - rangeByteCount + 1), count: rangeByteCount)
                })
        case .trace(let reads):
            var clipped: [Read] = []
            for read in reads {
                guard read.offset <= plaintextByteCount else {
                    throw .rangeOutOfBounds(offset: read.offset, plaintextByteCount: plaintextByteCount)
                }
                let count = min(read.count, plaintextByteCount - read.offset)
                try Self.check(count)
                clipped.append(Read(offset: read.offset, count: count))
            }
            return .listed(clipped)
        }
    }

    private static func check(_ count: UInt64) throws(DecryptionError) {
        guard count <= largestRead else {
            throw .invalidParameter(name: "read of", value: "\(count) bytes", expected: "at most \(largestRead)")
        }
    }
}

/// The reads of one iteration; those of a sequential workload take no memory, however many they are.
package enum ReadList: RandomAccessCollection, Sendable {
    /// The whole plaintext, `byteCount` bytes a read.
    case windows(byteCount: UInt64, plaintextByteCount: UInt64)
    /// These.
    case listed([Workload.Read])

    /// The index of the first read.
    package var startIndex: Int { 0 }

    /// The number of reads.
    package var endIndex: Int {
        switch self {
        case .windows(let byteCount, let plaintextByteCount):
            Int(clamping: plaintextByteCount / byteCount + (plaintextByteCount % byteCount == 0 ? 0 : 1))
        case .listed(let reads): reads.count
        }
    }

    /// A read by its index.
    package subscript(position: Int) -> Workload.Read {
        switch self {
        case .windows(let byteCount, let plaintextByteCount):
            let offset = UInt64(position) * byteCount
            return Workload.Read(offset: offset, count: Swift.min(byteCount, plaintextByteCount - offset))
        case .listed(let reads):
            return reads[position]
        }
    }

    /// The longest read, in bytes.
    package var largestByteCount: UInt64 {
        switch self {
        case .windows(let byteCount, let plaintextByteCount): Swift.min(byteCount, plaintextByteCount)
        case .listed(let reads): reads.map(\.count).max() ?? 0
        }
    }

    /// The bytes that all reads deliver together.
    package var totalByteCount: UInt64 {
        switch self {
        case .windows(_, let plaintextByteCount): plaintextByteCount
        case .listed(let reads): reads.reduce(0) { $0 &+ $1.count }
        }
    }
}
