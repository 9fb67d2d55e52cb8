import RandomAccess
import Vectors

/// Judges what a subject fetched, by the granularity that it declared.
///
/// With granularity `block` a read may fetch the blocks that cover it and the one before them, in each chunk that it
/// touches, and the padding between touched chunks; with `chunk`, the chunks that it touches. Of what it may fetch it may
/// fetch one block twice for each request, which is what a reader with windows does at their edges. What was fetched
/// since the object was opened may have been kept, and need not be fetched again.
///
/// - Source: PROTOCOL.md, "Served sources"; NIST SP 800-38A, section 6.2.
struct ExternalFetchRule {
    let strategy: Strategy
    let granularity: ExternalHello.Granularity
    let ciphertextByteCount: UInt64

    /// Where authenticated chunks lie, which are fetched whole.
    private var chunks: OracleChunkPlaces? {
        strategy.chunkFormat.flatMap { try? OracleChunkPlaces($0, ciphertextByteCount: ciphertextByteCount) }
    }

    private var chunkByteCount: UInt64 { strategy.chunkByteCount ?? 1 << 62 }
    private var chunkCiphertextByteCount: UInt64 { chunkByteCount + (strategy.padding == .pkcs7 ? 16 : 0) }

    /// What opening the object may fetch: the last chunk's last two blocks; or that chunk, for whom this is the least.
    var allowedToOpen: RangeSet<UInt64> {
        guard ciphertextByteCount > 0 else { return RangeSet() }
        if let chunks {
            var allowed = RangeSet(0..<chunks.headerByteCount)
            allowed.insert(
                contentsOf: chunks.ciphertextStart(ofChunk: chunks.chunkCount - 1)..<ciphertextByteCount)
            return allowed
        }
        let lastChunk = (ciphertextByteCount - 1) / chunkCiphertextByteCount * chunkCiphertextByteCount
        let start =
            granularity == .chunk ? lastChunk : max(lastChunk, ciphertextByteCount - min(32, ciphertextByteCount))
        return RangeSet(start..<ciphertextByteCount)
    }

    /// What a read that delivers `range` may fetch.
    func allowed(for range: Range<UInt64>) -> RangeSet<UInt64> {
        if let chunks { return RangeSet(chunks.ciphertext(of: range)) }
        var allowed = RangeSet<UInt64>()
        forEachChunk(of: range) { chunkStart, inChunk, isLast in
            let chunkEnd = chunkStart + chunkCiphertextByteCount
            let end: UInt64
            switch granularity {
            case .chunk: end = chunkEnd
            case .block: end = isLast ? chunkStart + (inChunk.upperBound + 15) / 16 * 16 : chunkEnd
            }
            let first = inChunk.lowerBound / 16 * 16
            let start = granularity == .chunk ? 0 : first - min(first, 16)
            allowed.insert(contentsOf: chunkStart + start..<min(end, ciphertextByteCount))
        }
        return allowed
    }

    /// What a read that delivers `range` cannot be right without.
    func needed(for range: Range<UInt64>) -> RangeSet<UInt64> {
        if let chunks { return RangeSet(chunks.ciphertext(of: range)) }
        var needed = RangeSet<UInt64>()
        forEachChunk(of: range) { chunkStart, inChunk, _ in
            let first = inChunk.lowerBound / 16 * 16
            let span =
                strategy.mode == .ctr
                ? inChunk : first - min(first, 16)..<(inChunk.upperBound + 15) / 16 * 16
            needed.insert(contentsOf: chunkStart + span.lowerBound..<chunkStart + span.upperBound)
        }
        return needed
    }

    /// What is wrong with the fetches of an `open`, or `nil`.
    func openingMismatch(_ fetches: [ServedCiphertext.Fetch]) -> String? {
        mismatch(in: fetches, allowed: allowedToOpen, purpose: "to open")
    }

    /// What is wrong with the fetches of a read that delivered `range`, or `nil`.
    func mismatch(
        in fetches: [ServedCiphertext.Fetch], delivering range: Range<UInt64>, having kept: RangeSet<UInt64>
    ) -> String? {
        let purpose = "to deliver \(range.count) bytes"
        if let mismatch = mismatch(in: fetches, allowed: allowed(for: range), purpose: purpose) {
            return mismatch
        }
        let fetched = RangeSet(fetches.map(\.delivered))
        let missing = needed(for: range).subtracting(kept).subtracting(fetched)
        guard let first = missing.ranges.first else { return nil }
        let isPrevious = first.upperBound <= allowed(for: range).ranges.first.map { $0.lowerBound + 16 } ?? 0
        return "ciphertext \(first)\(isPrevious ? ", the block before," : "") is needed and was never fetched"
    }

    private func mismatch(
        in fetches: [ServedCiphertext.Fetch], allowed: RangeSet<UInt64>, purpose: String
    ) -> String? {
        let sum = fetches.reduce(0) { $0 + $1.deliveredByteCount }
        let maximum = allowed.ranges.reduce(0) { $0 + UInt64($1.count) }
        let expected = maximum == 0 ? "expected none" : "expected at most \(maximum), of \(Self.text(allowed))"
        if let fetch = fetches.first(where: { !RangeSet($0.asked).subtracting(allowed).isEmpty }) {
            let isFromStart = fetch.asked.lowerBound == 0 && allowed.ranges.first?.lowerBound != 0
            let what = isFromStart ? "the file is read from its start, " : ""
            return "\(what)ciphertext \(fetch.asked) asked for (\(sum) bytes fetched in all) \(purpose): \(expected)"
        }
        let different = RangeSet(fetches.map(\.delivered)).ranges.reduce(0) { $0 + UInt64($1.count) }
        guard sum - different <= 16 * UInt64(fetches.count) else {
            return "\(sum) bytes fetched \(purpose), \(sum - different) of them more than once: \(expected)"
        }
        return nil
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

    private static func text(_ ranges: RangeSet<UInt64>) -> String {
        let parts = ranges.ranges.prefix(3).map { "\($0)" }.joined(separator: ", ")
        return ranges.ranges.count > 3 ? parts + ", …" : parts
    }
}
