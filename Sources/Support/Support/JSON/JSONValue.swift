/// A JSON value whose text depends only on the value, and not on a locale or a library's version. Members are in the
/// order of their names.
///
/// An absent figure is `.null`, which is written as `null`; members are never omitted.
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
}

extension JSONValue {
    /// A string, or `null`.
    package init(_ string: String?) {
        self = string.map(JSONValue.string) ?? .null
    }

    /// An integer, or `null`.
    package init(_ integer: UInt64?) {
        self = integer.map(JSONValue.integer) ?? .null
    }

    /// An integer from a count, which is never negative.
    package init(count: Int) {
        self = .integer(UInt64(max(count, 0)))
    }

    /// A list of strings.
    package init(strings: [String]) {
        self = .array(strings.map(JSONValue.string))
    }
}

extension JSONValue {
    /// Returns the member of an object; `nil` if there is none.
    package subscript(_ member: String) -> JSONValue? {
        if case .object(let members) = self { members[member] } else { nil }
    }

    /// The value as a string; `nil` for any other kind.
    package var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The value as a whole number; `nil` for any other kind.
    package var integer: UInt64? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// The largest whole number at any depth; `nil` if there is none.
    package var maxInteger: UInt64? {
        switch self {
        case .integer(let value): value
        case .array(let values): values.lazy.compactMap(\.maxInteger).max()
        case .object(let members): members.values.lazy.compactMap(\.maxInteger).max()
        case .null, .bool, .number, .string: nil
        }
    }

    /// The value as a list; `nil` for any other kind.
    package var array: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The value as a truth value; `nil` for any other kind.
    package var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: UInt64) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object; of members with the same name, the last one counts.
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements, uniquingKeysWith: { $1 }))
    }
}

extension JSONValue {
    /// Parses JSON; ``JSONParser`` also reports the error in a text.
    ///
    /// - Parameter text: UTF-8, such as a line without its end, or a whole file.
    /// - Returns: The value; `nil` if the text is not JSON.
    package static func parse(_ text: [UInt8]) -> JSONValue? {
        try? JSONParser.parse(text)
    }
}
