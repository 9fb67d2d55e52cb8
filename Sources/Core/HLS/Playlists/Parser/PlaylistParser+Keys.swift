import RandomAccess

/// EXT-X-KEY. Source: RFC 8216, section 4.3.2.4.
extension PlaylistParser {
    /// Handles a key's tag. If it is invalid, the segments behind it are broken rather than unencrypted.
    mutating func keyTag(_ value: Substring, _ line: PlaylistLine) throws(PlaylistProblem) {
        let attributes: AttributeList
        do throws(PlaylistProblem) {
            if let problem = line.problem { throw problem }
            attributes = try AttributeList(value, tag: "EXT-X-KEY", line: line.number)
        } catch {
            try note(error)
            keys.breakAll(error)
            return
        }
        var format = KeyState.identity
        do throws(PlaylistProblem) {
            format = try attributes.quoted("KEYFORMAT") ?? format
            let method = try attributes.required("METHOD", try attributes.plain("METHOD"))
            if method == "NONE" {
                keys.end()
                if let name = attributes.names.first(where: Self.forbiddenWithoutKey.contains) {
                    try note(
                        attributes.problem(
                            .invalidAttribute, "EXT-X-KEY has \(name) beside METHOD=NONE", "METHOD=NONE alone"))
                }
                return
            }
            keys.apply(try Self.key(method: method, format: format, attributes))
        } catch {
            try note(error)
            keys.breakFormat(format, error)
        }
    }

    private static let forbiddenWithoutKey: Set<String> = ["URI", "IV", "KEYFORMAT", "KEYFORMATVERSIONS"]

    private static func key(
        method: String, format: String, _ attributes: AttributeList
    ) throws(PlaylistProblem) -> KeyTag {
        // Keys of other formats are unused, and their attributes are not checked.
        guard method == "AES-128", format == KeyState.identity else {
            return KeyTag(line: attributes.line, method: .other(method), format: format)
        }
        let uri = try attributes.required("URI", try attributes.quoted("URI"))
        guard !uri.isEmpty else {
            throw attributes.problem(.invalidAttribute, "EXT-X-KEY has an empty URI", "the URI of a key")
        }
        if let versions = try attributes.quoted("KEYFORMATVERSIONS") {
            let numbers = versions.split(separator: "/", omittingEmptySubsequences: false).map(DecimalText.integer)
            guard !numbers.contains(nil) else {
                throw attributes.problem(
                    .invalidAttribute, "EXT-X-KEY has KEYFORMATVERSIONS \(DecimalText.excerpt(versions))",
                    "integers with slashes between them, such as \"1/2\"")
            }
            guard numbers.contains(1) else {
                throw attributes.problem(
                    .unsupportedKeyFormat, "EXT-X-KEY has KEYFORMATVERSIONS \(DecimalText.excerpt(versions))",
                    "version 1 of \"identity\" among them")
            }
        }
        return KeyTag(
            line: attributes.line, method: .aes128(uri: uri, iv: try iv(attributes)), format: format)
    }

    /// Returns the IV attribute: a hexadecimal-sequence of 128 bits, in upper or lower case.
    private static func iv(_ attributes: AttributeList) throws(PlaylistProblem) -> Block? {
        guard let text = try attributes.plain("IV") else { return nil }
        let expected = "0x and 32 hexadecimal digits"
        guard text.hasPrefix("0x") || text.hasPrefix("0X") else {
            throw attributes.problem(
                .invalidIV, "EXT-X-KEY has an IV of \(text.unicodeScalars.count) characters without 0x", expected)
        }
        let digits = text.unicodeScalars.dropFirst(2)
        if let wrong = digits.first(where: { !$0.properties.isASCIIHexDigit }) {
            throw attributes.problem(
                .invalidIV, "EXT-X-KEY has \(CharacterText.name(wrong)) in its IV", expected)
        }
        guard digits.count == 32, let value = UInt128(String(String.UnicodeScalarView(digits)), radix: 16) else {
            throw attributes.problem(
                .invalidIV, "EXT-X-KEY has an IV of \(digits.count) hexadecimal digits", expected)
        }
        return Block(bigEndianValue: value)
    }
}

/// A key as in its tag.
struct KeyTag {
    /// METHOD.
    enum Method {
        case aes128(uri: String, iv: Block?)
        /// Any method other than NONE and AES-128.
        case other(String)
    }

    let line: Int
    let method: Method
    let format: String
}

/// The keys in force: one per KEYFORMAT, until the next one of the same format, or METHOD=NONE.
///
/// - Source: RFC 8216, section 4.3.2.4.
struct KeyState {
    private enum Slot {
        case key(KeyTag)
        case broken(PlaylistProblem)
    }

    /// The slots in the order of their tags; a playlist has few formats at a time.
    private var slots: [(format: String, slot: Slot)] = []
    /// The max number of KEYFORMATs; no real playlist has more.
    private static let maxFormats = 32

    /// The format of a key that is a resource of 16 bytes. Source: RFC 8216, section 4.3.2.4.
    static let identity = "identity"

    /// Ends all keys at METHOD=NONE: it has no KEYFORMAT, and a segment cannot be both encrypted and not.
    mutating func end() {
        slots = []
    }

    mutating func apply(_ tag: KeyTag) {
        set(.key(tag), for: tag.format)
    }

    /// Marks a format as broken after an invalid tag.
    mutating func breakFormat(_ format: String, _ problem: PlaylistProblem) {
        set(.broken(problem), for: format)
    }

    /// Marks all formats as broken after an invalid tag of an unknown format.
    mutating func breakAll(_ problem: PlaylistProblem) {
        slots = [(Self.identity, .broken(problem))]
    }

    private mutating func set(_ slot: Slot, for format: String) {
        slots.removeAll { $0.format == format }
        if slots.count >= Self.maxFormats { slots.removeFirst() }
        slots.append((format, slot))
    }

    /// Returns the key that applies to the next segment or section.
    ///
    /// - Parameter line: The line of the segment or section, for messages.
    /// - Returns: The key's URI and IV attribute; `nil` if there is no encryption.
    /// - Throws: `PlaylistProblem` if there are keys, and all of them are unusable.
    func key(line: Int) throws(PlaylistProblem) -> (uri: String, iv: Block?)? {
        guard !slots.isEmpty else { return nil }
        guard let slot = slots.first(where: { $0.format == Self.identity })?.slot else {
            for case (_, .broken(let problem)) in slots { throw problem }
            let formats = slots.map { DecimalText.excerpt($0.format) }.joined(separator: ", ")
            var keyLine = line
            if case .key(let tag)? = slots.first?.slot { keyLine = tag.line }
            throw PlaylistProblem(
                line: keyLine, kind: .unsupportedKeyFormat, found: "only keys of KEYFORMAT \(formats)",
                expected: "a key of KEYFORMAT \"identity\", or without KEYFORMAT")
        }
        switch slot {
        case .broken(let problem): throw problem
        case .key(let tag):
            switch tag.method {
            case .aes128(let uri, let iv): return (uri, iv)
            case .other(let name):
                throw PlaylistProblem(
                    line: tag.line, kind: .unsupportedMethod, found: "METHOD \(DecimalText.excerpt(name))",
                    expected: "AES-128 or NONE")
            }
        }
    }
}
