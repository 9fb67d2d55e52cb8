#if Network
package import NIOCore
package import NIOHTTP1

/// A client's request.
package final class Request: Sendable {
    /// The state of the connection after the answer.
    enum Persistence {
        case close
        case keepAlive
        /// As `keepAlive`, but the answer must say so to an HTTP/1.0 client.
        case keepAliveSaid
    }

    /// The method.
    package let method: HTTPMethod
    /// The path and the query, or `*`.
    package let target: String
    /// The request's fields.
    package let fields: RequestFields
    /// The state of the connection after the answer.
    let persistence: Persistence
    /// The body once it has arrived; `nil` if the server does not keep it.
    let body: EventLoopFuture<ByteBuffer>?
    /// The client's address.
    let address: String

    /// Reads a head; `nil` if its version, host or target is invalid.
    ///
    /// - Parameters:
    ///   - head: The head.
    ///   - address: The client's address.
    ///   - keepBody: Returns the future body; not called for an invalid request.
    /// - Source: RFC 9112, sections 3.2 (target and Host) and 9.3 (persistence).
    package init?(
        _ head: HTTPRequestHead, address: String = "",
        keepBody: (RequestFields) -> EventLoopFuture<ByteBuffer>? = { _ in nil }
    ) {
        let fields = RequestFields(head.headers)
        // HTTP/1.0 did not have the host field.
        guard head.version.major == 1, fields.host != nil || head.version.minor == 0,
            fields.host.map(Self.isHost) ?? true, let target = Self.target(head.uri, fields.host ?? "")
        else { return nil }
        method = head.method
        self.target = target
        self.fields = fields
        self.address = address
        body = keepBody(fields)
        // The parser stops at what might be the start of another protocol.
        let isLast = head.method == .CONNECT || fields.upgrade != nil || !head.isKeepAlive
        persistence = isLast ? .close : head.version.minor == 0 ? .keepAliveSaid : .keepAlive
    }

    /// Returns the path of a target. An absolute target must name the same host as the field: otherwise a proxy could
    /// go by one of them, and the rules of this server by the other.
    ///
    /// - Source: RFC 9112, section 3.2.2 (absolute form).
    private static func target(_ text: String, _ host: String) -> String? {
        guard text.utf8.first != UInt8(ascii: "/"), text != "*" else { return text }
        let parts = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count > 2, ["http:", "https:"].contains(parts[0].lowercased()), parts[1].isEmpty, !host.isEmpty,
            parts[2].lowercased() == host.lowercased()
        else { return nil }
        return parts.count > 3 ? "/" + parts[3] : "/"
    }

    /// Returns whether a text has only the characters of a host and port; two joined hosts would have a space between
    /// them. Source: RFC 9112, section 3.2; RFC 3986, section 3.2.2.
    private static func isHost(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: ":"):
                true
            default: "-_~%!$&'()*+,;=[]".utf8.contains(byte)
            }
        }
    }
}

/// The fields of a request that the server uses, found in one pass. Several lines of a field count as one, joined by
/// commas.
///
/// - Source: RFC 9110, section 5.3.
package struct RequestFields: Hashable, Sendable {
    package var authorization, contentLength, contentType, expect, host, transferEncoding, upgrade: String?
    package var range, ifMatch, ifModifiedSince, ifNoneMatch, ifRange, ifUnmodifiedSince: String?
    package var origin, fetchDestination, fetchMode, fetchSite, requestedMethod: String?

    /// Reads fields; their names are case-insensitive.
    package init(_ headers: HTTPHeaders) {
        for (name, value) in headers {
            switch name.lowercased() {
            case "access-control-request-method": Self.add(value, to: &requestedMethod)
            case "authorization": Self.add(value, to: &authorization)
            case "content-length": Self.add(value, to: &contentLength)
            case "content-type": Self.add(value, to: &contentType)
            case "expect": Self.add(value, to: &expect)
            case "host": Self.add(value, to: &host)
            case "if-match": Self.add(value, to: &ifMatch)
            case "if-modified-since": Self.add(value, to: &ifModifiedSince)
            case "if-none-match": Self.add(value, to: &ifNoneMatch)
            case "if-range": Self.add(value, to: &ifRange)
            case "if-unmodified-since": Self.add(value, to: &ifUnmodifiedSince)
            case "origin": Self.add(value, to: &origin)
            case "range": Self.add(value, to: &range)
            case "sec-fetch-dest": Self.add(value, to: &fetchDestination)
            case "sec-fetch-mode": Self.add(value, to: &fetchMode)
            case "sec-fetch-site": Self.add(value, to: &fetchSite)
            case "transfer-encoding": Self.add(value, to: &transferEncoding)
            case "upgrade": Self.add(value, to: &upgrade)
            default: break
            }
        }
    }

    private static func add(_ value: String, to field: inout String?) {
        field = field.map { $0 + ", " + value } ?? value
    }
}
#endif
