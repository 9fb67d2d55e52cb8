#if Network
import ByteSources
import HTTPTypes

/// Which requests are taken by a server that asks for no token: none that a page of another site makes, in a browser that
/// can connect to this server while the page's author cannot.
///
/// Such a page can have its own name lead here (DNS rebinding), and then reads what it is answered; an address as the host
/// cannot be made to lead elsewhere.
///
/// - Source: RFC 9110, section 7.2 (Host); the Fetch Standard, section 3.2 (Origin); W3C Fetch Metadata Request Headers.
struct BrowserRules: Sendable {
    /// What a client is told that is refused.
    static let refusal = "host or origin of another site: expected this server's"

    private let boundHost: String

    /// Creates the rules of a server.
    ///
    /// - Parameter host: The name or address that it was told to listen on.
    init(boundTo host: String) {
        boundHost = host.lowercased()
    }

    /// Whether a request is taken.
    func admits(_ request: HTTPRequest) -> Bool {
        let authority = request.authority?.lowercased()
        // Without a host it is one of HTTP/1.0, and of no browser.
        guard authority.map({ isOwn(host: Self.host(of: $0)) }) ?? true else { return false }
        let fields = request.headerFields
        if let origin = fields[.origin] {
            guard let authority, origin.lowercased() == "http://" + authority else { return false }
        }
        switch fields[.fetchSite] {
        case nil, "same-origin", "none": return true
        // A link that is followed: the page that it stands on does not see the answer.
        default: return request.method == .get && fields[.fetchMode] == "navigate" && fields[.fetchDest] == "document"
        }
    }

    private func isOwn(host: String) -> Bool {
        IPAddress(host) != nil || host == "localhost" || host == boundHost
    }

    /// The host without its port, an address of IPv6 without brackets.
    private static func host(of authority: String) -> String {
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            return String(authority[..<end].dropFirst())
        }
        return String(authority.prefix { $0 != ":" })
    }
}

extension HTTPField.Name {
    fileprivate static let fetchSite = HTTPField.Name("Sec-Fetch-Site") ?? .server
    fileprivate static let fetchMode = HTTPField.Name("Sec-Fetch-Mode") ?? .server
    fileprivate static let fetchDest = HTTPField.Name("Sec-Fetch-Dest") ?? .server
}
#endif
