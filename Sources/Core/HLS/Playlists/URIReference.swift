/// A URI, or a relative reference, in its five components.
///
/// - Source: RFC 3986, sections 3, 4.1 and appendix B.
public struct URIReference: Hashable, Sendable {
    /// The text before the first colon, as written; `nil` for a relative reference.
    public var scheme: String?
    /// The text behind `//`, such as a host; `nil` if there is none.
    public var authority: String?
    /// The path, percent-encoded; may be empty.
    public var path: String
    /// The text behind the first `?`; `nil` if there is none.
    public var query: String?
    /// The text behind the first `#`; `nil` if there is none.
    public var fragment: String?

    /// Splits a reference into its components. Any text is a reference.
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

    /// Returns whether a text is a scheme: ALPHA *( ALPHA / DIGIT / "+" / "-" / "." ). Source: RFC 3986, section 3.1.
    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, isLetter(first) else { return false }
        return text.utf8.allSatisfy { isLetter($0) || 0x30...0x39 ~= $0 || [0x2B, 0x2D, 0x2E].contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        0x41...0x5A ~= byte || 0x61...0x7A ~= byte
    }

    /// The URI in the form that a message may show, without secrets.
    ///
    /// User information, queries and fragments may hold tokens, and a `data` URI is the key itself.
    public var redacted: String {
        if scheme?.lowercased() == "data" { return "data:…" }
        var redacted = self
        if let at = authority?.lastIndex(of: "@") {
            redacted.authority = "…" + (authority?[at...] ?? "")
        }
        if query != nil { redacted.query = "…" }
        if fragment != nil { redacted.fragment = "…" }
        let text = redacted.text.unicodeScalars.map {
            0x20..<0x7F ~= $0.value || $0 == "…" ? String($0) : CharacterText.name($0)
        }
        return text.prefix(200).joined() + (text.count > 200 ? "…" : "")
    }

    /// Returns the URI that this reference denotes in a document with a base URI.
    ///
    /// - Source: RFC 3986, section 5.2.2, the strict algorithm.
    public func resolved(against base: URIReference) -> URIReference {
        var target = self
        if scheme != nil {
            target.path = Self.removingDotSegments(path)
            return target
        }
        target.scheme = base.scheme
        if authority != nil {
            target.path = Self.removingDotSegments(path)
            return target
        }
        target.authority = base.authority
        if path.isEmpty {
            target.path = base.path
            target.query = query ?? base.query
        } else if path.hasPrefix("/") {
            target.path = Self.removingDotSegments(path)
        } else {
            target.path = Self.removingDotSegments(base.merging(path))
        }
        return target
    }

    /// Source: RFC 3986, section 5.2.3.
    private func merging(_ relative: String) -> String {
        if authority != nil, path.isEmpty { return "/" + relative }
        guard let slash = path.lastIndex(of: "/") else { return relative }
        return path[...slash] + relative
    }

    /// Source: RFC 3986, section 5.2.4, in one pass over the segments.
    private static func removingDotSegments(_ path: String) -> String {
        let isAbsolute = path.hasPrefix("/")
        var kept: [Substring] = []
        let segments = (isAbsolute ? path.dropFirst() : path[...]).split(
            separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".": if isLast { kept.append("") }
            case "..":
                _ = kept.popLast()
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return (isAbsolute ? "/" : "") + kept.joined(separator: "/")
    }
}

extension URIReference {
    /// The reference to a file in a folder that is the root of all paths.
    ///
    /// - Parameter names: The names of the folders and the file, not encoded.
    package init(names: [String]) {
        self.init("")
        path = "/" + PercentEncoding.encode(path: names.joined(separator: "/"))
    }

    /// The names of the folders and the file in a path without scheme and host, decoded.
    ///
    /// - Returns: `nil` if there is a scheme or host, or a name that no file can have. Dots in any notation are such
    ///   names: ``resolved(against:)`` has removed those with a meaning.
    package var fileNames: [String]? {
        guard scheme == nil, authority == nil else { return nil }
        var names: [String] = []
        for segment in path.split(separator: "/") {
            guard let name = PercentEncoding.decode(segment: segment), name != ".", name != ".." else { return nil }
            names.append(name)
        }
        return names.isEmpty ? nil : names
    }

    /// The names in the whole reference without query and fragment: its scheme, its authority, and the parts of its
    /// path, decoded.
    ///
    /// Two references have the same names only if every URI parser takes them for the same place in a tree. No notation
    /// leads out of a folder of the tree.
    /// - Returns: `nil` if a name is empty, consists of dots, or contains a character that a file name cannot hold or
    ///   that another program could take for a separator: a slash or backslash in any notation, a control character.
    package var wholeNames: [String]? {
        var segments = path.split(separator: "/", omittingEmptySubsequences: false)
        if let authority {
            guard path.isEmpty || path.hasPrefix("/") else { return nil }
            segments[0] = authority[...]
        }
        var names = scheme.map { [$0] } ?? []
        for segment in segments {
            guard let name = PercentEncoding.decode(segment: segment), !["", ".", ".."].contains(name),
                name.utf8.count <= 255, name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F && $0 != 0x5C })
            else { return nil }
            names.append(name)
        }
        return names
    }
}

/// The encoding of bytes that a URI cannot hold directly.
///
/// - Source: RFC 3986, section 2.1.
package enum PercentEncoding {
    /// Decodes one segment of a path.
    ///
    /// - Returns: The segment; `nil` if a percent sign is not followed by two hexadecimal digits, or the result is not
    ///   UTF-8 or contains bytes that a file name cannot hold.
    static func decode(segment: some StringProtocol) -> String? {
        guard let decoded = bytes(of: segment), !decoded.contains(0), !decoded.contains(UInt8(ascii: "/")) else {
            return nil
        }
        return String(validating: decoded, as: UTF8.self)
    }

    /// Decodes text.
    ///
    /// - Returns: Any bytes; `nil` if a percent sign is not followed by two hexadecimal digits.
    package static func bytes(of text: some StringProtocol) -> [UInt8]? {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return Array(text.utf8) }
        var decoded: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            decoded.append(high << 4 | low)
        }
        return decoded
    }

    /// Encodes a path; slashes and unreserved characters stay.
    package static func encode(path: String) -> String {
        var encoded: [UInt8] = []
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in path.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x2F, 0x5F, 0x7E: encoded.append(byte)
            default: encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}
