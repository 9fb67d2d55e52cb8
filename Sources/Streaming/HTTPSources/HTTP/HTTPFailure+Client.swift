#if Network
import AsyncHTTPClient
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// What the client's errors mean.
extension HTTPFailure {
    /// Names an error of the client.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - received: What had come; a failure found there comes first.
    ///   - idleTimeout: How long the client waited for something to come.
    ///   - limit: How long it waited for everything.
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
