/// URLs as they may be shown.
package enum URLText {
    /// The scheme of an `http` or `https` URL, and what is behind `//`; `nil` for anything else.
    package static func scheme(_ text: String) -> (isSecure: Bool, rest: Substring)? {
        for (scheme, isSecure) in [("https://", true), ("http://", false)]
        where text.prefix(scheme.count).lowercased() == scheme {
            return (isSecure, text.dropFirst(scheme.count))
        }
        return nil
    }

    /// Whether a text is meant as a URL of any kind, and so is no name of a file.
    package static func isURL(_ text: String) -> Bool {
        let scheme = text.prefix { $0 != ":" }
        guard scheme.count < text.count, let first = scheme.first, first.isASCII, first.isLetter else { return false }
        let isScheme = scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        let isWeb = ["http", "https"].contains(scheme.lowercased())
        return isScheme && text[scheme.endIndex...].hasPrefix(isWeb ? ":/" : "://")
    }

    /// A URL without what only its server may know: the user's name, the password, the query.
    package static func redacted(_ text: String) -> String {
        guard let (isSecure, rest) = scheme(text) else {
            // What is no URL may be anything.
            return text.contains("@") || text.contains("?") ? "(not shown)" : String(text.prefix(200))
        }
        let scheme = isSecure ? "https://" : "http://"
        if let separator = rest.lastIndex(of: "@") {
            // A password may hold anything that was not encoded; what is behind it is the host.
            return scheme + "…@" + rest[rest.index(after: separator)...].prefix { !"/?#".contains($0) }
        }
        return scheme + rest.prefix { $0 != "?" && $0 != "#" } + (rest.contains("?") ? "?…" : "")
    }
}
