import NIOCore
import Synchronization

/// Asks for what comes next before it is read, so that nobody waits for a round trip.
///
/// Reads count as being in order if each starts where the last ended, or shortly before: a block of cipher text is
/// needed twice. Ranges grow as long as that goes on.
final class ReadAhead: Sendable {
    private struct State {
        /// Ranges that follow each other.
        var blocks: [PendingRange] = []
        /// Where a read would go on.
        var next: UInt64?
        /// How many bytes the next range has.
        var byteCount = ReadAhead.leastByteCount
        /// How many ranges are under way behind the one that is being read from.
        var depth = 1
        /// Whether the first read is taken for one of many.
        var expectsOrder = false
    }

    private static let leastByteCount = 256 << 10
    /// How far before the end of the last read one may start that goes on with it.
    private static let slack: UInt64 = 4096

    private let transport: HTTPTransport
    private let version: ObjectVersion
    private let depth: Int
    private let mostByteCount: Int
    private let pool: RangeMemoryPool
    private let state = Mutex(State())

    /// Prepares; `nil` where nothing is to be read ahead.
    init?(_ transport: HTTPTransport, version: ObjectVersion, options: HTTPSource.Options) {
        guard options.readAheadDepth > 0 else { return nil }
        self.transport = transport
        self.version = version
        depth = options.readAheadDepth
        mostByteCount = options.largestBlockByteCount
        pool = RangeMemoryPool(byteCount: mostByteCount, mostCount: depth + 1)
    }

    /// Takes the next read for the first of many.
    func expectOrder() {
        state.withLock { $0.expectsOrder = true }
    }

    /// The range under way that has a byte, and asks for those after it; `nil` if reads are not in order.
    ///
    /// - Parameters:
    ///   - offset: The byte, within the object.
    ///   - count: How many bytes are read.
    /// - Returns: What to wait on.
    func block(at offset: UInt64, count: UInt64) -> PendingRange? {
        state.withLock { state in
            let goesOn = state.next.map { $0 >= offset && $0 - offset <= Self.slack } ?? state.expectsOrder
            state.next = offset + count
            if !state.blocks.contains(where: { $0.range.contains(offset) }) {
                Self.drop(&state)
                guard goesOn else { return nil }
            }
            let isThrough = state.blocks.first.map { $0.range.upperBound <= offset } ?? false
            state.blocks.removeAll { $0.range.upperBound <= offset }
            if isThrough || state.expectsOrder {
                state.depth = state.expectsOrder ? depth : min(state.depth + 1, depth)
            }
            fill(&state, from: offset)
            return state.blocks.first { $0.range.contains(offset) }
        }
    }

    /// Ends what is under way.
    func stop() {
        state.withLock { Self.drop(&$0) }
    }

    private static func drop(_ state: inout State) {
        state.blocks.forEach { $0.cancel() }
        state.blocks = []
        state.byteCount = leastByteCount
        state.depth = 1
    }

    private func fill(_ state: inout State, from offset: UInt64) {
        var start = state.blocks.last?.range.upperBound ?? offset
        while state.blocks.count <= state.depth, start < version.byteCount {
            let count = UInt64(min(state.byteCount, mostByteCount))
            let end = start + min(count, version.byteCount - start)
            state.blocks.append(transport.start(start..<end, opened: version, until: transport.deadline, pool: pool))
            state.byteCount = min(2 * state.byteCount, mostByteCount)
            start = end
        }
    }
}
