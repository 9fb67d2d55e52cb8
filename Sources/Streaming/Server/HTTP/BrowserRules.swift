#if Network
import ByteSources

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
    private let allowedOrigins: AllowedOrigins

    /// Creates the rules of a server.
    ///
    /// - Parameters:
    ///   - host: The name or address that it was told to listen on.
    ///   - allowedOrigins: Sites whose pages may ask it.
    init(boundTo host: String, allowing allowedOrigins: AllowedOrigins = AllowedOrigins()) {
        boundHost = host.lowercased()
        self.allowedOrigins = allowedOrigins
    }

    /// Whether a request is taken.
    func admits(_ request: Request) -> Bool {
        let authority = request.fields.host?.lowercased()
        // Without a host it is one of HTTP/1.0, and of no browser.
        guard authority.map({ isOwn(host: Self.host(of: $0)) }) ?? true else { return false }
        if let origin = request.fields.origin {
            if allowedOrigins.admits(origin) { return true }
            guard let authority, origin.lowercased() == "http://" + authority else { return false }
        }
        switch request.fields.fetchSite {
        case nil, "same-origin", "none": return true
        // A link that is followed: the page that it stands on does not see the answer.
        default:
            return request.method == .GET && request.fields.fetchMode == "navigate"
                && request.fields.fetchDestination == "document"
        }
    }

    private func isOwn(host: String) -> Bool {
        host == boundHost || host == "localhost" || IPAddress(host) != nil
    }

    /// The host without its port, an address of IPv6 without brackets; all of it where something else stands behind it.
    private static func host(of authority: String) -> String {
        let isBracketed = authority.hasPrefix("[")
        guard let end = authority.utf8.firstIndex(of: UInt8(ascii: isBracketed ? "]" : ":")) else { return authority }
        let host = authority[..<end].dropFirst(isBracketed ? 1 : 0)
        let rest = authority[end...].utf8.dropFirst(isBracketed ? 1 : 0)
        let isPort = rest.isEmpty || rest.first == UInt8(ascii: ":") && rest.dropFirst().allSatisfy(Self.isDigit)
        return isPort ? String(host) : authority
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

/// The sites whose pages may read what a server answers (cross-origin resource sharing).
///
/// Cookies are not asked for: a page of another site shows the token in its URL, or as "Authorization: Bearer".
/// - Source: the Fetch Standard, section 3.3 (HTTP extensions of CORS).
package struct AllowedOrigins: Sendable {
    /// What an origin is, in words.
    package static let expectation = "* or a scheme and a host such as https://player.example or http://localhost:3000"

    private let origins: Set<String>

    /// Creates a list, or `nil` if one of the texts is no origin; without any, no other site is allowed.
    package init?(_ texts: [String]) {
        for text in texts where text != "*" {
            guard let colon = text.firstRange(of: "://"),
                ["http", "https"].contains(text[..<colon.lowerBound].lowercased())
            else { return nil }
            let authority = text[colon.upperBound...].utf8
            // Letters, digits, and what else names, addresses and ports have.
            let isHost = authority.allSatisfy { byte in
                ("a"..."z").contains(Character(Unicode.Scalar(byte | 0x20))) || (0x30...0x39).contains(byte)
                    || Array("-.:[]_".utf8).contains(byte)
            }
            guard isHost, !authority.isEmpty else { return nil }
        }
        origins = Set(texts.map { $0.lowercased() })
    }

    /// No other site.
    package init() {
        origins = []
    }

    /// Whether pages of an origin are allowed.
    func admits(_ origin: String) -> Bool { origins.contains("*") || origins.contains(origin.lowercased()) }

    /// Adds what lets the page that asks read an answer.
    func mark(_ fields: inout FieldLines, for request: Request) {
        guard !origins.isEmpty else { return }
        // A cache must not hand the answer to one site on to another.
        fields.add("Vary", "Origin")
        guard let origin = request.fields.origin, admits(origin) else { return }
        fields.add("Access-Control-Allow-Origin", origins.contains("*") ? "*" : origin)
        fields.add(
            "Access-Control-Expose-Headers",
            "Accept-Ranges, Content-Length, Content-Range, Date, ETag, Last-Modified")
    }

    /// The answer to what a browser asks before it asks for what it wants; `nil` for other requests.
    ///
    /// It shows no token, and is told nothing of what is there.
    func preflight(_ request: Request) -> Reply? {
        guard request.method == .OPTIONS, request.fields.requestedMethod != nil, let origin = request.fields.origin,
            admits(origin)
        else { return nil }
        return Reply(
            status: .noContent,
            fields: [
                "Access-Control-Allow-Methods": "GET, HEAD",
                "Access-Control-Allow-Headers": "Authorization, If-Match, If-None-Match, If-Range, Range",
                "Access-Control-Max-Age": "600",
            ])
    }
}
#endif
