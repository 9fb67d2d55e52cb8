package import RandomAccess

/// What a reader of ranges asks for: of a server, and of one that is simulated.
package enum RangeReading {
    /// The bytes that are fetched when an object is opened: formats begin with something that is looked at first.
    package static let firstByteCount = 64 << 10
    /// The last bytes that are fetched at the same time, where the end is looked at: as much as the last chunk of the usual
    /// formats.
    package static let lastByteCount = 64 << 10
    /// The max number of ranges that are under way behind the one that is being read from.
    package static let depth = 4
    /// The max number of bytes of such a range.
    package static let maxByteCount = 4 << 20
    /// The bytes that a reader waits for at most before it goes on.
    package static let wakingByteCount = 256 << 10

    /// Returns how many last bytes are fetched when an object of a strategy is opened.
    package static func lastByteCount(_ strategy: Strategy) -> Int {
        strategy.padding == .pkcs7 || strategy.isAuthenticated ? lastByteCount : 0
    }
}

/// A range of an object that was asked for.
package protocol AskedRange {
    /// The bytes that were asked for.
    var range: Range<UInt64> { get }

    /// Ends the request; nothing happens if it is over.
    func cancel()
}

/// Guesses what is read next, and asks for it before it is read, so that no read waits for a round trip.
///
/// Reads count as being in order if each starts where the last ended, or shortly before or behind: a block of ciphertext is
/// needed twice, and the padding of a chunk not at all. Ranges grow as long as that goes on.
package struct RangesAhead<Asked: AskedRange> {
    /// Ranges that follow each other.
    private var blocks: [Asked] = []
    /// Where a read would go on.
    private var next: UInt64?
    /// How long the next range is.
    private var lengths: GrowingRanges
    /// How many ranges are under way behind the one that is being read from.
    private var depth = 1

    private let maxByteCount: Int
    private let maxDepth: Int

    /// How far from the end of the last read one may start that goes on with it.
    private static var slack: UInt64 { 4096 }

    /// Prepares; nothing is asked for yet.
    package init(maxDepth: Int = RangeReading.depth, maxByteCount: Int = RangeReading.maxByteCount) {
        (self.maxDepth, self.maxByteCount) = (maxDepth, maxByteCount)
        lengths = GrowingRanges(maxByteCount: maxByteCount)
    }

    /// The range under way that has a byte, and asks for those after it; `nil` if reads are not in order.
    ///
    /// - Parameters:
    ///   - offset: The byte, within the object.
    ///   - count: How many bytes are read.
    ///   - end: The object's length.
    ///   - ask: Asks for a range.
    /// - Returns: What to wait on.
    package mutating func block(
        at offset: UInt64, count: UInt64, before end: UInt64, ask: (Range<UInt64>) -> Asked
    ) -> Asked? {
        let goesOn = next.map { max($0, offset) - min($0, offset) <= Self.slack } ?? false
        next = offset + count
        if !blocks.contains(where: { $0.range.contains(offset) }) {
            drop()
            guard goesOn else { return nil }
        }
        while let first = blocks.first, first.range.upperBound <= offset {
            // Where it was skipped, no read waits for the rest.
            first.cancel()
            blocks.removeFirst()
            depth = min(depth + 1, maxDepth)
        }
        var start = blocks.last?.range.upperBound ?? offset
        while blocks.count <= depth, start < end {
            let range = lengths.next(from: start, before: end)
            blocks.append(ask(range))
            start = range.upperBound
        }
        return blocks.first { $0.range.contains(offset) }
    }

    /// Ends what is under way.
    package mutating func drop() {
        blocks.forEach { $0.cancel() }
        blocks = []
        lengths = GrowingRanges(maxByteCount: maxByteCount)
        depth = 1
    }
}

/// Lengths of ranges that are asked for one after the other: they double, so that the first one comes soon, and later
/// ones cost few requests.
package struct GrowingRanges: Sendable {
    private static let minByteCount = 256 << 10

    private let maxByteCount: Int
    private var byteCount: Int

    /// Starts with a short one.
    package init(maxByteCount: Int) {
        self.maxByteCount = maxByteCount
        byteCount = min(Self.minByteCount, maxByteCount)
    }

    /// The next range.
    ///
    /// - Parameters:
    ///   - start: Where it starts.
    ///   - end: What it does not go beyond, more than `start`.
    /// - Returns: Some of the bytes between them, at least one.
    package mutating func next(from start: UInt64, before end: UInt64) -> Range<UInt64> {
        let range = start..<start + min(UInt64(byteCount), end - start)
        byteCount = min(2 * byteCount, maxByteCount)
        return range
    }
}

extension RangesAhead: Sendable where Asked: Sendable {}
