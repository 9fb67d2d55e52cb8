#if Network
import ByteSources
import NIOHTTP1

/// What the head of an answer to a request for a range promises.
///
/// - Source: RFC 9110, sections 14.4 (Content-Range), 15.3.7 (206), 15.5.17 (416).
struct RangeAnswer: Hashable, Sendable {
    /// How many bytes the body will have; 0 only for an object without bytes.
    let byteCount: Int
    /// The version that they are of.
    let version: ObjectVersion
    /// Whether the head says how long the body is, so that no more can come.
    var isFramed = false
    /// Whether it is the whole object, where a range was asked for.
    var isWhole = false
    /// Whether ``byteCount`` is only the most that it may have.
    var hasOpenEnd = false

    /// Judges a head.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - fields: The header fields.
    ///   - location: What was asked for.
    ///   - asked: The bytes that were asked for.
    ///   - opened: The version that they must be of; `nil` when the object is opened, and then `asked` may go past its
    ///     end.
    ///   - maxWhole: The most bytes of an object that is taken whole when it is opened.
    /// - Returns: What the body will be: bytes from the start of those that were asked for, and possibly fewer.
    /// - Throws: ``HTTPFailure`` if it is anything else.
    static func judge(
        status: Int, fields: HTTPHeaders, of location: HTTPLocation, asked: Range<UInt64>, opened: ObjectVersion?,
        maxWhole: Int = 0
    ) throws(HTTPFailure) -> RangeAnswer {
        switch status {
        case 206: return try partial(fields, asked: asked, opened: opened)
        case 200: return try whole(fields, opened: opened, maxByteCount: asked.lowerBound == 0 ? maxWhole : 0)
        case 416:
            let content = ContentRange(fields)
            guard let total = content?.total, content?.range == nil else { throw .badStatus(status) }
            let found = ObjectVersion(byteCount: total, fields: fields)
            if let opened { throw .changed(found: "\(found)", expected: "\(opened)") }
            guard total == 0 else { throw .badStatus(status) }
            return RangeAnswer(byteCount: 0, version: found)
        case 300..<400:
            let place = fields.first(name: "Location").map { URLText.shown(location.resolving($0)) }
            throw .redirected(status: status, location: place ?? "no location")
        default: throw .badStatus(status)
        }
    }

    private static func partial(
        _ fields: HTTPHeaders, asked: Range<UInt64>, opened: ObjectVersion?
    ) throws(HTTPFailure) -> RangeAnswer {
        let isMultipart = fields["Content-Type"].contains { $0.lowercased().hasPrefix("multipart/") }
        guard !isMultipart else { throw .multipart }
        try checkEncoding(fields)
        let expected = "bytes \(asked.lowerBound)-\(asked.upperBound - 1)"
        guard let content = ContentRange(fields), let range = content.range else {
            throw .wrongRange(found: fields.first(name: "Content-Range") ?? "not named", expected: expected)
        }
        guard let total = content.total else { throw .unknownLength }
        let version = ObjectVersion(byteCount: total, fields: fields)
        if let opened, !version.isSame(as: opened) { throw .changed(found: "\(version)", expected: "\(opened)") }
        guard range.lowerBound == asked.lowerBound, range.upperBound <= asked.upperBound else {
            throw .wrongRange(found: "bytes \(range.lowerBound)-\(range.upperBound - 1)", expected: expected)
        }
        let count = Int(range.upperBound - range.lowerBound)
        for length in fields["Content-Length"] where length != "\(count)" {
            throw .wrongLength(found: length, expected: count)
        }
        let isFramed = fields.contains(name: "Content-Length") && !fields.contains(name: "Transfer-Encoding")
        return RangeAnswer(byteCount: count, version: version, isFramed: isFramed)
    }

    /// An object without bytes has no range, and is sent as a whole; so is any by a server that knows no ranges.
    private static func whole(
        _ fields: HTTPHeaders, opened: ObjectVersion?, maxByteCount: Int
    ) throws(HTTPFailure) -> RangeAnswer {
        let length = fields.first(name: "Content-Length").flatMap { UInt64($0) }
        if let opened {
            let found = ObjectVersion(byteCount: length ?? opened.byteCount, fields: fields)
            guard found.isSame(as: opened) else { throw .changed(found: "\(found)", expected: "\(opened)") }
        }
        let isTaken = length == 0 || maxByteCount > 0 && (length ?? 0) <= UInt64(maxByteCount)
        guard isTaken, opened == nil else { throw .rangeIgnored }
        try checkEncoding(fields)
        let count = length.map { Int($0) } ?? maxByteCount
        return RangeAnswer(
            byteCount: count, version: ObjectVersion(byteCount: UInt64(count), fields: fields), isWhole: true,
            hasOpenEnd: length == nil)
    }

    private static func checkEncoding(_ fields: HTTPHeaders) throws(HTTPFailure) {
        let codings = fields["Content-Encoding"].filter { !$0.isEmpty && $0.lowercased() != "identity" }
        guard codings.isEmpty else { throw .encoded(codings.joined(separator: ", ")) }
    }
}
#endif
