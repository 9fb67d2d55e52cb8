#if Network
import Synchronization

/// Guesses what is read next, and asks for it before it is read, so that nobody waits for a round trip.
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

    private let transport: HTTPTransport
    private let version: ObjectVersion
    private let depth: Int
    private let maxByteCount: Int
    private let pool: RangeMemoryPool
    private let state: Mutex<State>

    /// Prepares.
    ///
    /// - Parameters:
    ///   - transport: What asks.
    ///   - version: What all bytes must be of.
    ///   - options: How far ahead; at least one range.
    ///   - pool: Where the ranges' memory comes from.
    init(
        _ transport: HTTPTransport, version: ObjectVersion, options: HTTPSource.Options, pool: RangeMemoryPool
    ) {
        self.transport = transport
        self.version = version
        self.pool = pool
        depth = options.readAheadDepth
        maxByteCount = options.largestBlockByteCount
        state = Mutex(State(lengths: GrowingRanges(maxByteCount: maxByteCount)))
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
                // Where it was jumped over, nobody waits for the rest.
                first.cancel()
                state.blocks.removeFirst()
                state.depth = min(state.depth + 1, depth)
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
        state.lengths = GrowingRanges(maxByteCount: maxByteCount)
        state.depth = 1
    }

    private func fill(_ state: inout State, from offset: UInt64) {
        var start = state.blocks.last?.range.upperBound ?? offset
        while state.blocks.count <= state.depth, start < version.byteCount {
            let range = state.lengths.next(from: start, before: version.byteCount)
            state.blocks.append(transport.start(range, opened: version, limits: transport.limits, pool: pool))
            start = range.upperBound
        }
    }
}
#endif
