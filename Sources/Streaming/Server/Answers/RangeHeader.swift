#if Network
package import ByteSources

/// What a `Range` field asks for. Source: RFC 9110, sections 14.1 and 14.2.
package enum RangeHeader: Hashable, Sendable {
    /// No field, or a unit other than bytes, which has to be ignored.
    case none
    /// A field that says nothing that could be served.
    case malformed
    /// One range or several, in the order of the field; never none.
    case ranges([RangeRequest])

    /// Reads a field's value; several fields count as one, joined by commas.
    package init(_ value: String?) {
        guard let value else {
            self = .none
            return
        }
        let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let unit = RangeHeader.trimmed(parts[0])
        guard parts.count == 2, !unit.isEmpty, unit.utf8.allSatisfy(RangeHeader.isTokenByte) else {
            self = .malformed
            return
        }
        guard unit.lowercased() == "bytes" else {
            self = .none
            return
        }
        // A list may have empty members. Source: RFC 9110, section 5.6.1.2.
        let members = parts[1].split(separator: ",").map(RangeHeader.trimmed).filter { !$0.isEmpty }
        let ranges = members.compactMap { RangeRequest(String($0)) }
        self = ranges.isEmpty || ranges.count < members.count ? .malformed : .ranges(ranges)
    }

    /// What is delivered of an object.
    package enum Selection: Hashable, Sendable {
        /// Everything, with status 200.
        case whole
        /// One part, which is not empty, with status 206.
        case part(Range<UInt64>)
        /// Nothing, with status 416.
        case unsatisfiable
    }

    /// Chooses what is delivered.
    ///
    /// Of several ranges that can be served, the whole is delivered: every client that sends `Range` has to understand
    /// status 200, while one part of several looks to many players like the answer to another request, and `multipart`
    /// is understood by few. Ranges that are malformed are refused, and not ignored, though both is allowed: whoever
    /// asks for `bytes=9-3` is not helped by a gigabyte.
    ///
    /// - Source: RFC 9110, sections 14.2 and 15.5.17.
    package func selection(byteCount: UInt64) -> Selection {
        switch self {
        case .none:
            return .whole
        case .malformed:
            return .unsatisfiable
        case .ranges(let ranges):
            let parts = ranges.compactMap { $0.resolved(plaintextByteCount: byteCount) }
            guard let first = parts.first else { return .unsatisfiable }
            return parts.count == 1 ? .part(first) : .whole
        }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.drop { $0 == " " || $0 == "\t" }
        let end = start.lastIndex { $0 != " " && $0 != "\t" }
        return end.map { start[...$0] } ?? ""
    }

    /// Source: RFC 9110, section 5.6.2.
    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
#endif
