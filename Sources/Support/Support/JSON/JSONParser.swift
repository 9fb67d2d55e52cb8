/// Parses an untrusted JSON text: strictly, with the line of each error, and within limits.
///
/// Foundation's parser reports no line on Linux, and accepts trailing commas. A subject that is measured links neither
/// Foundation nor its tables.
///
/// - Source: RFC 8259.
package struct JSONParser {
    /// An error in a text.
    package struct Mismatch: Error, Hashable, Sendable {
        /// The line, counted from 1.
        package let line: Int
        /// The expectation at that line.
        package let expected: String
    }

    /// The max nesting, small enough for a thread with a small stack.
    private static let maxDepth = 64
    /// The max number of values of a text, most of which are numbers in lists: 24 bytes each.
    package static let maxValues = 1 << 23
    /// The max number of lists, objects, texts and members of a text, each of which allocates memory.
    package static let maxParts = 1 << 20

    private let text: [UInt8]
    private var position = 0
    private var (valueCount, partCount) = (0, 0)

    private let maxValues: Int
    private let maxParts: Int

    private init(_ text: [UInt8], maxValues: Int, maxParts: Int) {
        self.text = text
        self.maxValues = maxValues
        self.maxParts = maxParts
    }

    /// Parses a text in UTF-8 that is one JSON value. Of members with the same name, the last one counts.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - maxValues: The max number of values, nested ones included.
    ///   - maxParts: The max number of lists, objects, texts and members.
    /// - Returns: The value.
    /// - Throws: The first error in the text.
    package static func parse(
        _ text: [UInt8], maxValues: Int = JSONParser.maxValues, maxParts: Int = JSONParser.maxParts
    ) throws(Mismatch) -> JSONValue {
        var parser = JSONParser(text, maxValues: maxValues, maxParts: maxParts)
        let value = try parser.value(depth: 0)
        parser.skipSpace()
        guard parser.position == text.count else { throw parser.mismatch("nothing more") }
        return value
    }

    private var next: UInt8? { position < text.count ? text[position] : nil }

    private func mismatch(_ expected: String) -> Mismatch {
        Mismatch(line: 1 + text[..<position].count { $0 == UInt8(ascii: "\n") }, expected: expected)
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    /// Counts a list, an object, a text or a member.
    private mutating func countPart() throws(Mismatch) {
        partCount += 1
        guard partCount <= maxParts else {
            throw mismatch("at most \(maxParts) lists, objects, texts and members")
        }
    }

    private mutating func value(depth: Int) throws(Mismatch) -> JSONValue {
        skipSpace()
        valueCount += 1
        guard valueCount <= maxValues else { throw mismatch("at most \(maxValues) values") }
        switch next {
        case UInt8(ascii: "{"): return .object(try members(depth: depth + 1))
        case UInt8(ascii: "["): return .array(try elements(depth: depth + 1))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func members(depth: Int) throws(Mismatch) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        try list(closing: UInt8(ascii: "}"), "a comma or }", depth: depth) { parser throws(Mismatch) in
            guard parser.next == UInt8(ascii: "\"") else { throw parser.mismatch("a member's name in quotes") }
            let name = try parser.string()
            parser.skipSpace()
            guard parser.take(UInt8(ascii: ":")) else { throw parser.mismatch("a colon") }
            members[name] = try parser.value(depth: depth)
        }
        return members
    }

    private mutating func elements(depth: Int) throws(Mismatch) -> [JSONValue] {
        var elements: [JSONValue] = []
        try list(closing: UInt8(ascii: "]"), "a comma or ]", depth: depth) { parser throws(Mismatch) in
            elements.append(try parser.value(depth: depth))
        }
        return elements
    }

    private mutating func list(
        closing: UInt8, _ expected: String, depth: Int, element: (inout JSONParser) throws(Mismatch) -> Void
    ) throws(Mismatch) {
        guard depth <= Self.maxDepth else { throw mismatch("at most \(Self.maxDepth) levels") }
        try countPart()
        position += 1
        skipSpace()
        if take(closing) { return }
        repeat {
            skipSpace()
            try element(&self)
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(closing) else { throw mismatch(expected) }
    }

    private mutating func word(_ word: String, _ value: JSONValue) throws(Mismatch) -> JSONValue {
        guard text[position...].starts(with: word.utf8) else { throw mismatch(word) }
        position += word.utf8.count
        return value
    }

    /// Parses a string with its quotes.
    private mutating func string() throws(Mismatch) -> String {
        try countPart()
        position += 1
        var string = ""
        var start = position
        while let byte = next, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw mismatch("no control character in a text") }
            guard byte == UInt8(ascii: "\\") else {
                position += 1
                continue
            }
            string += try plain(from: start)
            position += 1
            string.unicodeScalars.append(try escaped())
            start = position
        }
        string += try plain(from: start)
        guard take(UInt8(ascii: "\"")) else { throw mismatch("a closing quote") }
        return string
    }

    private func plain(from start: Int) throws(Mismatch) -> String {
        guard let string = String(validating: text[start..<position], as: UTF8.self) else { throw mismatch("UTF-8") }
        return string
    }

    /// Parses the text behind a backslash.
    private mutating func escaped() throws(Mismatch) -> Unicode.Scalar {
        let byte = next
        position = min(position + 1, text.count)
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte ?? 0)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            var codeUnits = [try fourDigits()]
            if UTF16.isLeadSurrogate(codeUnits[0]), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) {
                codeUnits.append(try fourDigits())
            }
            guard let scalar = String(validating: codeUnits, as: UTF16.self)?.unicodeScalars.first else {
                throw mismatch("a character, or two surrogates")
            }
            return scalar
        default: throw mismatch("an escape sequence")
        }
    }

    private mutating func fourDigits() throws(Mismatch) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = next.flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else {
                throw mismatch("four hexadecimal digits")
            }
            value = value << 4 | UInt16(digit)
            position += 1
        }
        return value
    }

    /// Parses a number; the result is an integer if it is whole, not negative, and fits 64 bits.
    private mutating func number() throws(Mismatch) -> JSONValue {
        let start = position
        let isNegative = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits("a value") }
        var isWhole = !isNegative
        if take(UInt8(ascii: ".")) {
            isWhole = false
            try digits("digits")
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isWhole = false
            _ = take(UInt8(ascii: "+")) || take(UInt8(ascii: "-"))
            try digits("digits")
        }
        let digits = String(decoding: text[start..<position], as: UTF8.self)
        if isWhole, let integer = UInt64(digits) { return .integer(integer) }
        guard let number = Double(digits), number.isFinite else { throw mismatch("a number below 1.8e308") }
        return UInt64(exactly: number).map(JSONValue.integer) ?? .number(number)
    }

    private mutating func digits(_ expected: String) throws(Mismatch) {
        let start = position
        while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
        guard position > start else { throw mismatch(expected) }
    }
}
