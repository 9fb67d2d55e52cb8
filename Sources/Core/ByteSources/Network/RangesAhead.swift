package import RandomAccess

/// The sizes of the requests that a reader sends to a server, real or simulated.
package enum RangeReading {
    /// The number of bytes to fetch when an object is opened: formats begin with a header that is read first.
    package static let firstByteCount = 64 << 10
    /// The number of last bytes to fetch at the same time if opening reads the end: the last chunk of the usual
    /// formats.
    package static let lastByteCount = 64 << 10
    /// The max number of ranges in flight behind the range being read.
    package static let depth = 4
    /// The max number of bytes of such a range.
    package static let maxByteCount = 4 << 20
    /// The max number of bytes that a reader waits for before it goes on.
    package static let wakingByteCount = 256 << 10

    /// Returns the number of last bytes to fetch when an object of a strategy is opened.
    package static func lastByteCount(_ strategy: Strategy) -> Int {
        strategy.padding == .pkcs7 || strategy.isAuthenticated ? lastByteCount : 0
    }
}

/// A requested range of an object.
package protocol AskedRange {
    /// The requested bytes.
    var range: Range<UInt64> { get }

    /// Cancels the request; does nothing if it is over.
    func cancel()
}

/// Predicts the next reads and requests their ranges ahead, so that no read waits for a round trip.
///
/// Reads are in order if each starts at the end of the last, or shortly before or behind it: a block of ciphertext is
/// needed twice, and the padding of a chunk not at all. Ranges grow as long as reads stay in order.
package struct RangesAhead<Asked: AskedRange> {
    /// Ranges in flight, each starting where the one before ends.
    private var blocks: [Asked] = []
    /// The offset at which the next read in order would start.
    private var next: UInt64?
    /// The length of the next range.
    private var lengths: GrowingRanges
    /// The number of ranges in flight behind the range being read.
    private var depth = 1

    private let maxByteCount: Int
    private let maxDepth: Int

    /// The max distance in bytes between the end of a read and the start of the next that counts as in order.
    private static var slack: UInt64 { 4096 }

    package init(maxDepth: Int = RangeReading.depth, maxByteCount: Int = RangeReading.maxByteCount) {
        (self.maxDepth, self.maxByteCount) = (maxDepth, maxByteCount)
        lengths = GrowingRanges(maxByteCount: maxByteCount)
    }

    /// Returns the range in flight that holds a byte, and requests the ranges after it; `nil` if reads are not in
    /// order.
    ///
    /// - Parameters:
    ///   - offset: The byte, within the object.
    ///   - count: The number of bytes of the read.
    ///   - end: The object's length.
    ///   - ask: Requests a range.
    /// - Returns: The range to wait for.
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
            // The reader skipped it, so no read waits for the rest.
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

    /// Cancels all ranges in flight.
    package mutating func drop() {
        blocks.forEach { $0.cancel() }
        blocks = []
        lengths = GrowingRanges(maxByteCount: maxByteCount)
        depth = 1
    }
}

/// The lengths of ranges that are requested one after the other. They double, so that the first range comes soon and
/// later ones cost few requests.
package struct GrowingRanges: Sendable {
    private static let minByteCount = 256 << 10

    private let maxByteCount: Int
    private var byteCount: Int

    package init(maxByteCount: Int) {
        self.maxByteCount = maxByteCount
        byteCount = min(Self.minByteCount, maxByteCount)
    }

    /// Returns the next range.
    ///
    /// - Parameters:
    ///   - start: The start of the range.
    ///   - end: The upper bound of the range, more than `start`.
    /// - Returns: A range between them, of at least one byte.
    package mutating func next(from start: UInt64, before end: UInt64) -> Range<UInt64> {
        let range = start..<start + min(UInt64(byteCount), end - start)
        byteCount = min(2 * byteCount, maxByteCount)
        return range
    }
}

extension RangesAhead: Sendable where Asked: Sendable {}
