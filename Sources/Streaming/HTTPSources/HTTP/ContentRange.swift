#if Network
import NIOHTTP1

/// The value of the field `Content-Range`. Source: RFC 9110, section 14.4.
struct ContentRange: Hashable, Sendable {
    /// The bytes that the body has, at least one; `nil` for `*`.
    let range: Range<UInt64>?
    /// The object's length in bytes; `nil` for `*`.
    let total: UInt64?

    /// Reads the field of an answer; `nil` if there is none, more than one, or one that says nothing valid.
    init?(_ fields: HTTPHeaders) {
        let values = fields["Content-Range"]
        guard values.count == 1 else { return nil }
        self.init(values[0])
    }

    /// Reads a value.
    init?(_ text: String) {
        guard text.lowercased().hasPrefix("bytes ") else { return nil }
        let parts = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let total = Self.number(parts[1])
        guard total != nil || parts[1] == "*" else { return nil }
        self.total = total
        guard parts[0] != "*" else {
            guard total != nil else { return nil }
            range = nil
            return
        }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        // No object has so many bytes that the next number is none.
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            last < UInt64(Int.max), total.map({ last < $0 }) ?? true
        else { return nil }
        range = first..<last + 1
    }

    private static func number(_ text: Substring) -> UInt64? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt64(text) : nil
    }
}
#endif
