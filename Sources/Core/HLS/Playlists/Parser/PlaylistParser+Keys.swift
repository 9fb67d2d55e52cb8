internal import RandomAccess

/// EXT-X-KEY. Source: RFC 8216, section 4.3.2.4.
extension PlaylistParser {
    /// Handles a key's tag. One that cannot be read leaves the segments behind it broken, not in the clear.
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
        // Other formats' keys are not used, and their attributes are their own business.
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
                    .invalidAttribute, "EXT-X-KEY has KEYFORMATVERSIONS \(DecimalText.shown(versions))",
                    "integers with slashes between them, such as \"1/2\"")
            }
            guard numbers.contains(1) else {
                throw attributes.problem(
                    .unsupportedKeyFormat, "EXT-X-KEY has KEYFORMATVERSIONS \(DecimalText.shown(versions))",
                    "version 1 of \"identity\" among them")
            }
        }
        return KeyTag(
            line: attributes.line, method: .aes128(uri: uri, iv: try iv(attributes)), format: format)
    }

    /// The IV attribute: a hexadecimal-sequence of 128 bits, in capital or small letters.
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
