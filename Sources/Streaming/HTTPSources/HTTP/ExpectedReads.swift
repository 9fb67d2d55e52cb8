#if Network
import Synchronization

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
        /// Where those start that nobody asked for yet.
        var front: UInt64
        /// How long the next range is.
        var lengths: GrowingRanges
        /// What was read.
        var delivered = RangeSet<UInt64>()
    }

    /// When reading is so far past a range, nobody comes back for it.
    private static let farthest: UInt64 = 256 << 20

    /// What is going to be read, within the object.
    let range: Range<UInt64>

    private let transport: HTTPTransport
    private let version: ObjectVersion
    private let depth: Int
    private let pool: RangeMemoryPool
    private let state: Mutex<State>

    /// Asks for the first ranges.
    ///
    /// - Parameters:
    ///   - range: What is going to be read, within the object; not empty.
    ///   - transport: What asks.
    ///   - version: What all bytes must be of.
    ///   - options: How far ahead; at least one range.
    ///   - pool: Where the ranges' memory comes from.
    init(
        _ range: Range<UInt64>, _ transport: HTTPTransport, version: ObjectVersion, options: HTTPSource.Options,
        pool: RangeMemoryPool
    ) {
        self.range = range
        self.transport = transport
        self.version = version
        self.pool = pool
        depth = options.readAheadDepth
        let lengths = GrowingRanges(maxByteCount: options.largestBlockByteCount)
        state = Mutex(State(front: range.lowerBound, lengths: lengths))
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

    /// Whether nobody needs a range any more: it was read, and so was the byte after it, by then with the block before it,
    /// which may be its IV.
    private func isDone(_ block: Range<UInt64>, _ delivered: RangeSet<UInt64>, at offset: UInt64) -> Bool {
        if offset > block.upperBound, offset - block.upperBound > Self.farthest { return true }
        let end = min(block.upperBound + 1, range.upperBound)
        return delivered.ranges.contains { $0.lowerBound <= block.lowerBound && $0.upperBound >= end }
    }

    private func fill(_ state: inout State) {
        while state.blocks.count <= depth, state.front < range.upperBound {
            let next = state.lengths.next(from: state.front, before: range.upperBound)
            state.blocks.append(transport.start(next, opened: version, limits: transport.limits, pool: pool))
            state.front = next.upperBound
        }
    }
}
#endif
