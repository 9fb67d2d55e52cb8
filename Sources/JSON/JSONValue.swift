/// A JSON value whose text depends on nothing but the value: members in the order of their names, no locale, no library
/// version.
///
/// An absent figure is `.null` and is written as `null`; members are never left out.
package enum JSONValue: Hashable, Sendable {
    /// The literal `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// An integer of at least 0.
    case integer(UInt64)
    /// A number; one that is not finite is written as `null`.
    case number(Double)
    /// A text.
    case string(String)
    /// A list.
    case array([JSONValue])
    /// Named members.
    case object([String: JSONValue])

    /// The value as indented text; lists of numbers stand on one line. Ends without a line break.
    package var text: String {
        var text = ""
        write(to: &text, indent: "")
        return text
    }

    private func write(to text: inout String, indent: String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .number(let value): text += value.isFinite ? "\(value)" : "null"
        case .string(let value): text += Self.quoted(value)
        case .array(let values) where values.allSatisfy(\.isNumber):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += ", " }
                value.write(to: &text, indent: indent)
            }
            text += "]"
        case .array(let values):
            Self.write(values.map { ("", $0) }, between: ("[", "]"), to: &text, indent: indent)
        case .object(let members):
            // Keys are ASCII names of this program, which order the same way everywhere.
            let sorted = members.sorted { $0.key < $1.key }.map { (Self.quoted($0.key) + ": ", $0.value) }
            Self.write(sorted, between: ("{", "}"), to: &text, indent: indent)
        }
    }

    private static func write(
        _ items: [(prefix: String, value: JSONValue)], between brackets: (String, String), to text: inout String,
        indent: String
    ) {
        text += brackets.0
        for (index, item) in items.enumerated() {
            text += (index > 0 ? "," : "") + "\n\(indent)  " + item.prefix
            item.value.write(to: &text, indent: indent + "  ")
        }
        text += (items.isEmpty ? "" : "\n\(indent)") + brackets.1
    }

    private var isNumber: Bool {
        switch self {
        case .integer, .number: true
        default: false
        }
    }

    /// Returns a JSON string with its quotes.
    ///
    /// - Source: RFC 8259 §7.
    private static func quoted(_ string: String) -> String {
        var quoted = "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case _ where scalar.value < 0x20:
                let hex = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}

extension JSONValue {
    /// Creates a string, or `null`.
    package init(_ string: String?) {
        self = string.map(JSONValue.string) ?? .null
    }

    /// Creates an integer, or `null`.
    package init(_ integer: UInt64?) {
        self = integer.map(JSONValue.integer) ?? .null
    }

    /// Creates an integer from a count, which is never below 0.
    package init(count: Int) {
        self = .integer(UInt64(max(count, 0)))
    }

    /// Creates a list of strings.
    package init(strings: [String]) {
        self = .array(strings.map(JSONValue.string))
    }
}
