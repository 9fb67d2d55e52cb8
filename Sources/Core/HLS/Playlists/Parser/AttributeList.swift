/// The attributes of a tag.
///
/// - Source: RFC 8216, section 4.2.
struct AttributeList {
    /// An attribute's value.
    struct Value {
        /// The value without quotation marks.
        let text: String
        /// True if the value was in quotation marks.
        let isQuoted: Bool
    }

    /// The tag's name, for messages.
    let tag: String
    /// The line, for messages.
    let line: Int

    private(set) var names: [String] = []
    private var values: [String: Value] = [:]

    /// Parses the text behind a tag's colon.
    ///
    /// - Throws: `PlaylistProblem`.
    init(_ text: Substring, tag: String, line: Int) throws(PlaylistProblem) {
        self.tag = tag
        self.line = line
        var scanner = AttributeScanner(text, tag: tag, line: line)
        while let (name, value) = try scanner.next() {
            guard values.updateValue(value, forKey: name) == nil else {
                throw PlaylistProblem(
                    line: line, kind: .duplicateAttribute, found: "\(tag) has \(name) twice",
                    expected: "an attribute once")
            }
            names.append(name)
        }
    }

    /// Returns the value of an attribute as written, if present.
    func value(_ name: String) -> Value? { values[name] }

    /// All values by name, without quotation marks.
    var texts: [String: String] { values.mapValues(\.text) }

    /// Returns the value of an attribute that must be a quoted string, if present.
    ///
    /// - Throws: `PlaylistProblem` for a value without quotation marks.
    func quoted(_ name: String) throws(PlaylistProblem) -> String? {
        guard let value = values[name] else { return nil }
        guard value.isQuoted else {
            throw problem(.unquoted, "\(tag) has \(name) without quotation marks", "\(name)=\"…\"")
        }
        return value.text
    }

    /// Returns the value of an attribute that must not be quoted, if present.
    ///
    /// - Throws: `PlaylistProblem` for a quoted value.
    func plain(_ name: String) throws(PlaylistProblem) -> String? {
        guard let value = values[name] else { return nil }
        guard !value.isQuoted else {
            throw problem(.quoted, "\(tag) has \(name) in quotation marks", "\(name) without them")
        }
        return value.text
    }

    /// Returns a required value.
    ///
    /// - Throws: `PlaylistProblem` if it is missing.
    func required(_ name: String, _ value: String?) throws(PlaylistProblem) -> String {
        guard let value else { throw problem(.missingAttribute, "\(tag) has no \(name)", "\(name)=…") }
        return value
    }

    /// Returns a problem on the tag's line.
    func problem(_ kind: PlaylistProblem.Kind, _ found: String, _ expected: String) -> PlaylistProblem {
        PlaylistProblem(line: line, kind: kind, found: found, expected: expected)
    }
}

/// Splits an attribute list. Values never become part of a message, because some are secret.
struct AttributeScanner {
    private var rest: Substring.UnicodeScalarView
    private let tag: String
    private let line: Int
    private var number = 0
    private var isAfterComma = false

    init(_ text: Substring, tag: String, line: Int) {
        self.rest = text.unicodeScalars
        self.tag = tag
        self.line = line
    }

    /// Returns the next attribute; `nil` after the last one.
    mutating func next() throws(PlaylistProblem) -> (name: String, value: AttributeList.Value)? {
        guard !rest.isEmpty else {
            guard !isAfterComma else {
                throw problem(.brokenAttributeList, "\(tag) breaks off after a comma", "an attribute after it")
            }
            return nil
        }
        number += 1
        let name = try name()
        let value = try rest.first == "\"" ? quotedValue(of: name) : plainValue(of: name)
        isAfterComma = false
        if let next = rest.first {
            guard next == "," else {
                // A straight mark opens, a typographic one should have closed, and the scan went on to the next
                // straight one.
                if let curly = value.text.unicodeScalars.first(where: CharacterText.isCurlyQuote) {
                    throw curlyQuote(curly, name)
                }
                throw problem(
                    .brokenAttributeList, "\(tag) has \(CharacterText.name(next)) after the value of \(name)",
                    "a comma or the line's end")
            }
            rest.removeFirst()
            isAfterComma = true
        }
        return (name, value)
    }

