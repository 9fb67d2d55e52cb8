#if Network
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
        self.init(Array(text.utf8)[...])
    }

    /// Reads one tag from bytes: characters could hold a quotation mark and what combines with it.
    fileprivate init?(_ bytes: ArraySlice<UInt8>) {
        let isWeak = bytes.starts(with: "W/".utf8)
        let quoted = isWeak ? bytes.dropFirst(2) : bytes
        let mark = UInt8(ascii: "\"")
        guard quoted.count >= 2, quoted.first == mark, quoted.last == mark else { return nil }
        let opaque = quoted.dropFirst().dropLast()
        // Source: RFC 9110, section 8.8.3, "etagc".
        guard opaque.allSatisfy({ $0 == 0x21 || ($0 >= 0x23 && $0 != 0x7F) }) else { return nil }
        self.init(opaque: String(decoding: opaque, as: UTF8.self), isWeak: isWeak)
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
        let (mark, comma) = (UInt8(ascii: "\""), UInt8(ascii: ","))
        func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var rest = Array(text.utf8)[...]
        if rest.filter({ !isSpace($0) }) == [UInt8(ascii: "*")] {
            self = .any
            return
        }
        // A comma may stand in a tag.
        var tags: [EntityTag] = []
        while true {
            rest = rest.drop { isSpace($0) || $0 == comma }
            guard !rest.isEmpty else { break }
            guard let open = rest.firstIndex(of: mark), let close = rest[(open + 1)...].firstIndex(of: mark),
                let tag = EntityTag(rest[...close])
            else { return nil }
            tags.append(tag)
            rest = rest[(close + 1)...].drop(while: isSpace)
            guard rest.isEmpty || rest.first == comma else { return nil }
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
#endif
