#if Network
import HTTPTypes
import NIOHTTP1

/// Which heads are requests, and how their connections go on.
///
/// - Source: RFC 9112, sections 3.2 (target and Host) and 9.3 (persistence).
enum RequestRules {
    /// How a connection goes on after an answer.
    enum Persistence {
        case close
        case keepAlive
        /// As with `keepAlive`, which has to be said to a client of HTTP/1.0.
        case keepAliveSaid
    }

    /// How the connection of a request goes on.
    static func persistence(_ head: HTTPRequestHead) -> Persistence {
        // The parser reads no further behind what might be another protocol.
        let mayChangeProtocol = head.method == .CONNECT || head.headers.contains(name: "upgrade")
        guard head.isKeepAlive, !mayChangeProtocol else { return .close }
        return head.version.minor == 0 ? .keepAliveSaid : .keepAlive
    }

    /// What a head asks for; `nil` if its version, host or target is none.
    static func request(_ head: HTTPRequestHead, isSecure: Bool) -> HTTPRequest? {
        var host: String?
        var fields = HTTPFields()
        fields.reserveCapacity(head.headers.count)
        for (name, value) in head.headers {
            if name.utf8.count == 4, name.lowercased() == "host" {
                guard host == nil else { return nil }
                host = value
            } else if let name = HTTPField.Name(name) {
                fields.append(HTTPField(name: name, value: value))
            }
        }
        // An absent host is all right in HTTP/1.0, where it did not exist.
        guard head.version.major == 1, host != nil || head.version.minor == 0, host.map(isHost) ?? true,
            let path = path(head.uri, host ?? ""), let method = HTTPRequest.Method(rawValue: head.method.rawValue)
        else { return nil }
        return HTTPRequest(
            method: method, scheme: isSecure ? "https" : "http", authority: host, path: path, headerFields: fields)
    }

    /// The path of a target that is one, or names the host that the field names: of two of them, a proxy could go by the
    /// one and the rules behind us by the other.
    ///
    /// - Source: RFC 9112, section 3.2.2 (absolute form).
    private static func path(_ target: String, _ host: String) -> String? {
        guard target.utf8.first != UInt8(ascii: "/"), target != "*" else { return target }
        let parts = target.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count > 2, ["http:", "https:"].contains(parts[0].lowercased()), parts[1].isEmpty, !host.isEmpty,
            parts[2].lowercased() == host.lowercased()
        else { return nil }
        return parts.count > 3 ? "/" + parts[3] : "/"
    }

    /// Whether a text has no characters but those of a host and port. Source: RFC 9112, section 3.2; RFC 3986, section
    /// 3.2.2.
    private static func isHost(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-._~%!$&'()*+,;=:[]".utf8.contains(byte)
            }
        }
    }
}
#endif
