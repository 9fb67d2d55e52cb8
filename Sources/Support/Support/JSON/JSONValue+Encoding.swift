extension JSONValue {
    /// The members of encoded values that are `null` if a value lacks them; other members are then left out.
    package enum Nullable: ExpressibleByArrayLiteral {
        /// All members at any depth.
        case all
        /// Members of the value itself.
        case members(Set<String>)

        package init(arrayLiteral elements: String...) { self = .members(Set(elements)) }

        fileprivate func contains(_ name: String) -> Bool {
            if case .members(let names) = self { names.contains(name) } else { true }
        }

        /// The same for the values of members.
        fileprivate var inside: Nullable { if case .all = self { .all } else { [] } }
    }

    /// Returns the JSON that a value encodes to. A `Double` that is whole is an integer.
    ///
    /// - Throws: The errors of the value's `encode(to:)`; `EncodingError` for a number that is not finite.
    package static func encode(_ value: some Encodable, nullable: Nullable = []) throws -> JSONValue {
        let encoder = ValueEncoder(nullable: nullable, refusesInfinite: true)
        try encoder.encode(value)
        return encoder.json
    }

    /// The JSON that a value encodes to, with `null` for a number that is not finite; see ``encode(_:nullable:)``.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - nullable: The members that are `null` if the value lacks them.
    ///   - others: Members that the value does not encode, or encodes differently; see ``init(members:)``.
    package init(
        encoding value: some Encodable, nullable: Nullable = [], adding others: [String: any Encodable] = [:]
    ) {
        let encoder = ValueEncoder(nullable: nullable, refusesInfinite: false)
        try? encoder.encode(value)
        self = encoder.json
        guard !others.isEmpty, case .object(let own) = self, case .object(let more) = JSONValue(members: others) else {
            return
        }
        self = .object(own.merging(more) { $1 })
    }

    /// An object with the JSON of each value, which is `null` for `nil`. A `Double` keeps its fraction: `1.0`.
    package init(members: [String: any Encodable]) {
        self = .object(members.mapValues { ($0 as? Double).map(JSONValue.number) ?? JSONValue(encoding: $0) })
    }
}

extension JSONValue: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object(let members): try container.encode(members)
        }
    }
}

/// Encodes one value: a scalar, a list or an object.
private final class ValueEncoder: Encoder, SingleValueEncodingContainer {
    let nullable: JSONValue.Nullable
    /// True to throw for a number that is not finite; false to encode `null`.
    private let refusesInfinite: Bool
    var value = JSONValue.null
    var elements: [ValueEncoder]?
    var members: [String: ValueEncoder]?

    init(nullable: JSONValue.Nullable, refusesInfinite: Bool) {
        (self.nullable, self.refusesInfinite) = (nullable, refusesInfinite)
    }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    var json: JSONValue {
        if let members { return .object(members.mapValues(\.json)) }
        return elements.map { .array($0.map(\.json)) } ?? value
    }

    func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if members == nil { members = [:] }
        return KeyedEncodingContainer(MemberEncoder(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if elements == nil { elements = [] }
        return ElementEncoder(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() {}

    func encode<T: Encodable>(_ value: T) throws {
        switch value {
        case let value as JSONValue: self.value = value
        case let value as String: self.value = .string(value)
        case let value as Bool: self.value = .bool(value)
        // Without a container, since there may be millions of samples.
        case let values as [UInt64]: self.value = .array(values.map(JSONValue.integer))
        case let value as any BinaryInteger:
            self.value = UInt64(exactly: value).map(JSONValue.integer) ?? .number(Double(value))
        case let value as any BinaryFloatingPoint: self.value = try number(Double(value))
        default: try value.encode(to: self)
        }
    }

    /// Whole numbers have a text without an exponent up to 2⁵³. −0 is no integer.
    private func number(_ value: Double) throws -> JSONValue {
        guard value.isFinite else {
            guard refusesInfinite else { return .null }
            throw EncodingError.invalidValue(value, .init(codingPath: [], debugDescription: "expected a finite number"))
        }
        let isWhole = value.sign == .plus && value <= 0x1p53 && value.rounded() == value
        return isWhole ? .integer(UInt64(value)) : .number(value)
    }

    func element() -> ValueEncoder {
        let encoder = ValueEncoder(nullable: nullable.inside, refusesInfinite: refusesInfinite)
        elements?.append(encoder)
        return encoder
    }

    func member(_ name: String) -> ValueEncoder {
        let encoder = ValueEncoder(nullable: nullable.inside, refusesInfinite: refusesInfinite)
        members?[name] = encoder
        return encoder
    }
}

private struct ElementEncoder: UnkeyedEncodingContainer {
    let encoder: ValueEncoder

    var codingPath: [any CodingKey] { [] }
    var count: Int { encoder.elements?.count ?? 0 }

    func encodeNil() { _ = encoder.element() }
    func encode<T: Encodable>(_ value: T) throws { try encoder.element().encode(value) }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.element().unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder.element() }

    func nestedContainer<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        encoder.element().container(keyedBy: type)
    }
}

private struct MemberEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: ValueEncoder

    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { _ = encoder.member(key.stringValue) }
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try encoder.member(key.stringValue).encode(value) }
    func superEncoder() -> any Encoder { encoder.member("super") }
    func superEncoder(forKey key: Key) -> any Encoder { encoder.member(key.stringValue) }

    func nestedContainer<Inner>(keyedBy type: Inner.Type, forKey key: Key) -> KeyedEncodingContainer<Inner> {
        encoder.member(key.stringValue).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.member(key.stringValue).unkeyedContainer()
    }

    private func put<T: Encodable>(_ value: T?, _ key: Key) throws {
        if let value {
            try encode(value, forKey: key)
        } else if encoder.nullable.contains(key.stringValue) {
            encodeNil(forKey: key)
        }
    }

    func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws { try put(value, key) }
    // Without these, the protocol's own are called, which leave `nil` out.
    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try put(value, key) }
}
