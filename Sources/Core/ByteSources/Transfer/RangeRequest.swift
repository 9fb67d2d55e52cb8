/// A range as a user asks for it, in the words of HTTP. Source: RFC 9110, section 14.1.2.
package enum RangeRequest: Hashable, Sendable {
    /// `A-B`: from byte A to byte B, both included.
    case between(first: UInt64, last: UInt64)
    /// `A-`: from byte A to the end.
    case from(UInt64)
    /// `-N`: the last N bytes.
    case suffix(UInt64)

    /// Reads `A-B`, `A-` or `-N`; numbers that 64 bits do not hold count as the largest that they do, since all of
    /// them lie past every end.
    ///
    /// - Returns: `nil` if the text is none of these, or B lies before A.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        // UInt64 would take a sign as well.
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else {
            return nil
        }
        switch (RangeRequest.number(parts[0]), RangeRequest.number(parts[1])) {
        case (let first?, let last?) where first <= last: self = .between(first: first, last: last)
        case (let first?, nil): self = .from(first)
        case (nil, let count?): self = .suffix(count)
        default: return nil
        }
    }

    private static func number(_ digits: Substring) -> UInt64? {
        digits.isEmpty ? nil : UInt64(digits) ?? .max
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
