#if Network
import AsyncHTTPClient
import ByteSources
import NIOCore
import NIOHTTP1
import RandomAccess
import Synchronization

/// Takes the answer to one request for a range: nothing of another range, another version or another length.
final class RangeFetch: HTTPClientResponseDelegate {
    typealias Response = Void

    /// What came.
    struct Received: Sendable {
        /// What the head promises; `nil` until there is one.
        var answer: RangeAnswer?
        /// How many bytes came.
        var byteCount = 0
        /// Why there will be no more.
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

    /// What came so far.
    var received: Received {
        var received = state.withLock { $0 }
        received.byteCount = bytes.count
        return received
    }

    /// The request is over.
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

    /// A request that fails this way ends its connection: what is still to come on it is not wanted.
    private func fail(_ failure: HTTPFailure, _ task: HTTPClient.Task<Void>) -> EventLoopFuture<Void> {
        state.withLock { $0.failure = failure }
        return task.eventLoop.makeFailedFuture(failure)
    }
}

/// Which bytes of an object a request asks for.
///
/// - Source: RFC 9110, section 14.1.2.
enum AskedBytes: Hashable, Sendable {
    /// These, at least one; when the object is opened, they may go past its end.
    case range(Range<UInt64>)
    /// The last ones, at most so many and at least one, of an object whose length is not known.
    case last(Int)

    /// The value of the field `Range`.
    var field: String {
        switch self {
        case .range(let range): "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
        case .last(let count): "bytes=-\(count)"
        }
    }

    /// Whether they begin where the object does.
    var isFromStart: Bool { if case .range(let range) = self { range.lowerBound == 0 } else { false } }

    /// Whether a range of an object of `total` bytes is what is meant, or the beginning of it.
    func isAnswered(by range: Range<UInt64>, of total: UInt64) -> Bool {
        switch self {
        case .range(let asked): range.lowerBound == asked.lowerBound && range.upperBound <= asked.upperBound
        case .last(let count): range == total - min(UInt64(count), total)..<total
        }
    }
}

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
    /// Whether ``byteCount`` is only the max.
    var hasOpenEnd = false

    /// Judges a head.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - fields: The header fields.
    ///   - location: What was asked for.
    ///   - asked: The bytes that were asked for.
    ///   - opened: The version that they must be of; `nil` when the object is opened.
    ///   - maxWhole: The max number of bytes of an object that is taken whole when it is opened.
    ///   - takesGzip: Whether the object may be what gzip packed.
    /// - Returns: What the body will be: bytes from the start of those that were asked for, and possibly fewer.
    /// - Throws: ``HTTPFailure`` if it is anything else.
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
    /// The bytes that the body has, at least one; `nil` for `*`.
    package let range: Range<UInt64>?
    /// The object's length in bytes; `nil` for `*`.
    package let total: UInt64?

    /// Reads the field of an answer; `nil` if there is none, more than one, or one that says nothing valid.
    init?(_ fields: HTTPHeaders) {
        let values = fields["Content-Range"]
        guard values.count == 1 else { return nil }
        self.init(values[0])
    }

    /// Reads a value.
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
