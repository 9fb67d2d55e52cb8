#if Network
import AsyncHTTPClient
import ByteSources
import NIOCore
import NIOHTTP1
import RandomAccess
import Synchronization

/// Receives the answer to one request for a range. It refuses another range, another version or another length.
final class RangeFetch: HTTPClientResponseDelegate {
    typealias Response = Void

    /// The answer so far.
    struct Received: Sendable {
        /// The promise of the head; `nil` until there is a head.
        var answer: RangeAnswer?
        /// The number of bytes that arrived.
        var byteCount = 0
        /// The reason why no more bytes will arrive.
        var failure: HTTPFailure?
    }

    /// The bytes.
    let bytes: ReceivedBytes

    private let location: HTTPLocation
    private let asked: AskedBytes
    private let opened: ObjectVersion?
    private let maxWhole: Int
    private let takesGzip: Bool
    private let state = Mutex(Received())

    /// Expects an answer; see ``RangeAnswer/judge(status:fields:of:asked:opened:maxWhole:takesGzip:)`` and
    /// ``ReceivedBytes/init(pool:)``.
    init(
        of location: HTTPLocation, asked: AskedBytes, opened: ObjectVersion?, maxWhole: Int, takesGzip: Bool,
        pool: RangeMemoryPool?
    ) {
        self.location = location
        bytes = ReceivedBytes(pool: pool)
        self.asked = asked
        self.opened = opened
        self.maxWhole = maxWhole
        self.takesGzip = takesGzip
    }

    /// The answer so far.
    var received: Received {
        var received = state.withLock { $0 }
        received.byteCount = bytes.count
        return received
    }

    /// Ends the answer, because the request is over.
    func finish(_ failure: HTTPFailure?) {
        state.withLock { $0.failure = $0.failure ?? failure }
        bytes.finish(hasFailed: failure != nil)
    }

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        do throws(HTTPFailure) {
            let answer = try RangeAnswer.judge(
                status: Int(head.status.code), fields: head.headers, of: location, asked: asked, opened: opened,
                maxWhole: maxWhole, takesGzip: takesGzip)
            state.withLock { $0.answer = answer }
            bytes.expect(answer.byteCount, isFramed: answer.isFramed)
            return task.eventLoop.makeSucceededVoidFuture()
        } catch {
            return fail(error, task)
        }
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        guard bytes.append(buffer) else {
            return fail(.tooLong(expected: received.answer?.byteCount ?? 0), task)
        }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) throws {
        let received = received
        let expected = received.answer?.byteCount ?? 0
        guard received.byteCount == expected || received.answer?.hasOpenEnd == true else {
            throw HTTPFailure.closedInBody(byteCount: received.byteCount, expected: expected)
        }
    }

    /// Fails the request, which closes its connection: the rest of the answer is not wanted.
    private func fail(_ failure: HTTPFailure, _ task: HTTPClient.Task<Void>) -> EventLoopFuture<Void> {
        state.withLock { $0.failure = failure }
        return task.eventLoop.makeFailedFuture(failure)
    }
}

/// The bytes of an object that a request asks for.
///
/// - Source: RFC 9110, section 14.1.2.
enum AskedBytes: Hashable, Sendable {
    /// These bytes, at least one. When the object is opened, they may go past its end.
    case range(Range<UInt64>)
    /// The last bytes, at most this number and at least one, of an object of unknown length.
    case last(Int)

    /// The value of the field `Range`.
    var field: String {
        switch self {
        case .range(let range): "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
        case .last(let count): "bytes=-\(count)"
        }
    }

    /// True if the bytes start at the object's start.
    var isFromStart: Bool { if case .range(let range) = self { range.lowerBound == 0 } else { false } }

    /// Returns whether a range of an object of `total` bytes is the requested one, or its beginning.
    func isAnswered(by range: Range<UInt64>, of total: UInt64) -> Bool {
        switch self {
        case .range(let asked): range.lowerBound == asked.lowerBound && range.upperBound <= asked.upperBound
        case .last(let count): range == total - min(UInt64(count), total)..<total
        }
    }
}

/// The promise in the head of an answer to a request for a range.
///
/// - Source: RFC 9110, sections 14.4 (Content-Range), 15.3.7 (206), 15.5.17 (416).
struct RangeAnswer: Hashable, Sendable {
    /// The length of the body in bytes; 0 only for an empty object.
    let byteCount: Int
    /// The version that the bytes belong to.
    let version: ObjectVersion
    /// True if the head states the body's length, so that no more bytes can follow.
    var isFramed = false
    /// True if the answer is the whole object, although a range was requested.
    var isWhole = false
    /// True if ``byteCount`` is only the max.
    var hasOpenEnd = false

