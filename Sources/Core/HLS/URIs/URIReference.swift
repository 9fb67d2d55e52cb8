/// A URI, or a reference that is relative to one, in its five components.
///
/// - Source: RFC 3986, sections 3, 4.1 and appendix B.
public struct URIReference: Hashable, Sendable {
    /// What stands before the first colon, as written; `nil` for a relative reference.
    public var scheme: String?
    /// What follows `//`, such as a host; `nil` where there is none.
    public var authority: String?
    /// The path, percent-encoded; may be empty.
    public var path: String
    /// What follows the first `?`; `nil` where there is none.
    public var query: String?
    /// What follows the first `#`; `nil` where there is none.
    public var fragment: String?

    /// Takes a reference apart. Any text is one.
    public init(_ text: String) {
        var rest = text[...]
        if let hash = rest.firstIndex(of: "#") {
            fragment = String(rest[rest.index(after: hash)...])
            rest = rest[..<hash]
        }
        if let mark = rest.firstIndex(of: "?") {
            query = String(rest[rest.index(after: mark)...])
            rest = rest[..<mark]
        }
        if let colon = rest.firstIndex(of: ":"), Self.isScheme(rest[..<colon]) {
            scheme = String(rest[..<colon])
            rest = rest[rest.index(after: colon)...]
        }
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            let slash = rest.firstIndex(of: "/") ?? rest.endIndex
            authority = String(rest[..<slash])
            rest = rest[slash...]
        }
        path = String(rest)
    }

    /// The `file` URI of an absolute path.
    public init(filePath: String) {
        scheme = "file"
        authority = ""
        path = PercentEncoding.encode(path: filePath)
    }

    /// The reference as text. Source: RFC 3986, section 5.3.
    public var text: String {
        (scheme.map { $0 + ":" } ?? "") + (authority.map { "//" + $0 } ?? "") + path + (query.map { "?" + $0 } ?? "")
            + (fragment.map { "#" + $0 } ?? "")
    }

    /// Scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." ). Source: RFC 3986, section 3.1.
    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, isLetter(first) else { return false }
        return text.utf8.allSatisfy { isLetter($0) || 0x30...0x39 ~= $0 || [0x2B, 0x2D, 0x2E].contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        0x41...0x5A ~= byte || 0x61...0x7A ~= byte
    }
}

extension URIReference {
    /// The URI as a message may show it: without what may be secret.
    ///
    /// User information, queries and fragments may hold tokens, and a `data` URI is the key itself.
    public var shown: String {
        if scheme?.lowercased() == "data" { return "data:…" }
        var shown = self
        if let at = authority?.lastIndex(of: "@") {
            shown.authority = "…" + (authority?[at...] ?? "")
        }
        if query != nil { shown.query = "…" }
        if fragment != nil { shown.fragment = "…" }
        let text = shown.text.unicodeScalars.map {
            0x20..<0x7F ~= $0.value || $0 == "…" ? String($0) : CharacterText.name($0)
        }
        return text.prefix(200).joined() + (text.count > 200 ? "…" : "")
    }
}
