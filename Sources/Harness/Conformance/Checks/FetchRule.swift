package import RandomAccess
internal import Vectors

/// Judges which ciphertext a subject fetched, independently of its bytes.
///
/// A read may fetch the ciphertext that the declared granularity allows. It may fetch one block of that twice for each
/// request, or for each window, as a reader with windows does at their edges. A subject may have kept ciphertext that
/// was fetched since the object was opened, and need not fetch it again. A read of authenticated chunks may fetch the
/// chunks that it touches, whole. Our own readers fetch adjacent ranges in one request.
///
/// - Source: PROTOCOL.md, "Served sources"; NIST SP 800-38A, section 6.2.
package struct FetchRule: Sendable {
    /// The granularity that a subject declares.
    package enum Granularity: Hashable, Sendable {
        /// The blocks that cover the range, and in CBC the block before them in each chunk. One block of each window
        /// may be fetched twice. Our cursors, which keep nothing, promise this.
        case window(byteCount: Int)
        /// The blocks that cover the range and the block before them, in each chunk.
        case block
        /// The chunks that the range touches.
        case chunk
    }

    /// A requested range, and how much of it was delivered.
    package struct Fetch: Hashable, Sendable {
        var asked: Range<UInt64>
        var deliveredByteCount: UInt64

        var delivered: Range<UInt64> { asked.lowerBound..<asked.lowerBound + deliveredByteCount }
    }

    private let granularity: Granularity
    /// True if adjacent ranges are fetched in one request.
    private let mergesRequests: Bool
    private let ciphertextByteCount: UInt64
    private let isCTR: Bool
    private let chunkByteCount: UInt64
    private let chunkCiphertextByteCount: UInt64
    /// The layout of chunks that are fetched whole.
    private let chunks: OracleLayout?
    /// The length of the header that opening reads, which may be fetched before a ciphertext length proves impossible.
    private let headerByteCount: UInt64

    package init(
        strategy: Strategy, granularity: Granularity, ciphertextByteCount: UInt64, mergesRequests: Bool = false
    ) {
        self.granularity = granularity
        self.mergesRequests = mergesRequests
        self.ciphertextByteCount = ciphertextByteCount
        self.isCTR = strategy.cipher == .aesCTR
        self.chunkByteCount = strategy.chunkByteCount ?? 1 << 62
        self.chunkCiphertextByteCount = chunkByteCount + (strategy.padding == .pkcs7 ? 16 : 0)
        self.headerByteCount = OracleLayout.lookedAtByteCount(of: strategy)
        let chunks = try? OracleLayout(strategy, ciphertextByteCount: ciphertextByteCount)
        self.chunks = chunks.flatMap { $0.chunkCount > 0 ? $0 : nil }
    }

    /// Says whether the harness knows what reads of a group's object need. It does not know where the parts of a
    /// playlist or a film lie, nor those of an object with a table, nor the parts of CBC and CTR objects with a header
    /// or several parts.
    static func tells(of group: VectorGroup) -> Bool {
        guard group.hasStrategy, group.strategy.hasWholeChunks else { return false }
        let format = group.strategy.format
        guard group.strategy.isStreaming else { return OracleLayout.isKnown(of: group.strategy) }
        return format.header.isEmpty && format.layout == [.data] && format.trailer == nil
    }

    /// The ciphertext that opening the object may fetch: the last two blocks of the last chunk, or that whole chunk if
    /// the granularity is a chunk.
    var allowedToOpen: RangeSet<UInt64> {
        guard ciphertextByteCount > 0 else { return RangeSet() }
        if let chunks {
            var allowed = RangeSet(0..<chunks.lookedAtByteCount)
            allowed.insert(contentsOf: chunks.stored(chunks.chunkCount - 1))
            allowed.insert(contentsOf: chunks.trailer)
            return allowed
        }
        let lastChunk = (ciphertextByteCount - 1) / chunkCiphertextByteCount * chunkCiphertextByteCount
        let lastBlocks = ciphertextByteCount - min(32, ciphertextByteCount)
        var allowed = RangeSet(0..<min(headerByteCount, ciphertextByteCount))
        allowed.insert(
            contentsOf: (granularity == .chunk ? lastChunk : max(lastChunk, lastBlocks))..<ciphertextByteCount)
        return allowed
    }

    /// Returns the ciphertext from the first needed byte to the last. The range is not empty.
    func span(of range: Range<UInt64>) -> Range<UInt64> {
        if let chunks { return chunks.ciphertext(of: range) }
        let (first, last) = (ciphertextOffset(of: range.lowerBound), ciphertextOffset(of: range.upperBound - 1))
        let hasPreviousBlock = !isCTR && range.lowerBound % chunkByteCount >= 16
        return first / 16 * 16 - (hasPreviousBlock ? 16 : 0)..<(isCTR ? last + 1 : last / 16 * 16 + 16)
    }

    /// Returns the ciphertext that a read of `range` may fetch.
    func allowed(for range: Range<UInt64>) -> RangeSet<UInt64> {
        guard !range.isEmpty else { return RangeSet() }
        if chunks != nil { return RangeSet(span(of: range)) }
        if case .window = granularity { return RangeSet(span(of: range)) }
        var allowed = RangeSet<UInt64>()
        forEachChunk(of: range) { chunkStart, inChunk, isLast in
            let isWhole = granularity == .chunk
            let first = inChunk.lowerBound / 16 * 16
            let start = isWhole ? 0 : first - min(first, 16)
            let end = isWhole || !isLast ? chunkCiphertextByteCount : (inChunk.upperBound + 15) / 16 * 16
            allowed.insert(contentsOf: chunkStart + start..<min(chunkStart + end, ciphertextByteCount))
        }
        return allowed
    }

    /// Returns the ciphertext without which a read of `range` cannot be right.
    func needed(for range: Range<UInt64>) -> RangeSet<UInt64> {
        guard !range.isEmpty else { return RangeSet() }
        if let chunks { return RangeSet(chunks.ciphertext(of: range)) }
        var needed = RangeSet<UInt64>()
        forEachChunk(of: range) { chunkStart, inChunk, _ in
            let first = inChunk.lowerBound / 16 * 16
            let span = isCTR ? inChunk : first - min(first, 16)..<(inChunk.upperBound + 15) / 16 * 16
            needed.insert(contentsOf: chunkStart + span.lowerBound..<chunkStart + span.upperBound)
        }
        return needed
    }

    /// Returns what is wrong with the fetches of an `open`, or `nil`.
    func openingMismatch(_ fetches: [Fetch]) -> String? {
        mismatch(in: fetches, allowed: allowedToOpen, maxRepeats: UInt64(fetches.count), purpose: "to open")
    }

    /// Returns what is wrong with the fetches of a read that delivered `range`, or `nil`.
    func mismatch(
        in fetches: [Fetch], delivering range: Range<UInt64>, having kept: RangeSet<UInt64> = RangeSet()
    ) -> String? {
        if isOrdinary(fetches, delivering: range) { return nil }
        // A reader of authenticated chunks keeps the last chunk.
        let mayHaveKept = if case .window = granularity { chunks != nil } else { false }
        if fetches.isEmpty, range.isEmpty || mayHaveKept { return nil }
        var purpose: String { "to deliver \(range.count) bytes" }
        guard fetches.count <= maxRequestCount(for: range) else {
            return "\(fetches.count) requests \(purpose): expected at most \(maxRequestCount(for: range))"
        }
        let allowed = allowed(for: range)
        var maxRepeats = UInt64(fetches.count)
        if case .window(let byteCount) = granularity {
            maxRepeats = maxRepeatCount(of: range, windowByteCount: byteCount)
        }
        if let found = mismatch(in: fetches, allowed: allowed, maxRepeats: maxRepeats, purpose: purpose) {
            return found
        }
        guard !mayHaveKept else { return nil }
        let missing = needed(for: range).subtracting(kept).subtracting(RangeSet(fetches.map(\.delivered)))
        guard let first = missing.ranges.first else { return nil }
        let isPrevious = first.upperBound <= allowed.ranges.first.map { $0.lowerBound + 16 } ?? 0
        return "ciphertext \(first)\(isPrevious ? ", the block before," : "") is needed and was never fetched"
    }

    /// Says whether the fetches are exactly what is needed, in order, with or without the padding between chunks. A
    /// million reads are like this, so it is decided without range sets.
    private func isOrdinary(_ fetches: [Fetch], delivering range: Range<UInt64>) -> Bool {
        guard let start = fetches.first?.asked.lowerBound, !range.isEmpty else { return false }
        var (end, sum, skipped) = (start, UInt64(0), UInt64(0))
        for fetch in fetches {
            let asked = fetch.asked
            guard asked.lowerBound >= start, fetch.delivered == asked else { return false }
            if asked.lowerBound > end {
                guard isPadding(end..<asked.lowerBound) else { return false }
                skipped += asked.lowerBound - end
            }
            end = max(end, asked.upperBound)
            sum += fetch.deliveredByteCount
        }
        guard start..<end == span(of: range) else { return false }
        if fetches.count == 1 { return true }
        guard fetches.count <= maxRequestCount(for: range), case .window(let byteCount) = granularity else {
            return false
        }
        let repeats = sum - (end - start - skipped)
        return repeats == 0 || repeats <= 16 * maxRepeatCount(of: range, windowByteCount: byteCount)
    }

    /// Says whether a range of ciphertext, not empty, lies in one full chunk's padding block.
    private func isPadding(_ range: Range<UInt64>) -> Bool {
        let chunkStart = range.lowerBound / chunkCiphertextByteCount * chunkCiphertextByteCount
        return range.lowerBound >= chunkStart + chunkByteCount
            && range.upperBound <= chunkStart + chunkCiphertextByteCount
    }

    /// Returns the max number of requests that a read may take.
    ///
    /// Each request for adjacent ranges delivers at least 128 KiB, or so many chunks that listing them takes long.
    private func maxRequestCount(for range: Range<UInt64>) -> Int {
        guard mergesRequests else { return .max }
        guard !range.isEmpty else { return 0 }
        let count = chunks == nil ? (range.upperBound - 1) / chunkByteCount - range.lowerBound / chunkByteCount : 0
        return 1 + span(of: range).count >> 17 + Int(count >> 8)
    }

    /// Returns the max number of blocks that one of our readers may fetch twice.
    private func maxRepeatCount(of range: Range<UInt64>, windowByteCount: Int) -> UInt64 {
        guard chunks == nil else { return 0 }
        return mergesRequests
            ? UInt64(maxRequestCount(for: range)) : touchedCount(of: range, windowByteCount: windowByteCount)
    }

    /// Returns what is wrong with fetches, or `nil`. Each byte must be allowed, and `maxRepeats` blocks may be fetched
    /// twice.
    private func mismatch(
        in fetches: [Fetch], allowed: RangeSet<UInt64>, maxRepeats: UInt64, purpose: @autoclosure () -> String
    ) -> String? {
        let sum = fetches.reduce(0) { $0 + $1.deliveredByteCount }
        var expected: String {
            let maximum = allowed.ranges.reduce(0) { $0 + UInt64($1.count) }
            return maximum == 0 ? "expected none" : "expected at most \(maximum), of \(Self.text(allowed))"
        }
        if let fetch = fetches.first(where: { !Self.contains(allowed, $0.asked) }) {
            let isFromStart = fetch.asked.lowerBound == 0 && allowed.ranges.first?.lowerBound != 0
            let what = isFromStart ? "the file is read from its start, " : ""
            return "\(what)ciphertext \(fetch.asked) asked for (\(sum) bytes fetched in all) \(purpose()): \(expected)"
        }
        var (different, end) = (UInt64(0), UInt64(0))
        for part in fetches.map(\.delivered).sorted(by: { $0.lowerBound < $1.lowerBound }) {
            different += max(end, part.upperBound) - max(end, part.lowerBound)
            end = max(end, part.upperBound)
        }
        guard sum - different <= 16 * maxRepeats else {
            return "\(sum) bytes fetched \(purpose()), \(sum - different) of them more than once: \(expected)"
        }
        return nil
    }

    /// Returns the number of chunks and windows that a range touches.
    func touchedCount(of range: Range<UInt64>, windowByteCount: Int) -> UInt64 {
        let window = UInt64(max(1, windowByteCount / 16)) * 16
        var count: UInt64 = 0
        var position = range.lowerBound
        while position < range.upperBound {
            count += 1
            let rest = min(chunkByteCount - position % chunkByteCount, window - position % window)
            position += min(rest, range.upperBound - position)
        }
        return count
    }

    private func ciphertextOffset(of offset: UInt64) -> UInt64 {
        offset / chunkByteCount * chunkCiphertextByteCount + offset % chunkByteCount
    }

    private func forEachChunk(
        of range: Range<UInt64>, _ body: (_ chunkStart: UInt64, _ inChunk: Range<UInt64>, _ isLast: Bool) -> Void
    ) {
        var position = range.lowerBound
        while position < range.upperBound {
            let (chunk, start) = position.quotientAndRemainder(dividingBy: chunkByteCount)
            let count = min(chunkByteCount - start, range.upperBound - position)
            position += count
            body(chunk * chunkCiphertextByteCount, start..<start + count, position == range.upperBound)
        }
    }

    private static func contains(_ allowed: RangeSet<UInt64>, _ range: Range<UInt64>) -> Bool {
        range.isEmpty
            || allowed.ranges.contains { $0.lowerBound <= range.lowerBound && range.upperBound <= $0.upperBound }
    }

    private static func text(_ ranges: RangeSet<UInt64>) -> String {
        let parts = ranges.ranges.prefix(3).map { "\($0)" }.joined(separator: ", ")
        return ranges.ranges.count > 3 ? parts + ", …" : parts
    }
}
