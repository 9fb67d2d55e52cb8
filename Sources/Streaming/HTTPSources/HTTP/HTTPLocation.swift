#if Network
import ByteSources
import FoundationEssentials
import Glibc
import RandomAccess
import X509

/// The location of an object: an `http` or `https` URL without credentials.
///
/// - Source: RFC 3986, section 3; RFC 9110, section 4.2.
struct HTTPLocation: Hashable, Sendable {
    /// True if the URL demands TLS.
    let isSecure: Bool
    /// The server.
    let host: HostName
    /// The server's port.
    let port: Int
    /// The path and the query, in the form for a request.
    let target: String

    /// Parses a URL.
    ///
    /// - Parameter text: The URL; a fragment is ignored.
    /// - Throws: `DecryptionError.invalidParameter`, without a user's name, a password and the query.
    init(_ text: String) throws(DecryptionError) {
        func invalid(_ expected: String) -> DecryptionError {
            .invalidParameter(name: "URL", value: URLText.redacted(text), expected: expected)
        }
        guard let (isSecure, rest) = URLText.scheme(text) else { throw invalid("https:// or http://") }
        let refused = Set("\"<>\\^`{|}".utf8)
        guard rest.utf8.allSatisfy({ (0x21..<0x7F).contains($0) && !refused.contains($0) }) else {
            throw invalid("printable ASCII, everything else percent-encoded")
        }
        let meaning = rest.prefix { $0 != "#" }
        let authority = meaning.prefix { $0 != "/" && $0 != "?" }
        guard !authority.contains("@") else {
            throw invalid("no user name and no password in it (a token goes into a header)")
        }
        guard let (host, port) = Self.hostAndPort(authority, usual: isSecure ? 443 : 80) else {
            throw invalid("a host, and a port from 1 to 65535 if any")
        }
        let target = meaning.dropFirst(authority.count)
        self.isSecure = isSecure
        self.host = HostName(host)
        self.port = port
        self.target = target.hasPrefix("/") ? String(target) : "/" + target
    }

    private static func hostAndPort(_ authority: Substring, usual: Int) -> (String, Int)? {
        var (host, rest) = (authority, Substring())
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[..<end].dropFirst()
            rest = authority[end...].dropFirst()
            guard HostName(String(host)).isAddress, host.contains(":") else { return nil }
        } else if let colon = authority.firstIndex(of: ":") {
            (host, rest) = (authority[..<colon], authority[colon...])
        }
        let isName = host.utf8.allSatisfy { byte in
            UnicodeScalar(byte).properties.isAlphabetic || (0x30...0x39).contains(byte)
                || [0x2D, 0x2E, 0x5F].contains(byte)
        }
        guard !host.isEmpty, host.utf8.count <= 253, isName || authority.hasPrefix("[") else { return nil }
        guard !rest.isEmpty, rest != ":" else { return (String(host), usual) }
        guard rest.hasPrefix(":"), rest.dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = UInt16(rest.dropFirst()), port > 0
        else { return nil }
        return (String(host), Int(port))
    }
}

extension HTTPLocation: CustomStringConvertible {
    /// The URL without its query.
    var description: String {
        let path = target.prefix { $0 != "?" }
        return (isSecure ? "https://" : "http://") + authority + path + (path.count < target.count ? "?…" : "")
    }

    /// Returns the URL that a reference means, relative to this one; the reference itself if it is invalid.
    ///
    /// - Source: RFC 9110, section 10.2.2; RFC 3986, section 5.
    func resolving(_ reference: String) -> String {
        guard let base = URL(string: origin + target.prefix { $0 != "?" }),
            let url = URL(string: reference, relativeTo: base)
        else { return reference }
        return url.absoluteString
    }

    /// The URL.
    var text: String { origin + target }

    /// The scheme and the server.
    var origin: String { (isSecure ? "https://" : "http://") + authority }

    /// The server as URLs and the field `Host` name it.
    var authority: String { port == (isSecure ? 443 : 80) ? hostText : "\(hostText):\(port)" }

    /// The URL for the client of ``HTTPConnections``. That client knows nothing of TLS, so its URLs are all plain.
    var clientURL: String { "http://\(hostText):\(port)\(target)" }

    /// The names and values of the fields in every request.
    var clientFields: [(String, String)] { [("Host", authority), ("Accept-Encoding", "identity")] }

    private var hostText: String { host.text.contains(":") ? "[\(host.text)]" : host.text }
}

/// The requested name or address of a server.
struct HostName: Hashable, Sendable {
    /// The text, an IPv6 address without brackets.
    let text: String
    /// True if the text is an address. Certificates hold addresses in another field, and clients do not send them to
    /// servers.
    let isAddress: Bool

    /// The corresponding C function is `inet_pton`.
    init(_ text: String) {
        self.text = text
        var (four, six) = (in_addr(), in6_addr())
        isAddress = inet_pton(AF_INET, text, &four) == 1 || inet_pton(AF_INET6, text, &six) == 1
    }

    /// The check of a certificate's names. Source: RFC 9525, section 6.
    var identity: ServerIdentityPolicy {
        ServerIdentityPolicy(serverHostname: isAddress ? nil : text, serverIP: isAddress ? text : nil)
    }

    /// The name that the client tells the server (SNI); `nil` for an address. Source: RFC 6066, section 3.
    var serverName: String? { isAddress ? nil : text }
}
#endif
