#if Network
import ByteSources

/// The rules by which a server without a token accepts requests. It refuses a request from a page of another site: the
/// user's browser can connect to this server while the page's author cannot.
///
/// Such a page can make its own name resolve to this server (DNS rebinding), and could then read the answers. This does
/// not work with an address as the host.
///
/// - Source: RFC 9110, section 7.2 (Host); the Fetch Standard, section 3.2 (Origin); W3C Fetch Metadata Request
///   Headers.
struct BrowserRules: Sendable {
    /// The message for a refused client.
    static let refusal = "host or origin of another site: expected this server's"

    private let boundHost: String
    private let allowedOrigins: AllowedOrigins

    /// - Parameters:
    ///   - host: The name or address that the server listens on.
    ///   - allowedOrigins: The sites whose pages may send requests.
    init(boundTo host: String, allowing allowedOrigins: AllowedOrigins = AllowedOrigins()) {
        boundHost = host.lowercased()
        self.allowedOrigins = allowedOrigins
    }

    /// Returns whether the server accepts a request.
    func admits(_ request: Request) -> Bool {
        let authority = request.fields.host?.lowercased()
        // Browsers always send a host; HTTP/1.0 has none.
        guard authority.map({ isOwn(host: Self.host(of: $0)) }) ?? true else { return false }
        if let origin = request.fields.origin {
            if allowedOrigins.admits(origin) { return true }
            guard let authority, origin.lowercased() == "http://" + authority else { return false }
        }
        switch request.fields.fetchSite {
        case nil, "same-origin", "none": return true
        // The user followed a link. The page with the link does not see the answer.
        default:
            return request.method == .GET && request.fields.fetchMode == "navigate"
                && request.fields.fetchDestination == "document"
        }
    }

    private func isOwn(host: String) -> Bool {
        host == boundHost || host == "localhost" || IPAddress(host) != nil
    }

    /// Returns the host without its port and without an IPv6 address's brackets; the whole text if anything else
    /// follows.
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

/// The sites whose pages may read a server's answers (cross-origin resource sharing).
///
/// The server does not use cookies: a page of another site presents the token in its URL, or as "Authorization:
/// Bearer".
/// - Source: the Fetch Standard, section 3.3 (HTTP extensions of CORS).
package struct AllowedOrigins: Sendable {
    /// The description of a valid origin.
    package static let expectation = "* or a scheme and a host such as https://player.example or http://localhost:3000"

    private let origins: Set<String>

    /// Reads a list; `nil` if one of the texts is not an origin. An empty list allows no other site.
    package init?(_ texts: [String]) {
        for text in texts where text != "*" {
            guard let colon = text.firstRange(of: "://"),
                ["http", "https"].contains(text[..<colon.lowerBound].lowercased())
            else { return nil }
            let authority = text[colon.upperBound...].utf8
            // Letters, digits, and the other characters of names, addresses and ports.
            let isHost = authority.allSatisfy { byte in
                ("a"..."z").contains(Character(Unicode.Scalar(byte | 0x20))) || (0x30...0x39).contains(byte)
                    || Array("-.:[]_".utf8).contains(byte)
            }
            guard isHost, !authority.isEmpty else { return nil }
        }
        origins = Set(texts.map { $0.lowercased() })
    }

    /// A list that allows no other site.
    package init() {
        origins = []
    }

    /// Returns whether pages of an origin are allowed.
    func admits(_ origin: String) -> Bool { origins.contains("*") || origins.contains(origin.lowercased()) }

    /// Adds the fields that let the requesting page read an answer.
    func mark(_ fields: inout FieldLines, for request: Request) {
        guard !origins.isEmpty else { return }
        // A cache must not pass the answer to one site on to another.
        fields.add("Vary", "Origin")
        guard let origin = request.fields.origin, admits(origin) else { return }
        fields.add("Access-Control-Allow-Origin", origins.contains("*") ? "*" : origin)
        fields.add(
            "Access-Control-Expose-Headers",
            "Accept-Ranges, Content-Length, Content-Range, Date, ETag, Last-Modified")
    }

    /// Returns the answer to a browser's preflight request; `nil` for other requests.
    ///
    /// A preflight presents no token, and its answer reveals nothing about the contents.
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
