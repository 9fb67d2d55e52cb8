import ByteSources
package import RandomAccess
package import Support

/// The reads of a measurement. Source: PROTOCOL.md, "measure".
package enum Workload: Hashable, Sendable {
    /// The whole plaintext, `windowByteCount` bytes per read.
    case sequential(windowByteCount: UInt64)
    /// `readCount` reads per iteration, of `rangeByteCount` bytes at offsets drawn from `seed`. The first iteration has
    /// the draws from `firstDraw` on, and each later one the draws that follow.
    case random(rangeByteCount: UInt64, seed: UInt64, readCount: UInt64, firstDraw: UInt64 = 0)
    /// A list of reads.
    case trace([Read])

    /// One read.
    package struct Read: Hashable, Sendable {
        /// The plaintext offset.
        package let offset: UInt64
        /// The number of bytes to read.
        package let count: UInt64

        package init(offset: UInt64, count: UInt64) {
            self.offset = offset
            self.count = count
        }
    }

    /// The max length of a read. Source: PROTOCOL.md, "read".
    package static let largestRead: UInt64 = 256 << 20

    /// The max number of reads whose latencies are kept.
    package static let maxLatencies: UInt64 = 1 << 24

    /// Returns the workload with its first iteration at another draw; a workload without draws is unchanged.
    package func starting(atDraw draw: UInt64) -> Workload {
        guard case .random(let rangeByteCount, let seed, let readCount, _) = self else { return self }
        return .random(rangeByteCount: rangeByteCount, seed: seed, readCount: readCount, firstDraw: draw)
    }

    /// Returns the random workload with `readCount` reads per iteration; a workload without draws is unchanged.
    package func drawing(_ readCount: UInt64) -> Workload {
        guard case .random(let rangeByteCount, let seed, _, let firstDraw) = self else { return self }
        return .random(rangeByteCount: rangeByteCount, seed: seed, readCount: readCount, firstDraw: firstDraw)
    }

    /// Returns the number of draws in `iterationCount` iterations.
    package func drawCount(iterationCount: Int) -> UInt64 {
        guard case .random(_, _, let readCount, _) = self else { return 0 }
        return readCount &* UInt64(iterationCount)
    }

    /// A draw far from the first, fixed by the seed, at which the plaintext of a random workload is compared. A subject
    /// that starts again from the first draw delivers other bytes there.
    package var checkedDraw: UInt64 {
        guard case .random(_, let seed, _, _) = self else { return 0 }
        return 1 << 32 | SplitMix64Stream(seed: seed).word(0) >> 32
    }

    /// The workload's JSON object.
    package var json: JSONValue {
        switch self {
        case .sequential(let windowByteCount):
            ["kind": "sequential", "windowByteCount": .integer(windowByteCount)]
        case .random(let rangeByteCount, let seed, let readCount, let firstDraw):
            [
                "kind": "random", "rangeByteCount": .integer(rangeByteCount), "seed": .integer(seed),
                "reads": .integer(readCount), "firstDraw": .integer(firstDraw),
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
    /// - Throws: `DecryptionError.invalidParameter` if it is not a workload.
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
            func integer(_ member: String, absent: UInt64? = nil) throws(DecryptionError) -> UInt64 {
                let value = json[member] == nil ? absent : json[member]?.integer
                guard let value, value <= OpenParameters.largestInteger else {
                    throw .invalidParameter(
                        name: "workload member", value: "\"\(member)\"", expected: "an integer below 2^53")
                }
                return value
            }
            self = .random(
                rangeByteCount: try positive("rangeByteCount"), seed: try integer("seed"),
                readCount: try integer("reads"), firstDraw: try integer("firstDraw", absent: 0))
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

    /// Returns the reads of the first iteration in order, clipped at the end of the plaintext, so that each delivers as
    /// many bytes as it asks for.
    ///
    /// - Parameter plaintextByteCount: The plaintext's length.
    /// - Returns: The reads; empty for an empty plaintext that is read sequentially.
    /// - Throws: `DecryptionError.rangeOutOfBounds` if a range lies past the end; `.invalidParameter` if a read is
    ///   larger than the protocol allows.
    package func reads(plaintextByteCount: UInt64) throws(DecryptionError) -> ReadList {
        switch self {
        case .sequential(let windowByteCount):
            try Self.check(min(windowByteCount, plaintextByteCount))
            return .windows(byteCount: windowByteCount, plaintextByteCount: plaintextByteCount)
        case .random(let rangeByteCount, let seed, let readCount, let firstDraw):
            try Self.check(rangeByteCount)
            guard rangeByteCount <= plaintextByteCount else {
                throw .rangeOutOfBounds(offset: rangeByteCount, plaintextByteCount: plaintextByteCount)
            }
            return .drawn(
                ReadList.Draws(
                    stream: SplitMix64Stream(seed: seed), next: firstDraw,
                    placeCount: plaintextByteCount - rangeByteCount + 1, rangeByteCount: rangeByteCount,
                    readCount: Int(readCount)))
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

/// The reads of one iteration. Only listed reads take memory; the others are computed.
package enum ReadList: RandomAccessCollection, Sendable {
    /// Reads at offsets that are computed on demand.
    package struct Draws: Sendable {
        fileprivate let stream: SplitMix64Stream
        /// The index of the first read among all draws.
        fileprivate var next: UInt64
        /// The number of possible offsets.
        fileprivate let placeCount: UInt64
        fileprivate let rangeByteCount: UInt64
        fileprivate let readCount: Int

        /// Returns a read by its index, which may lie past the iteration.
        fileprivate func read(_ index: Int) -> Workload.Read {
            Workload.Read(
                offset: stream.word(next &+ UInt64(index)) % Swift.max(1, placeCount), count: rangeByteCount)
        }
    }

    /// `readCount` reads at offsets drawn one after the other.
    case drawn(Draws)
    /// The whole plaintext, `byteCount` bytes per read.
    case windows(byteCount: UInt64, plaintextByteCount: UInt64)
    /// A list of reads.
    case listed([Workload.Read])

    /// The index of the first read.
    package var startIndex: Int { 0 }

    /// The number of reads.
    package var endIndex: Int {
        switch self {
        case .windows(let byteCount, let plaintextByteCount):
            Int(clamping: plaintextByteCount / byteCount + (plaintextByteCount % byteCount == 0 ? 0 : 1))
        case .drawn(let draws): draws.readCount
        case .listed(let reads): reads.count
        }
    }

    /// Advances to the next iteration: the same reads again, but draws continue after the last one.
    package mutating func goOn() {
        guard case .drawn(var draws) = self else { return }
        draws.next &+= UInt64(draws.readCount)
        self = .drawn(draws)
    }

    /// Returns a read of this iteration or of a later one.
    package func continued(_ index: Int) -> Workload.Read {
        if case .drawn(let draws) = self { return draws.read(index) }
        return self[index % count]
    }

    /// Returns a read by its index.
    package subscript(position: Int) -> Workload.Read {
        switch self {
        case .windows(let byteCount, let plaintextByteCount):
            let offset = UInt64(position) * byteCount
            return Workload.Read(offset: offset, count: Swift.min(byteCount, plaintextByteCount - offset))
        case .drawn(let draws):
            return draws.read(position)
        case .listed(let reads):
            return reads[position]
        }
    }

    /// The longest read, in bytes.
    package var largestByteCount: UInt64 {
        switch self {
        case .windows(let byteCount, let plaintextByteCount): Swift.min(byteCount, plaintextByteCount)
        case .drawn(let draws): draws.readCount == 0 ? 0 : draws.rangeByteCount
        case .listed(let reads): reads.map(\.count).max() ?? 0
        }
    }

    /// The sum of the lengths of all reads.
    package var totalByteCount: UInt64 {
        switch self {
        case .windows(_, let plaintextByteCount): plaintextByteCount
        case .drawn(let draws): draws.rangeByteCount &* UInt64(draws.readCount)
        case .listed(let reads): reads.reduce(0) { $0 &+ $1.count }
        }
    }
}
