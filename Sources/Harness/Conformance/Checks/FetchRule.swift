package import RandomAccess
internal import Vectors

/// Judges which ciphertext a read fetched, apart from whether its bytes are right.
///
/// A reader that promises blocks may fetch those that cover the range, one more for each chunk or window that it
/// touches, and the padding between chunks; and it has no way to be right without them.
///
/// Of authenticated chunks a reader may fetch those that the range touches, whole; it needs none that it has kept.
///
/// - Source: PROTOCOL.md, "Served sources"; NIST SP 800-38A, section 6.2.
package struct FetchRule: Sendable {
    private let isCBC: Bool
    private let chunkByteCount: UInt64
    private let chunkCiphertextByteCount: UInt64
    private let windowByteCount: UInt64
    private let chunks: OracleChunkPlaces?

    /// Creates the rule for an object and a reader with a window.
    package init(strategy: Strategy, ciphertextByteCount: UInt64 = .max, windowByteCount: Int) {
        self.chunks = strategy.chunkFormat.flatMap {
            try? OracleChunkPlaces($0, ciphertextByteCount: ciphertextByteCount)
        }
        self.isCBC = strategy.mode == .cbc
        let chunk = strategy.chunkByteCount ?? 1 << 62
        self.chunkByteCount = chunk
        self.chunkCiphertextByteCount = chunk + (strategy.padding == .pkcs7 ? 16 : 0)
        self.windowByteCount = UInt64(max(1, windowByteCount / 16)) * 16
    }

    /// The ciphertext from the first needed byte to the last, for a range that is not empty.
    package func span(of range: Range<UInt64>) -> Range<UInt64> {
        if let chunks { return chunks.ciphertext(of: range) }
        let first = place(of: range.lowerBound)
        let last = place(of: range.upperBound - 1)
        let hasPreviousBlock = isCBC && range.lowerBound % chunkByteCount >= 16
        return first / 16 * 16 - (hasPreviousBlock ? 16 : 0)..<(isCBC ? last / 16 * 16 + 16 : last + 1)
    }

    /// The chunks and windows that a range touches.
    package func touchedCount(of range: Range<UInt64>) -> UInt64 {
        var count: UInt64 = 0
        var position = range.lowerBound
        while position < range.upperBound {
            count += 1
            let rest = min(chunkByteCount - position % chunkByteCount, windowByteCount - position % windowByteCount)
            position += min(rest, range.upperBound - position)
        }
        return count
    }

    /// What is wrong with the fetches of a read that delivered `range`, or `nil`.
    package func mismatch(in fetches: [Range<UInt64>], delivering range: Range<UInt64>) -> String? {
        let fetched = fetches.reduce(0) { $0 + UInt64($1.count) }
        guard !range.isEmpty else {
            return fetched == 0 ? nil : "\(fetched) bytes fetched to deliver none"
        }
        if let chunks { return mismatch(in: fetches, within: chunks.ciphertext(of: range)) }
        let maximum = UInt64(range.count) + 30 + 16 * touchedCount(of: range)
        guard fetched <= maximum else {
            return "\(fetched) bytes fetched to deliver \(range.count): expected at most \(maximum)"
        }
        let span = span(of: range)
        var reached = span.lowerBound
        for fetch in fetches.sorted(by: { $0.lowerBound < $1.lowerBound }) where !fetch.isEmpty {
            guard fetch.lowerBound >= span.lowerBound, fetch.upperBound <= span.upperBound else {
                return "ciphertext \(fetch) fetched: expected bytes of \(span) only"
            }
            if fetch.lowerBound > reached, !isPadding(reached..<fetch.lowerBound) {
                return "ciphertext \(reached..<fetch.lowerBound) is needed and was never fetched"
            }
            reached = max(reached, fetch.upperBound)
        }
        guard reached == span.upperBound else {
            return "ciphertext \(reached..<span.upperBound) is needed and was never fetched"
        }
        return nil
    }

    /// What is wrong with fetches of which each byte is to lie in a span, and none to be fetched twice, or `nil`.
    private func mismatch(in fetches: [Range<UInt64>], within span: Range<UInt64>) -> String? {
        var reached = span.lowerBound
        for fetch in fetches.sorted(by: { $0.lowerBound < $1.lowerBound }) where !fetch.isEmpty {
            guard fetch.lowerBound >= span.lowerBound, fetch.upperBound <= span.upperBound else {
                return "ciphertext \(fetch) fetched: expected bytes of the chunks \(span) only"
            }
            guard fetch.lowerBound >= reached else { return "ciphertext \(fetch) fetched twice: expected once" }
            reached = fetch.upperBound
        }
        return nil
    }

    /// Where a plaintext byte's ciphertext is.
    private func place(of offset: UInt64) -> UInt64 {
        offset / chunkByteCount * chunkCiphertextByteCount + offset % chunkByteCount
    }

    /// Whether a stretch is the block of padding at a full chunk's end.
    private func isPadding(_ range: Range<UInt64>) -> Bool {
        chunkCiphertextByteCount > chunkByteCount && range.count == 16
            && range.upperBound % chunkCiphertextByteCount == 0
    }
}
