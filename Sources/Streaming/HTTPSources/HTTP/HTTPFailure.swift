#if Network
import AsyncHTTPClient
import ByteSources
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import RandomAccess

/// The reason why a range of an object, or the answer to a request with a body, did not arrive.
package enum HTTPFailure: Error, Hashable, Sendable {
    /// No connection could be made.
    case unreachable(reason: String)
    /// The connection is not secure.
    case tls(TLSFailure)
    /// Nothing arrived for too long.
    case noAnswer(milliseconds: Int64)
    /// A part of the answer arrived, but not all of it in the time for everything.
    case late(milliseconds: Int64)
    /// The connection was closed before an answer.
    case closedBeforeAnswer
    /// The connection was closed during the body.
    case closedInBody(byteCount: Int, expected: Int)
    /// The status is not 206.
    case badStatus(Int)
    /// The object is elsewhere, at the URL that the answer names, if any.
    case redirected(status: Int, url: String?)
    /// The object is at a URL that the client refuses to follow.
    case redirectRefused(url: String, expected: String)
    /// The answer is the whole object instead of a range.
    case rangeIgnored
    /// The answer has several ranges, or one range in the form of several.
    case multipart
    /// The body is compressed, or otherwise not the object's bytes.
    case encoded(String)
    /// The answer has another range than the requested one, or does not name its range.
    case wrongRange(found: String, expected: String)
    /// The body has another length than its range.
    case wrongLength(found: String, expected: Int)
    /// The body has more bytes than its range.
    case tooLong(expected: Int)
    /// The server does not state the object's length.
    case unknownLength
    /// The server states a length that is beyond the max length of objects.
    case tooLarge(byteCount: UInt64)
    /// The object is no longer the one that was opened.
    case changed(found: String, expected: String)
    /// The answer is not valid HTTP.
    case invalidAnswer(reason: String)

    /// The failure's stable name.
    var name: String {
        switch self {
        case .unreachable: "unreachable"
        case .tls(let failure): failure.name
        case .noAnswer: "noAnswer"
        case .late: "late"
        case .closedBeforeAnswer: "closedBeforeAnswer"
        case .closedInBody: "closedInBody"
        case .badStatus: "badStatus"
        case .redirected, .redirectRefused: "redirected"
        case .rangeIgnored: "rangeIgnored"
        case .multipart: "multipartBody"
        case .encoded: "encodedBody"
        case .wrongRange: "wrongRange"
        case .wrongLength: "wrongLength"
        case .tooLong: "bodyTooLong"
        case .unknownLength: "unknownLength"
        case .tooLarge: "tooLarge"
        case .changed: "objectChanged"
        case .invalidAnswer: "invalidAnswer"
        }
    }

    /// True if the same request may succeed a moment later. This excludes failures that used up all the time.
    ///
    /// - Source: RFC 9110, sections 15.5.9 and 15.6; RFC 6585, section 4.
    var canPass: Bool {
        switch self {
        case .unreachable, .closedBeforeAnswer, .closedInBody, .tls(.closed): true
        case .badStatus(let status): [408, 425, 429, 500, 502, 503, 504].contains(status)
        default: false
        }
    }
}

extension HTTPFailure {
    /// True if the time was over and nothing else was wrong.
    var isOfTime: Bool {
        switch self {
        case .noAnswer, .late: true
        default: false
        }
    }

    /// True if there was no connection that is secure enough, or if nothing arrived over it.
    var isUnanswered: Bool {
        switch self {
        case .unreachable, .tls, .noAnswer, .closedBeforeAnswer: true
        default: false
        }
    }
}

extension HTTPFailure: CustomStringConvertible {
    /// The name, the finding, and the expectation.
    package var description: String {
        if case .tls(let failure) = self { return "\(failure)" }
        return "\(name): \(explanation)"
    }

