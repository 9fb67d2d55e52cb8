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
