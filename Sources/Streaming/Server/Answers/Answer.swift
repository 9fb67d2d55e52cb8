#if Network
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
        var answer = HTTPFields()
        answer[.eTag] = content.entityTag.text
        answer[.acceptRanges] = "bytes"
        if let modified = content.modified { answer[.lastModified] = HTTPDate.text(modified) }
        if let refusal = conditions.refusal {
            if refusal != .notModified { answer[.contentLength] = "0" }
            self.init(status: refusal, fields: answer, body: nil)
            return
        }
        var selection = RangeHeader.Selection.whole
        if method == .get, conditions.allowRange {
            selection = RangeHeader(fields[.range]).selection(byteCount: content.byteCount)
        }
        switch selection {
        case .whole:
            answer[.contentType] = content.contentType
            answer[.contentLength] = "\(content.byteCount)"
            self.init(status: .ok, fields: answer, body: method == .get ? 0..<content.byteCount : nil)
        case .part(let range):
            answer[.contentType] = content.contentType
            answer[.contentLength] = "\(range.upperBound - range.lowerBound)"
            answer[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(content.byteCount)"
            self.init(status: .partialContent, fields: answer, body: range)
        case .unsatisfiable:
            answer[.contentLength] = "0"
            answer[.contentRange] = "bytes */\(content.byteCount)"
            self.init(status: .rangeNotSatisfiable, fields: answer, body: nil)
        }
    }
}
#endif
