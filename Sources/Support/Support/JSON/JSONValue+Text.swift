extension JSONValue {
    /// The value as one line of JSON with its members in order, including the line break.
    package var line: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes, indent: nil)
        return bytes + [Self.lineBreak]
    }

    /// The value as indented text, with lists of numbers on one line and without a final line break.
    package var text: String {
        var bytes: [UInt8] = []
        append(to: &bytes, indent: 0)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The value as an element of a list that is a member of an object, in the form of ``text``.
    package var elementText: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes, indent: 4)
        return bytes
    }

    /// Writes an object with a long list as one member, whose elements are made a few at a time. The text is that of
    /// ``text``.
    ///
    /// - Parameters:
    ///   - members: The other members.
    ///   - list: The name of the list.
    ///   - count: The number of its elements.
    ///   - atOnce: The number of elements whose texts are in memory at once.
    ///   - elements: Returns some of the elements, each as its ``elementText``.
    ///   - part: Receives the text, part by part.
    /// - Throws: The errors of `part`.
    package static func write(
        _ members: [String: JSONValue], list: String, count: Int, atOnce: Int, elements: (Range<Int>) -> [[UInt8]],
        to part: ([UInt8]) throws -> Void
    ) throws {
        var bytes = Array("{".utf8)
        let names = (Array(members.keys) + [list]).sorted()
        for (index, name) in names.enumerated() {
            bytes += index > 0 ? [comma, lineBreak] : [lineBreak]
            appendSpace(2, to: &bytes)
            appendQuoted(name, to: &bytes)
            bytes += [UInt8(ascii: ":"), space]
            if name != list {
                (members[name] ?? .null).append(to: &bytes, indent: 2)
                continue
            }
            bytes.append(UInt8(ascii: "["))
            for start in stride(from: 0, to: count, by: atOnce) {
                let range = start..<min(start + atOnce, count)
                for (index, element) in zip(range, elements(range)) {
                    bytes += index > 0 ? [comma, lineBreak] : [lineBreak]
                    appendSpace(4, to: &bytes)
                    try part(bytes)
                    try part(element)
                    bytes.removeAll(keepingCapacity: true)
                }
            }
            if count > 0 {
                bytes.append(lineBreak)
                appendSpace(2, to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        }
        bytes += Array("\n}\n".utf8)
        try part(bytes)
    }

    private static let comma = UInt8(ascii: ",")
    private static let space = UInt8(ascii: " ")
    private static let lineBreak = UInt8(ascii: "\n")

    /// Appends the value's text. Lines after the first are indented by at least that many spaces; if `indent` is `nil`,
    /// the text is one line without spaces.
    private func append(to bytes: inout [UInt8], indent: Int?) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): Self.append(value, to: &bytes)
        case .number(let value): bytes += (value.isFinite ? "\(value)" : "null").utf8
        case .string(let value): Self.appendQuoted(value, to: &bytes)
        case .array(let values) where values.allSatisfy(\.isNumber):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 {
                    bytes.append(Self.comma)
                    if indent != nil { bytes.append(Self.space) }
                }
                value.append(to: &bytes, indent: indent)
            }
            bytes.append(UInt8(ascii: "]"))
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                Self.beginLine(index, indent: indent, to: &bytes)
                value.append(to: &bytes, indent: indent.map { $0 + 2 })
            }
            Self.endLines(count: values.count, indent: indent, closing: UInt8(ascii: "]"), to: &bytes)
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            // Keys are ASCII names of this program, which sort equally everywhere.
            for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
                Self.beginLine(index, indent: indent, to: &bytes)
                Self.appendQuoted(member.key, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                if indent != nil { bytes.append(Self.space) }
                member.value.append(to: &bytes, indent: indent.map { $0 + 2 })
            }
            Self.endLines(count: members.count, indent: indent, closing: UInt8(ascii: "}"), to: &bytes)
        }
    }

    private var isNumber: Bool {
        switch self {
        case .integer, .number: true
        default: false
        }
    }

    private static func beginLine(_ index: Int, indent: Int?, to bytes: inout [UInt8]) {
        if index > 0 { bytes.append(comma) }
        guard let indent else { return }
        bytes.append(lineBreak)
        appendSpace(indent + 2, to: &bytes)
    }

    private static func endLines(count: Int, indent: Int?, closing: UInt8, to bytes: inout [UInt8]) {
        if count > 0, let indent {
            bytes.append(lineBreak)
            appendSpace(indent, to: &bytes)
        }
        bytes.append(closing)
    }

    private static func appendSpace(_ count: Int, to bytes: inout [UInt8]) {
        for _ in 0..<count { bytes.append(space) }
    }

    private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        let start = bytes.count
        var rest = number
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        bytes[start...].reverse()
    }

    /// Appends a JSON string with its quotes, and escapes terminal control characters.
    ///
    /// - Source: RFC 8259 §7.
    private static func appendQuoted(_ string: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        defer { bytes.append(UInt8(ascii: "\"")) }
        func isItself(_ byte: UInt8) -> Bool {
            (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
        }
        if string.utf8.allSatisfy(isItself) {
            bytes += string.utf8
            return
        }
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": bytes += "\\\"".utf8
            case "\\": bytes += "\\\\".utf8
            case "\n": bytes += "\\n".utf8
            case "\r": bytes += "\\r".utf8
            case "\t": bytes += "\\t".utf8
            case _ where PlainText.isControl(scalar):
                let hex = String(scalar.value, radix: 16)
                bytes += "\\u\(String(repeating: "0", count: 4 - hex.count))\(hex)".utf8
            case _ where scalar.isASCII: bytes.append(UInt8(ascii: scalar))
            default: bytes += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            }
        }
    }
}
