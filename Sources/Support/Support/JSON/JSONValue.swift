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

extension JSONValue {
    /// The member of an object, or `nil`.
    package subscript(_ member: String) -> JSONValue? {
        if case .object(let members) = self { members[member] } else { nil }
    }

    /// The value as a string, or `nil`.
    package var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The value as a whole number, or `nil`.
    package var integer: UInt64? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// The largest whole number in it, however deep; `nil` without any.
    package var maxInteger: UInt64? {
        switch self {
        case .integer(let value): value
        case .array(let values): values.lazy.compactMap(\.maxInteger).max()
        case .object(let members): members.values.lazy.compactMap(\.maxInteger).max()
        case .null, .bool, .number, .string: nil
        }
    }

    /// The value as a list, or `nil`.
    package var array: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The value as a truth value, or `nil`.
    package var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a string.
    package init(stringLiteral value: String) { self = .string(value) }
    /// Creates a number.
    package init(integerLiteral value: UInt64) { self = .integer(value) }
    /// Creates a truth value.
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates a list.
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Creates an object; of members with the same name the last one counts.
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements, uniquingKeysWith: { $1 }))
    }
}

extension JSONValue {
    /// Reads JSON; see ``JSONParser``, which says what is wrong with a text.
    ///
    /// - Parameter text: UTF-8, such as a line without its end, or a whole file.
    /// - Returns: The value, or `nil` if the text is not JSON.
    package static func parse(_ text: [UInt8]) -> JSONValue? {
        try? JSONParser.parse(text)
    }
}
