/// The attributes of a tag.
///
/// - Source: RFC 8216, section 4.2.
struct AttributeList {
    /// An attribute's value.
    struct Value {
        /// What it says, without quotation marks.
        let text: String
        /// Whether it was in quotation marks.
        let isQuoted: Bool
    }

    /// The tag's name, for messages.
    let tag: String
    /// The line, for messages.
    let line: Int

    private(set) var names: [String] = []
    private var values: [String: Value] = [:]

    /// Reads what follows a tag's colon.
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

    /// The value of an attribute as it was written, if it is there.
    func value(_ name: String) -> Value? { values[name] }

    /// All values by name, without quotation marks.
    var texts: [String: String] { values.mapValues(\.text) }

    /// The value of an attribute that must be a quoted string, if it is there.
    ///
    /// - Throws: `PlaylistProblem` for a value without quotation marks.
    func quoted(_ name: String) throws(PlaylistProblem) -> String? {
        guard let value = values[name] else { return nil }
        guard value.isQuoted else {
            throw problem(.unquoted, "\(tag) has \(name) without quotation marks", "\(name)=\"…\"")
        }
        return value.text
    }

    /// The value of an attribute that must not be quoted, if it is there.
    ///
    /// - Throws: `PlaylistProblem` for a quoted value.
    func plain(_ name: String) throws(PlaylistProblem) -> String? {
        guard let value = values[name] else { return nil }
        guard !value.isQuoted else {
            throw problem(.quoted, "\(tag) has \(name) in quotation marks", "\(name) without them")
        }
        return value.text
    }

    /// A value that must be there.
    ///
    /// - Throws: `PlaylistProblem` if it is not.
    func required(_ name: String, _ value: String?) throws(PlaylistProblem) -> String {
        guard let value else { throw problem(.missingAttribute, "\(tag) has no \(name)", "\(name)=…") }
        return value
    }

    /// A problem on the tag's line.
    func problem(_ kind: PlaylistProblem.Kind, _ found: String, _ expected: String) -> PlaylistProblem {
        PlaylistProblem(line: line, kind: kind, found: found, expected: expected)
    }
}

/// Takes an attribute list apart. Values never become part of a message: some are secret.
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

    /// The next attribute, or `nil` after the last one.
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
                // A straight mark that opens, a typographic one that should close, and the next straight one.
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

/// Numbers as playlists write them.
///
/// - Source: RFC 8216, section 4.2.
enum DecimalText {
    /// A decimal-integer: 1 to 20 digits, below 2⁶⁴.
    static func integer(_ text: some StringProtocol) -> UInt64? {
        let digits = text.utf8
        guard 1...20 ~= digits.count, digits.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return UInt64(text)
    }

    /// A decimal-floating-point or a decimal-integer, finite and without a sign.
    static func number(_ text: some StringProtocol) -> Double? {
        let characters = text.utf8
        // `Double` reads more than that: exponents, hexadecimal digits, infinity.
        guard 1...64 ~= characters.count, characters.allSatisfy({ 0x30...0x39 ~= $0 || $0 == 0x2E }),
            let first = characters.first, 0x30...0x39 ~= first, characters.filter({ $0 == 0x2E }).count <= 1
        else { return nil }
        return Double(String(text))
    }

    /// A byte range's length and, where it is given, its offset: `n[@o]`. Source: RFC 8216, section 4.3.2.2.
    static func byteRange(_ text: some StringProtocol) -> (byteCount: UInt64, offset: UInt64?)? {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let byteCount = integer(first) else { return nil }
        guard parts.count == 2 else { return (byteCount, nil) }
        guard let offset = integer(parts[1]), !offset.addingReportingOverflow(byteCount).overflow else { return nil }
        return (byteCount, offset)
    }

    /// A value as a message shows it: digits and a few signs as they are, and not more than 40 of them.
    static func excerpt(_ text: some StringProtocol) -> String {
        let plain = text.unicodeScalars.prefix(40).map { 0x20..<0x7F ~= $0.value ? String($0) : CharacterText.name($0) }
        return "\"" + plain.joined() + (text.unicodeScalars.count > 40 ? "…" : "") + "\""
    }
}