    private mutating func name() throws(PlaylistProblem) -> String {
        let name = rest.prefix { "A"..."Z" ~= $0 || "0"..."9" ~= $0 || $0 == "-" }
        rest = rest.dropFirst(name.count)
        guard let next = rest.first else {
            throw problem(
                .brokenAttributeList, "\(tag) breaks off in attribute \(number)", "NAME=VALUE, separated by commas")
        }
        if next == " " || next == "\t" {
            throw problem(.whitespace, "\(tag) has white space around attribute \(number)", "no white space")
        }
        guard next == "=", !name.isEmpty else {
            throw problem(
                .brokenAttributeList, "\(tag) has \(CharacterText.name(next)) in the name of attribute \(number)",
                "a name in capital letters, digits and hyphens, and an equals sign")
        }
        rest.removeFirst()
        return String(name)
    }

    private mutating func quotedValue(of name: String) throws(PlaylistProblem) -> AttributeList.Value {
        rest.removeFirst()
        guard let end = rest.firstIndex(of: "\"") else {
            if let curly = rest.first(where: CharacterText.isCurlyQuote) { throw curlyQuote(curly, name) }
            throw problem(.unterminatedQuote, "\(tag) has \(name) without a closing quotation mark", "\(name)=\"…\"")
        }
        let text = String(rest[..<end])
        rest = rest[rest.index(after: end)...]
        return AttributeList.Value(text: text, isQuoted: true)
    }

    private mutating func plainValue(of name: String) throws(PlaylistProblem) -> AttributeList.Value {
        let text = rest.prefix { $0 != "," }
        rest = rest[text.endIndex...]
        guard let first = text.first else {
            throw problem(.brokenAttributeList, "\(tag) has \(name) without a value", "\(name)=…")
        }
        if CharacterText.isCurlyQuote(first) { throw curlyQuote(first, name) }
        if text.contains("\"") {
            throw problem(
                .brokenAttributeList, "\(tag) has a quotation mark inside the value of \(name)",
                "quotation marks around a value, or none")
        }
        if text.contains(where: { $0 == " " || $0 == "\t" }) {
            throw problem(.whitespace, "\(tag) has white space in the value of \(name)", "no white space")
        }
        return AttributeList.Value(text: String(text), isQuoted: false)
    }

    private func curlyQuote(_ scalar: Unicode.Scalar, _ name: String) -> PlaylistProblem {
        problem(
            .curlyQuotes, "\(tag) has the typographic quotation mark \(CharacterText.name(scalar)) around \(name)",
            "straight ones (U+0022)")
    }

    private func problem(_ kind: PlaylistProblem.Kind, _ found: String, _ expected: String) -> PlaylistProblem {
        PlaylistProblem(line: line, kind: kind, found: found, expected: expected)
    }
}

/// Numbers in the notation of playlists.
///
/// - Source: RFC 8216, section 4.2.
enum DecimalText {
    /// Parses a decimal-integer: 1 to 20 digits, below 2⁶⁴.
    static func integer(_ text: some StringProtocol) -> UInt64? {
        let digits = text.utf8
        guard 1...20 ~= digits.count, digits.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return UInt64(text)
    }

    /// Parses a decimal-floating-point or a decimal-integer, finite and without a sign.
    static func number(_ text: some StringProtocol) -> Double? {
        let characters = text.utf8
        // `Double` accepts more: exponents, hexadecimal digits, infinity.
        guard 1...64 ~= characters.count, characters.allSatisfy({ 0x30...0x39 ~= $0 || $0 == 0x2E }),
            let first = characters.first, 0x30...0x39 ~= first, characters.filter({ $0 == 0x2E }).count <= 1
        else { return nil }
        return Double(String(text))
    }

    /// Parses a byte range's length and its optional offset: `n[@o]`. Source: RFC 8216, section 4.3.2.2.
    static func byteRange(_ text: some StringProtocol) -> (byteCount: UInt64, offset: UInt64?)? {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let byteCount = integer(first) else { return nil }
        guard parts.count == 2 else { return (byteCount, nil) }
        guard let offset = integer(parts[1]), !offset.addingReportingOverflow(byteCount).overflow else { return nil }
        return (byteCount, offset)
    }

    /// Returns the first 40 characters of a value for a message; anything but printable ASCII is replaced by its name.
    static func excerpt(_ text: some StringProtocol) -> String {
        let plain = text.unicodeScalars.prefix(40).map { 0x20..<0x7F ~= $0.value ? String($0) : CharacterText.name($0) }
        return "\"" + plain.joined() + (text.unicodeScalars.count > 40 ? "…" : "") + "\""
    }
}
