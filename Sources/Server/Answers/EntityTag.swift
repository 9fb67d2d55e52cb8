/// A validator for one version of an object. Source: RFC 9110, section 8.8.3.
package struct EntityTag: Hashable, Sendable {
    /// The text between the quotation marks.
    package let opaque: String
    /// Whether equal tags need not mean equal bytes.
    package let isWeak: Bool

    /// Creates a tag.
    ///
    /// - Parameters:
    ///   - opaque: The text between the quotation marks, without any.
    ///   - isWeak: Whether equal tags need not mean equal bytes.
    package init(opaque: String, isWeak: Bool = false) {
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// Creates a strong tag from all that it depends on, none of which can be read from it.
    ///
    /// Two FNV-1a hashes of 64 bits with different starts: the tag tells versions apart, it keeps no secret.
    package init(of parts: [String]) {
        var hashes: [UInt64] = [0xcbf2_9ce4_8422_2325, 0x8422_2325_cbf2_9ce4]
        for byte in parts.joined(separator: "\n").utf8 {
            for index in hashes.indices { hashes[index] = (hashes[index] ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
        self.init(
            opaque: hashes.map { hash in
                let digits = String(hash, radix: 16)
                return String(repeating: "0", count: 16 - digits.count) + digits
            }.joined())
    }

    /// Reads one tag: `"…"` or `W/"…"`.
    ///
    /// - Returns: `nil` for anything else.
    package init?(_ text: some StringProtocol) {
        let isWeak = text.hasPrefix("W/")
        let quoted = isWeak ? text.dropFirst(2) : text[...]
        guard quoted.utf8.count >= 2, quoted.first == "\"", quoted.last == "\"" else { return nil }
        let opaque = quoted.dropFirst().dropLast()
        // Source: RFC 9110, section 8.8.3, "etagc".
        guard opaque.utf8.allSatisfy({ $0 == 0x21 || ($0 >= 0x23 && $0 != 0x7F) }) else { return nil }
        self.init(opaque: String(opaque), isWeak: isWeak)
    }

    /// The tag as a field has it.
    package var text: String { (isWeak ? "W/" : "") + "\"\(opaque)\"" }

    /// Whether both stand for the same bytes. Source: RFC 9110, section 8.8.3.2.
    package func matchesStrongly(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && opaque == other.opaque
    }

    /// Whether both stand for the same content. Source: RFC 9110, section 8.8.3.2.
    package func matchesWeakly(_ other: EntityTag) -> Bool {
        opaque == other.opaque
    }
}

/// The value of `If-Match` or `If-None-Match`. Source: RFC 9110, sections 13.1.1 and 13.1.2.
package enum EntityTagList: Hashable, Sendable {
    /// `*`: whatever there is.
    case any
    /// Tags, one at least.
    case tags([EntityTag])

    /// Reads a list.
    ///
    /// - Returns: `nil` if it is none.
    package init?(_ text: String) {
        if text.filter({ $0 != " " && $0 != "\t" }) == "*" {
            self = .any
            return
        }
        // A comma may stand in a tag.
        var tags: [EntityTag] = []
        var rest = text[...]
        while true {
            rest = rest.drop { $0 == " " || $0 == "\t" || $0 == "," }
            guard !rest.isEmpty else { break }
            guard let open = rest.firstIndex(of: "\""),
                let close = rest[rest.index(after: open)...].firstIndex(of: "\""),
                let tag = EntityTag(rest[...close])
            else { return nil }
            tags.append(tag)
            rest = rest[rest.index(after: close)...].drop { $0 == " " || $0 == "\t" }
            guard rest.isEmpty || rest.first == "," else { return nil }
        }
        guard !tags.isEmpty else { return nil }
        self = .tags(tags)
    }

    /// Whether one of the tags passes the test.
    package func contains(where test: (EntityTag) -> Bool) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags): tags.contains(where: test)
        }
    }
}
