#if Network
import Synchronization

/// Guesses what is read next, and asks for it before it is read, so that no read waits for a round trip.
///
/// Reads count as being in order if each starts where the last ended, or shortly before: a block of cipher text is
/// needed twice. Ranges grow as long as that goes on. What is known and need not be guessed is for ``ExpectedReads``.
final class ReadAhead: Sendable {
    private struct State {
        /// Ranges that follow each other.
        var blocks: [PendingRange] = []
        /// Where a read would go on.
        var next: UInt64?
        /// How long the next range is.
        var lengths: GrowingRanges
        /// How many ranges are under way behind the one that is being read from.
        var depth = 1
    }

    /// How far before the end of the last read one may start that goes on with it.
    private static let slack: UInt64 = 4096

    private let requests: RangeRequests
    private let state: Mutex<State>

    /// Prepares.
    init(_ requests: RangeRequests) {
        self.requests = requests
        state = Mutex(State(lengths: requests.lengths))
    }

    /// The range under way that has a byte, and asks for those after it; `nil` if reads are not in order.
    ///
    /// - Parameters:
    ///   - offset: The byte, within the object.
    ///   - count: How many bytes are read.
    /// - Returns: What to wait on.
    func block(at offset: UInt64, count: UInt64) -> PendingRange? {
        state.withLock { state in
            let goesOn = state.next.map { $0 >= offset && $0 - offset <= Self.slack } ?? false
            state.next = offset + count
            if !state.blocks.contains(where: { $0.range.contains(offset) }) {
                drop(&state)
                guard goesOn else { return nil }
            }
            while let first = state.blocks.first, first.range.upperBound <= offset {
                // Where it was skipped, no read waits for the rest.
                first.cancel()
                state.blocks.removeFirst()
                state.depth = min(state.depth + 1, requests.depth)
            }
            fill(&state, from: offset)
            return state.blocks.first { $0.range.contains(offset) }
        }
    }

    /// Ends what is under way.
    func stop() {
        state.withLock { drop(&$0) }
    }

    private func drop(_ state: inout State) {
        state.blocks.forEach { $0.cancel() }
        state.blocks = []
        state.lengths = requests.lengths
        state.depth = 1
    }

    private func fill(_ state: inout State, from offset: UInt64) {
        var start = state.blocks.last?.range.upperBound ?? offset
        let end = requests.version.byteCount
        while state.blocks.count <= state.depth, start < end {
            let range = state.lengths.next(from: start, before: end)
            state.blocks.append(requests.start(range))
            start = range.upperBound
        }
    }
}

/// Requests for ranges of one version of an object, several at a time.
struct RangeRequests: Sendable {
    /// The version.
    let version: ObjectVersion
    /// How many ranges are under way at once; 0 for none.
    let depth: Int

    private let transport: HTTPTransport
    private let maxByteCount: Int
    /// Memory for what is asked for ahead.
    private let pool: RangeMemoryPool

    /// Prepares; nothing is asked yet.
    init(_ transport: HTTPTransport, version: ObjectVersion, options: HTTPSource.Options) {
        self.transport = transport
        self.version = version
        depth = options.readAheadDepth
        maxByteCount = options.largestBlockByteCount
        pool = RangeMemoryPool(byteCount: maxByteCount, maxCount: depth + 2)
    }

    /// How long ranges are.
    var lengths: GrowingRanges { GrowingRanges(maxByteCount: maxByteCount) }

    /// Asks for a range.
    func start(_ range: Range<UInt64>) -> PendingRange {
        transport.start(.range(range), opened: version, limits: transport.limits, pool: pool)
    }
}

/// Lengths of ranges that are asked for one after the other: they double, so that the first one comes soon, and later
/// ones cost few requests.
struct GrowingRanges {
    private static let minByteCount = 256 << 10

    private let maxByteCount: Int
    private var byteCount: Int

    /// Starts with a short one.
    init(maxByteCount: Int) {
        self.maxByteCount = maxByteCount
        byteCount = min(Self.minByteCount, maxByteCount)
    }

