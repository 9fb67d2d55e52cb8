#if Network
package import ByteSources
package import NIOHTTP1

/// The answer to a request for existing content.
package struct Answer: Hashable, Sendable {
    /// The status.
    package var status: HTTPResponseStatus
    /// The fields, except for those that every answer has.
    package var fields: FieldLines
    /// The plaintext to send; `nil` if there is no body, as with HEAD.
    package var body: Range<UInt64>?
}

extension Answer {
    /// Decides on an answer: status 200, 206, 304, 400, 412 or 416.
    ///
    ///   - request: A GET or HEAD request.
    ///   - found: The requested content.
    ///   - now: The current time, in seconds since 1970.
    ///   - now: The time, in seconds since 1970.
    /// - Source: RFC 9110, sections 13.2.2 (order of conditions) and 14.2 (`Range` counts for GET only).
    package init(to request: Request, with found: FoundContent, now: Int64) {
        let conditions = Conditions(of: request, found, now: now)
        if let refusal = conditions.refusal {
            var answer = found.content.fields
            if refusal != .notModified { answer.add("Content-Length", 0) }
            self.init(status: refusal, fields: answer, body: nil)
            return
        }
        let byteCount = found.content.byteCount
        var selection = RangeHeader.Selection.whole
        if request.method == .GET, conditions.allowRange {
            selection = RangeHeader(request.fields.range).selection(byteCount: byteCount)
        }
        switch selection {
        case .whole:
            var answer = found.content.bodyFields
            answer.add("Content-Length", byteCount)
            self.init(status: .ok, fields: answer, body: request.method == .GET ? 0..<byteCount : nil)
        case .part(let range):
            var answer = found.content.bodyFields
            answer.reserve(128)
            answer.add("Content-Length", range.upperBound - range.lowerBound)
            answer.addContentRange(range, of: byteCount)
            self.init(status: .partialContent, fields: answer, body: range)
        case .unsatisfiable:
            var answer = found.content.fields
            answer.add("Content-Length", 0)
            answer.addContentRange(nil, of: byteCount)
            self.init(status: .rangeNotSatisfiable, fields: answer, body: nil)
        }
    }
}

/// The result of checking a request's conditions. Source: RFC 9110, section 13.
struct Conditions {
    /// The status that ends the request; `nil` if the request goes on.
    let refusal: HTTPResponseStatus?
    /// True if `If-Range` allows `Range` to count.
    let allowRange: Bool

    /// Checks the conditions in the order of section 13.2.2.
    init(of request: Request, _ found: FoundContent, now: Int64) {
        self.refusal = Conditions.refusal(request, found)
        self.allowRange = Conditions.allowsRange(request, found, now)
    }

    private static func refusal(_ request: Request, _ found: FoundContent) -> HTTPResponseStatus? {
        if let text = request.fields.ifMatch {
            guard let list = EntityTagList(text) else { return .badRequest }
            guard list.contains(where: found.content.entityTag.matchesStrongly) else { return .preconditionFailed }
        } else if let limit = request.fields.ifUnmodifiedSince.flatMap(HTTPDate.seconds),
            let modified = found.content.modified, modified > limit
        {
            return .preconditionFailed
        }
        if let text = request.fields.ifNoneMatch {
            guard let list = EntityTagList(text) else { return .badRequest }
            return list.contains(where: found.content.entityTag.matchesWeakly) ? .notModified : nil
        }
        if let since = request.fields.ifModifiedSince.flatMap(HTTPDate.seconds), let modified = found.content.modified,
            modified <= since
        {
            return .notModified
        }
        return nil
    }

    /// Source: RFC 9110, section 13.1.5. A date is a strong validator only if no other change can have happened in the
    /// same second.
    private static func allowsRange(_ request: Request, _ found: FoundContent, _ now: Int64) -> Bool {
        guard let text = request.fields.ifRange else { return true }
        if let tag = EntityTag(text) { return found.content.entityTag.matchesStrongly(tag) }
        guard let date = HTTPDate.seconds(text), let modified = found.content.modified else { return false }
        return date == modified && modified < now
    }
}

/// The value of a `Range` field. Source: RFC 9110, sections 14.1 and 14.2.
package enum RangeHeader: Hashable, Sendable {
    /// No field, or a unit other than bytes, which the server must ignore.
    case none
    /// A malformed field, or one without any range.
    case malformed
    /// One or more ranges, in the order of the field.
    case ranges([RangeRequest])

    /// Reads a field's value. Several fields count as one, joined by commas.
    package init(_ value: String?) {
        guard let value else {
            self = .none
            return
        }
        let text = value.utf8.span
        var mark = 0
        while mark < text.count, text[mark] != UInt8(ascii: "=") { mark += 1 }
        let unit = RangeHeader.trimmed(0..<mark, of: text)
        guard mark < text.count, !unit.isEmpty, unit.allSatisfy({ RangeHeader.isTokenByte(text[$0]) }) else {
            self = .malformed
            return
        }
        let name: StaticString = "bytes"
        guard unit.count == name.utf8CodeUnitCount,
            unit.allSatisfy({ text[$0] | 0x20 == name.utf8Start[$0 - unit.lowerBound] })
        else {
            self = .none
            return
        }
        var ranges: [RangeRequest] = []
        var start = mark + 1
        while start <= text.count {
            var end = start
            while end < text.count, text[end] != UInt8(ascii: ",") { end += 1 }
            let member = RangeHeader.trimmed(start..<end, of: text)
            start = end + 1
            // A list may have empty members. Source: RFC 9110, section 5.6.1.2.
            guard !member.isEmpty else { continue }
            guard let range = RangeRequest(text.extracting(member)) else {
                self = .malformed
                return
            }
            ranges.append(range)
        }
        self = ranges.isEmpty ? .malformed : .ranges(ranges)
    }

    /// The part of an object that the server delivers.
    package enum Selection: Hashable, Sendable {
        /// Everything, with status 200.
        case whole
        /// One part, never empty, with status 206.
        case part(Range<UInt64>)
        /// Nothing, with status 416.
        case unsatisfiable
    }

    /// Selects the part of an object to deliver.
    ///
    /// If several ranges can be served, the server delivers the whole object: every client that sends `Range` has to
    /// understand status 200. One part of several looks to many players like the answer to another request, and few
    /// understand `multipart`. The server refuses malformed ranges and does not ignore them, though the standard allows
    /// both: a gigabyte does not help a client that asks for `bytes=9-3`.
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

    private static func trimmed(_ range: Range<Int>, of text: borrowing Span<UInt8>) -> Range<Int> {
        func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, isSpace(text[start]) { start += 1 }
        while start < end, isSpace(text[end - 1]) { end -= 1 }
        return start..<end
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
