/// URLs in the form in which they may be shown.
package enum URLText {
    /// Returns the scheme of an `http` or `https` URL, and the text behind `//`; `nil` for anything else.
    package static func scheme(_ text: String) -> (isSecure: Bool, rest: Substring)? {
        for (scheme, isSecure) in [("https://", true), ("http://", false)]
        where text.prefix(scheme.count).lowercased() == scheme {
            return (isSecure, text.dropFirst(scheme.count))
        }
        return nil
    }

    /// Returns whether a text is a URL of any kind, and so is not a file name.
    package static func isURL(_ text: String) -> Bool {
        let scheme = text.prefix { $0 != ":" }
        guard scheme.count < text.count, let first = scheme.first, first.isASCII, first.isLetter else { return false }
        let isScheme = scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        let isWeb = ["http", "https"].contains(scheme.lowercased())
        return isScheme && text[scheme.endIndex...].hasPrefix(isWeb ? ":/" : "://")
    }

    /// Returns a URL without the parts that only its server may know: the user's name, the password, the query.
    package static func redacted(_ text: String) -> String {
        guard let (isSecure, rest) = scheme(text) else {
            // Text that is not a URL may hold any secret.
            return text.contains("@") || text.contains("?") ? "(not shown)" : String(text.prefix(200))
        }
        let scheme = isSecure ? "https://" : "http://"
        if let separator = rest.lastIndex(of: "@") {
            // A password may contain unencoded characters; the host is behind it.
            return scheme + "…@" + rest[rest.index(after: separator)...].prefix { !"/?#".contains($0) }
        }
        return scheme + rest.prefix { $0 != "?" && $0 != "#" } + (rest.contains("?") ? "?…" : "")
    }
}