    /// The next range.
    ///
    /// - Parameters:
    ///   - start: Where it starts.
    ///   - end: What it does not go beyond, more than `start`.
    /// - Returns: Some of the bytes between them, at least one.
    mutating func next(from start: UInt64, before end: UInt64) -> Range<UInt64> {
        let range = start..<start + min(UInt64(byteCount), end - start)
        byteCount = min(2 * byteCount, maxByteCount)
        return range
    }
}

/// A range that is going to be read whole and about in order, by any number of threads: asks for it ahead, for each of its
/// bytes once, and for none beyond it.
///
/// A thread that is further ahead than the ranges under way asks for its bytes itself, and those behind it go on from
/// there; bytes that were passed over so are asked for when they are read.
final class ExpectedReads: Sendable {
    /// How the bytes of a read come.
    enum Way {
        /// With this range, which is under way.
        case underWay(PendingRange)
        /// By asking for them, up to here: what follows is under way.
        case asked(upTo: UInt64)
    }

    private struct State {
        /// Ranges under way, or here and not all read, in order.
        var blocks: [PendingRange] = []
        /// Where those start that were not asked for yet.
        var front: UInt64
        /// How long the next range is.
        var lengths: GrowingRanges
        /// What was read.
        var delivered = RangeSet<UInt64>()
    }

    /// When reading is so far past a range, it is not read again.
    private static let farthest: UInt64 = 256 << 20

    /// What is going to be read, within the object.
    let range: Range<UInt64>

    private let requests: RangeRequests
    private let state: Mutex<State>

    /// Asks for the first ranges.
    ///
    /// - Parameters:
    ///   - range: What is going to be read, within the object; not empty.
    ///   - requests: What asks.
    init(_ range: Range<UInt64>, _ requests: RangeRequests) {
        self.range = range
        self.requests = requests
        state = Mutex(State(front: range.lowerBound, lengths: requests.lengths))
        state.withLock { fill(&$0) }
    }

    /// How the bytes of a read come, the first of them at least.
    ///
    /// - Parameter bytes: What is read, which starts in ``range``.
    /// - Returns: The way.
    func way(to bytes: Range<UInt64>) -> Way {
        state.withLock { state in
            if let block = state.blocks.first(where: { $0.range.contains(bytes.lowerBound) }) {
                return .underWay(block)
            }
            let next = state.blocks.first { $0.range.lowerBound > bytes.lowerBound }
            let end = min(bytes.upperBound, next?.range.lowerBound ?? .max)
            state.front = max(state.front, end)
            return .asked(upTo: end)
        }
    }

    /// Notes that bytes were read, and asks for more where a range is done with.
    func deliver(_ bytes: Range<UInt64>) {
        state.withLock { state in
            state.delivered.insert(contentsOf: bytes)
            let done = state.blocks.filter { isDone($0.range, state.delivered, at: bytes.lowerBound) }
            guard !done.isEmpty else { return }
            done.forEach { $0.cancel() }
            state.blocks.removeAll { block in done.contains { $0 === block } }
            fill(&state)
        }
    }

    /// Gives up a range whose bytes do not come; those that are still wanted are asked for again, one by one.
    func drop(_ block: PendingRange) {
        block.cancel()
        state.withLock { state in
            state.blocks.removeAll { $0 === block }
            fill(&state)
        }
    }

    /// Ends what is under way.
    func stop() {
        state.withLock { state in
            state.blocks.forEach { $0.cancel() }
            state.blocks = []
            state.front = range.upperBound
        }
    }

    /// Whether a range is no longer needed: it was read, and so was the byte after it, by then with the block before it,
    /// which may be its IV.
    private func isDone(_ block: Range<UInt64>, _ delivered: RangeSet<UInt64>, at offset: UInt64) -> Bool {
        if offset > block.upperBound, offset - block.upperBound > Self.farthest { return true }
        let end = min(block.upperBound + 1, range.upperBound)
        return delivered.ranges.contains { $0.lowerBound <= block.lowerBound && $0.upperBound >= end }
    }

    private func fill(_ state: inout State) {
        while state.blocks.count <= requests.depth, state.front < range.upperBound {
            let next = state.lengths.next(from: state.front, before: range.upperBound)
            state.blocks.append(requests.start(next))
            state.front = next.upperBound
        }
    }
}
#endif
