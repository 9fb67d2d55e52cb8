#if Network
package import ByteSources
package import HTTPTypes

/// What is answered to a request for something that is there.
package struct Answer: Hashable, Sendable {
    /// The status.
    package var status: HTTPResponse.Status
    /// The fields, apart from those that every answer has.
    package var fields: HTTPFields
    /// The plaintext that is sent; `nil` where there is no body, as with HEAD.
    package var body: Range<UInt64>?
}

extension Answer {
    /// Decides on an answer: status 200, 206, 304, 400, 412 or 416.
    ///
    /// - Parameters:
    ///   - method: GET or HEAD.
    ///   - fields: The request's fields.
    ///   - content: What was asked for.
    ///   - now: The time, in seconds since 1970.
    /// - Source: RFC 9110, sections 13.2.2 (order of conditions) and 14.2 (`Range` counts for GET only).
    package init(method: HTTPRequest.Method, fields: HTTPFields, content: ServedContent, now: Int64) {
        let conditions = Conditions(fields: fields, content: content, now: now)
        var answer = content.fields
        func add(_ name: HTTPField.Name, _ value: String) { answer.append(HTTPField(name: name, value: value)) }
        if let refusal = conditions.refusal {
            if refusal != .notModified { add(.contentLength, "0") }
            self.init(status: refusal, fields: answer, body: nil)
            return
        }
        var selection = RangeHeader.Selection.whole
        if method == .get, conditions.allowRange {
            selection = RangeHeader(fields.value(of: .range)).selection(byteCount: content.byteCount)
        }
        switch selection {
        case .whole:
            answer.append(content.contentType)
            add(.contentLength, "\(content.byteCount)")
            self.init(status: .ok, fields: answer, body: method == .get ? 0..<content.byteCount : nil)
        case .part(let range):
            answer.append(content.contentType)
            add(.contentLength, "\(range.upperBound - range.lowerBound)")
            add(.contentRange, "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(content.byteCount)")
            self.init(status: .partialContent, fields: answer, body: range)
        case .unsatisfiable:
            add(.contentLength, "0")
            add(.contentRange, "bytes */\(content.byteCount)")
            self.init(status: .rangeNotSatisfiable, fields: answer, body: nil)
        }
    }
}

extension HTTPFields {
    /// What `self[name]` is, without the joining of values where there is one.
    fileprivate func value(of name: HTTPField.Name) -> String? {
        guard let first = firstIndex(where: { $0.name == name }) else { return nil }
        return self[(first + 1)...].contains { $0.name == name } ? self[name] : self[first].value
    }
}

/// A request's conditions, checked. Source: RFC 9110, section 13.
struct Conditions {
    /// The status that ends the request, or `nil` if it goes on.
    let refusal: HTTPResponse.Status?
    /// Whether `Range` counts: what `If-Range` says.
    let allowRange: Bool

    /// Checks the conditions in the order of section 13.2.2.
    init(fields: HTTPFields, content: ServedContent, now: Int64) {
        self.refusal = Conditions.refusal(fields, content)
        self.allowRange = Conditions.allowsRange(fields, content, now)
    }

    private static func refusal(_ fields: HTTPFields, _ content: ServedContent) -> HTTPResponse.Status? {
        // One look at each name, for requests without conditions.
        guard fields.contains(where: { $0.name.canonicalName.hasPrefix("if-") }) else { return nil }
        if let text = fields[.ifMatch] {
            guard let list = EntityTagList(text) else { return .badRequest }
            guard list.contains(where: content.entityTag.matchesStrongly) else { return .preconditionFailed }
        } else if let limit = fields[.ifUnmodifiedSince].flatMap(HTTPDate.seconds), let modified = content.modified,
            modified > limit
        {
            return .preconditionFailed
        }
        if let text = fields[.ifNoneMatch] {
            guard let list = EntityTagList(text) else { return .badRequest }
            return list.contains(where: content.entityTag.matchesWeakly) ? .notModified : nil
        }
        if let since = fields[.ifModifiedSince].flatMap(HTTPDate.seconds), let modified = content.modified,
            modified <= since
        {
            return .notModified
        }
        return nil
    }

    /// Source: RFC 9110, section 13.1.5. A date only stands for certain bytes if no other change can have come in the
    /// same second.
    private static func allowsRange(_ fields: HTTPFields, _ content: ServedContent, _ now: Int64) -> Bool {
        guard let text = fields[.ifRange] else { return true }
        if let tag = EntityTag(text) { return content.entityTag.matchesStrongly(tag) }
        guard let date = HTTPDate.seconds(text), let modified = content.modified else { return false }
        return date == modified && modified < now
    }
}

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
        let text = value.utf8
        let mark = text.firstIndex(of: UInt8(ascii: "=")) ?? text.endIndex
        let unit = RangeHeader.trimmed(text[..<mark])
        guard mark < text.endIndex, !unit.isEmpty, unit.allSatisfy(RangeHeader.isTokenByte) else {
            self = .malformed
            return
        }
        guard unit.elementsEqual("bytes".utf8, by: { $0 | 0x20 == $1 }) else {
            self = .none
            return
        }
        // A list may have empty members. Source: RFC 9110, section 5.6.1.2.
        var ranges: [RangeRequest] = []
        for member in text[text.index(after: mark)...].split(separator: UInt8(ascii: ",")).lazy.map(RangeHeader.trimmed)
        where !member.isEmpty {
            guard let range = RangeRequest(Substring(member)) else {
                self = .malformed
                return
            }
            ranges.append(range)
        }
        self = ranges.isEmpty ? .malformed : .ranges(ranges)
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
    /// is understood by few. Ranges that are malformed are refused, and not ignored, though both is allowed: a client that
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

    private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        let start = text.drop(while: isSpace)
        let end = start.lastIndex { !isSpace($0) }
        return end.map { start[...$0] } ?? start.prefix(0)
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
