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
        /// How many reads in a row were of none of the blocks.
        var missCount = 0
    }

    private static let leastByteCount = 256 << 10
    /// After so many reads elsewhere, what is under way is of no use.
    private static let mostMisses = 16
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
        pool = RangeMemoryPool(byteCount: mostByteCount, mostCount: depth + 2)
    }

    /// Takes the next read for the first of many, whatever was read before it.
    func expectOrder() {
        state.withLock { state in
            state.expectsOrder = true
            state.next = nil
        }
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
            if !Self.isCovered(offset, state) {
                state.missCount += 1
                // Threads that share a reading in order are behind each other, or ahead, by a few windows.
                if state.expectsOrder, !state.blocks.isEmpty, state.missCount <= Self.mostMisses { return nil }
                Self.drop(&state)
                guard goesOn else { return nil }
            }
            state.missCount = 0
            let isThrough = state.blocks.first.map { $0.range.upperBound <= offset } ?? false
            while let first = state.blocks.first,
                first.range.upperBound + (state.expectsOrder ? UInt64(first.range.count) : 0) <= offset
            {
                // Where it was jumped over, nobody waits for the rest.
                first.cancel()
                state.blocks.removeFirst()
            }
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

    /// Whether a byte is in a block, or in the one that would be next.
    private static func isCovered(_ offset: UInt64, _ state: State) -> Bool {
        guard let last = state.blocks.last else { return false }
        let isNext = offset >= last.range.upperBound && offset - last.range.upperBound <= slack
        return isNext || state.blocks.contains { $0.range.contains(offset) }
    }

    private static func drop(_ state: inout State) {
        state.blocks.forEach { $0.cancel() }
        state.blocks = []
        state.byteCount = leastByteCount
        state.depth = 1
    }

    private func fill(_ state: inout State, from offset: UInt64) {
        var start = state.blocks.last?.range.upperBound ?? offset
        // One more, since the last one stays for threads that are behind.
        let most = state.depth + (state.expectsOrder ? 2 : 1)
        while state.blocks.count < most, start < version.byteCount {
            let count = UInt64(min(state.byteCount, mostByteCount))
            let end = start + min(count, version.byteCount - start)
            state.blocks.append(transport.start(start..<end, opened: version, until: transport.deadline, pool: pool))
            state.byteCount = min(2 * state.byteCount, mostByteCount)
            start = end
        }
    }
}
