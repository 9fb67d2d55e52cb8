/// A range as a user asks for it, in the words of HTTP. Source: RFC 9110, section 14.1.2.
package enum RangeRequest: Hashable, Sendable {
    /// `A-B`: from byte A to byte B, both included.
    case between(first: UInt64, last: UInt64)
    /// `A-`: from byte A to the end.
    case from(UInt64)
    /// `-N`: the last N bytes.
    case suffix(UInt64)

    /// Reads `A-B`, `A-` or `-N`.
    ///
    /// - Returns: `nil` if the text is none of these, or B lies before A.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        // UInt64 would take a sign as well.
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else {
            return nil
        }
        switch (UInt64(parts[0]), UInt64(parts[1])) {
        case (let first?, let last?) where first <= last: self = .between(first: first, last: last)
        case (let first?, nil) where parts[1].isEmpty: self = .from(first)
        case (nil, let count?) where parts[0].isEmpty: self = .suffix(count)
        default: return nil
        }
    }

    /// The plaintext bytes that are meant, clipped at the end.
    ///
    /// - Returns: `nil` if the range starts at or past the end, where a server would answer 416.
    package func resolved(plaintextByteCount: UInt64) -> Range<UInt64>? {
        let start: UInt64
        var end = plaintextByteCount
        switch self {
        case .between(let first, let last):
            start = first
            if last < plaintextByteCount { end = last + 1 }
        case .from(let first):
            start = first
        case .suffix(let count):
            start = plaintextByteCount - min(count, plaintextByteCount)
        }
        return start < plaintextByteCount ? start..<end : nil
    }
}
