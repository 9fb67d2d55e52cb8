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