    /// Judges a head.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - fields: The header fields.
    ///   - location: The object's location.
    ///   - asked: The requested bytes.
    ///   - opened: The version that they must belong to; `nil` when the object is opened.
    ///   - maxWhole: The max number of bytes of an object that is fetched whole when it is opened.
    ///   - takesGzip: True if the object may be one that gzip packed.
    /// - Returns: The promised body. It starts with the first requested byte, and may be shorter than requested.
    /// - Throws: ``HTTPFailure`` if the answer is anything else.
    static func judge(
        status: Int, fields: HTTPHeaders, of location: HTTPLocation, asked: AskedBytes, opened: ObjectVersion?,
        maxWhole: Int = 0, takesGzip: Bool = false
    ) throws(HTTPFailure) -> RangeAnswer {
        if status == 200 || status == 206 { try checkEncoding(fields, takesGzip: takesGzip) }
        switch status {
        case 206: return try partial(fields, asked: asked, opened: opened)
        case 200: return try whole(fields, opened: opened, maxByteCount: asked.isFromStart ? maxWhole : 0)
        case 416:
            let content = ContentRange(fields)
            guard let total = content?.total, content?.range == nil else { throw .badStatus(status) }
            let found = ObjectVersion(byteCount: total, fields: fields)
            if let opened { throw .changed(found: "\(found)", expected: "\(opened)") }
            guard total == 0 else { throw .badStatus(status) }
            return RangeAnswer(byteCount: 0, version: found)
        case 300..<400:
            throw .redirected(status: status, url: fields.first(name: "Location").map(location.resolving))
        default: throw .badStatus(status)
        }
    }

    private static func partial(
        _ fields: HTTPHeaders, asked: AskedBytes, opened: ObjectVersion?
    ) throws(HTTPFailure) -> RangeAnswer {
        let isMultipart = fields["Content-Type"].contains { $0.lowercased().hasPrefix("multipart/") }
        guard !isMultipart else { throw .multipart }
        let expected = asked.field.replacing("=", with: " ")
        guard let content = ContentRange(fields), let range = content.range else {
            throw .wrongRange(found: fields.first(name: "Content-Range") ?? "not named", expected: expected)
        }
        guard let total = content.total else { throw .unknownLength }
        guard total <= SourceLength.max else { throw .tooLarge(byteCount: total) }
        let version = ObjectVersion(byteCount: total, fields: fields)
        if let opened, !version.isSame(as: opened) { throw .changed(found: "\(version)", expected: "\(opened)") }
        guard asked.isAnswered(by: range, of: total) else {
            throw .wrongRange(found: "bytes \(range.lowerBound)-\(range.upperBound - 1)", expected: expected)
        }
        let count = Int(range.upperBound - range.lowerBound)
        for length in fields["Content-Length"] where length != "\(count)" {
            throw .wrongLength(found: length, expected: count)
        }
        let isFramed = fields.contains(name: "Content-Length") && !fields.contains(name: "Transfer-Encoding")
        return RangeAnswer(byteCount: count, version: version, isFramed: isFramed)
    }

    /// Judges an answer without a range. Servers send an empty object as a whole, because it has no range. A server
    /// that does not support ranges sends every object as a whole.
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
        let count = length.map { Int($0) } ?? maxByteCount
        return RangeAnswer(
            byteCount: count, version: ObjectVersion(byteCount: UInt64(count), fields: fields), isWhole: true,
            hasOpenEnd: length == nil)
    }

    private static func checkEncoding(_ fields: HTTPHeaders, takesGzip: Bool) throws(HTTPFailure) {
        let codings = fields["Content-Encoding"].map { $0.lowercased() }.filter { !$0.isEmpty && $0 != "identity" }
        // Source: RFC 9110, section 8.4.1.3.
        guard codings.isEmpty || takesGzip && (codings == ["gzip"] || codings == ["x-gzip"]) else {
            throw .encoded(codings.joined(separator: ", "))
        }
    }
}

/// The value of the field `Content-Range`. Source: RFC 9110, section 14.4.
package struct ContentRange: Hashable, Sendable {
    /// The range of the body, at least one byte; `nil` for `*`.
    package let range: Range<UInt64>?
    /// The object's length in bytes; `nil` for `*`.
    package let total: UInt64?

    /// Reads the field of an answer; `nil` if it is absent, repeated or invalid.
    init?(_ fields: HTTPHeaders) {
        let values = fields["Content-Range"]
        guard values.count == 1 else { return nil }
        self.init(values[0])
    }

    /// Reads a value; `nil` if it is invalid.
    package init?(_ text: String) {
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
        // Objects have fewer bytes than this, so `last + 1` cannot overflow.
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
