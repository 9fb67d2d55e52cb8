/// Finds where a text stops being JSON, which Foundation's parser does not say on Linux; it also lets trailing commas pass.
///
/// - Source: RFC 8259, sections 2 to 7.
package struct JSONSyntax {
    /// What is wrong with a text.
    package struct Complaint: Error, Hashable, Sendable {
        /// The line, counted from 1.
        package let line: Int
        /// What was expected there.
        package let expected: String
    }

    private static let deepestNesting = 500

    private let text: [UInt8]
    private var position = 0

    private init(_ text: [UInt8]) {
        self.text = text
    }

    /// Looks through a text in UTF-8.
    ///
    /// - Returns: The first thing that is wrong with it, or `nil` if it is one JSON value.
    package static func mismatch(in text: [UInt8]) -> Complaint? {
        var scanner = JSONSyntax(text)
        do throws(Complaint) {
            try scanner.value(depth: 0)
            scanner.skipSpace()
            return scanner.position == text.count ? nil : scanner.mismatch("nothing more")
        } catch {
            return error
        }
    }

    private var next: UInt8? { position < text.count ? text[position] : nil }

    private func mismatch(_ expected: String) -> Complaint {
        Complaint(line: 1 + text[..<position].count { $0 == UInt8(ascii: "\n") }, expected: expected)
    }

    private mutating func skipSpace() {
        while let byte = next, [0x20, 0x09, 0x0a, 0x0d].contains(byte) { position += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(Complaint) {
        guard depth < Self.deepestNesting else { throw mismatch("at most \(Self.deepestNesting) levels") }
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): try list(closing: UInt8(ascii: "}"), depth: depth, isObject: true)
        case UInt8(ascii: "["): try list(closing: UInt8(ascii: "]"), depth: depth, isObject: false)
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        default: try number()
        }
    }

    private mutating func list(closing: UInt8, depth: Int, isObject: Bool) throws(Complaint) {
        position += 1
        skipSpace()
        if take(closing) { return }
        repeat {
            if isObject {
                skipSpace()
                guard next == UInt8(ascii: "\"") else { throw mismatch("a member's name in quotes") }
                try string()
                skipSpace()
                guard take(UInt8(ascii: ":")) else { throw mismatch("a colon") }
            }
            try value(depth: depth + 1)
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(closing) else { throw mismatch(isObject ? "a comma or }" : "a comma or ]") }
    }

    private mutating func string() throws(Complaint) {
        position += 1
        while let byte = next, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw mismatch("no control character in a text") }
            // What follows a backslash is Foundation's to judge; a quote there ends nothing.
            position = min(position + (byte == UInt8(ascii: "\\") ? 2 : 1), text.count)
        }
        guard take(UInt8(ascii: "\"")) else { throw mismatch("a closing quote") }
    }

    private mutating func word(_ word: String) throws(Complaint) {
        guard text[position...].starts(with: word.utf8) else { throw mismatch(word) }
        position += word.utf8.count
    }

    private mutating func number() throws(Complaint) {
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits("a value") }
        if take(UInt8(ascii: ".")) { try digits("digits") }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            _ = take(UInt8(ascii: "+")) || take(UInt8(ascii: "-"))
            try digits("digits")
        }
    }

    private mutating func digits(_ expected: String) throws(Complaint) {
        let start = position
        while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
        guard position > start else { throw mismatch(expected) }
    }
}