    private var explanation: String {
        switch self {
        case .unreachable(let reason): "\(reason): expected a server"
        case .tls(let failure): "\(failure)"
        case .noAnswer(let milliseconds): "nothing for \(milliseconds) ms: expected an answer by then"
        case .late(let milliseconds): "not all came in \(milliseconds) ms: expected the whole answer by then"
        case .closedBeforeAnswer: "the connection was closed: expected an answer first"
        case .closedInBody(let count, let expected):
            "the connection was closed after \(count) bytes of the body: expected \(expected)"
        case .badStatus(let status): "the server answers \(status): expected 206"
        case .redirected(let status, let url):
            "the server answers \(status) and names \(url.map(URLText.redacted) ?? "no location"): expected 206"
        case .redirectRefused(let url, let expected):
            "the server names \(URLText.redacted(url)) instead: expected \(expected)"
        case .rangeIgnored: "the server answers 200 with the whole object: expected 206 with a range"
        case .multipart: "the server answers with multipart/byteranges: expected the one range that was asked for"
        case .encoded(let coding): "the body is encoded as \(coding): expected the object's own bytes"
        case .wrongRange(let found, let expected): "the answer's range is \(found): expected \(expected)"
        case .wrongLength(let found, let expected):
            "the body has \(found) bytes: expected \(expected), as its range has"
        case .tooLong(let expected): "the body goes on: expected \(expected) bytes, as its range has"
        case .unknownLength: "the answer does not say how long the object is: expected its length in Content-Range"
        case .tooLarge(let byteCount): SourceLength.refusal(byteCount)
        case .changed(let found, let expected): "the object is \(found) now: expected \(expected), as it was opened"
        case .invalidAnswer(let reason): "\(reason): expected an answer of HTTP/1.1"
        }
    }
}

/// The failures that the client's errors mean.
extension HTTPFailure {
    /// Translates an error of the client.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - received: The answer so far; a failure in it takes precedence.
    ///   - idleTimeout: The time for which the client waited without a byte.
    ///   - limit: The time for which it waited for the whole answer.
    init(_ error: any Error, received: RangeFetch.Received, idleTimeout: TimeAmount, limit: TimeAmount) {
        let milliseconds = min(idleTimeout, limit).nanoseconds / 1_000_000
        if let failure = received.failure {
            self = failure
            return
        }
        switch error {
        case let failure as HTTPFailure: self = failure
        case let failure as TLSFailure: self = .tls(failure)
        case let error as HTTPClientError where error == .deadlineExceeded:
            let limit = limit.nanoseconds / 1_000_000
            self = received.answer == nil ? .noAnswer(milliseconds: limit) : .late(milliseconds: limit)
        case let error as HTTPClientError where Self.isTimeout(error): self = .noAnswer(milliseconds: milliseconds)
        case let error as NIOConnectionError: self = .unreachable(reason: Self.reason(error))
        case let error as IOError where Self.isUnreachable(error): self = .unreachable(reason: Self.text(error))
        case ChannelError.connectTimeout: self = .noAnswer(milliseconds: milliseconds)
        case let error as HTTPClientError where [.remoteConnectionClosed, .uncleanShutdown].contains(error):
            self = Self.closed(received)
        case HTTPParserError.invalidEOFState, NIOSSLError.uncleanShutdown, is IOError, is ChannelError:
            self = Self.closed(received)
        default: self = .invalidAnswer(reason: "\(error)")
        }
    }

    private static func closed(_ received: RangeFetch.Received) -> HTTPFailure {
        guard let answer = received.answer else { return .closedBeforeAnswer }
        return .closedInBody(byteCount: received.byteCount, expected: answer.byteCount)
    }

    private static func isTimeout(_ error: HTTPClientError) -> Bool {
        let timeouts: [HTTPClientError] = [
            .readTimeout, .writeTimeout, .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout,
        ]
        return timeouts.contains(error)
    }

    private static func isUnreachable(_ error: IOError) -> Bool {
        [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, ENETDOWN, EADDRNOTAVAIL, EACCES, EPERM].contains(error.errnoCode)
    }

    /// The corresponding C function is `strerror`.
    private static func text(_ error: IOError) -> String { String(cString: strerror(error.errnoCode)) }

    static func reason(_ error: NIOConnectionError) -> String {
        guard let first = error.connectionErrors.first else { return "the name \(error.host) is not known" }
        return (first.error as? IOError).map(text) ?? "\(first.error)"
    }
}
#endif
