/// A value in a JSON file that knows where it stands, so that what is wrong with it can be said exactly.
struct JSONPlace {
    let node: JSONNode
    let file: String
    let pointer: String

    func error(_ reason: String) -> VectorFileError {
        VectorFileError(kind: .malformed, file: file, pointer: pointer, reason: reason)
    }

    func unexpected(_ expected: String) -> VectorFileError {
        error("\(node.shown): expected \(expected)")
    }

    /// A member of an object.
    func member(_ name: String) throws(VectorFileError) -> JSONPlace {
        guard let place = try optionalMember(name) else { throw error("member \"\(name)\" is missing") }
        return place
    }

    func optionalMember(_ name: String) throws(VectorFileError) -> JSONPlace? {
        guard case .object(let members) = node else { throw unexpected("an object") }
        guard let value = members[name] else { return nil }
        let escaped = name.split(separator: "~", omittingEmptySubsequences: false).joined(separator: "~0")
            .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "~1")
        return JSONPlace(node: value, file: file, pointer: "\(pointer)/\(escaped)")
    }

    /// The elements of an array that must have one at least.
    func elements() throws(VectorFileError) -> [JSONPlace] {
        guard case .array(let values) = node else { throw unexpected("an array") }
        guard !values.isEmpty else { throw unexpected("at least one element") }
        return values.enumerated().map { JSONPlace(node: $1, file: file, pointer: "\(pointer)/\($0)") }
    }

    func string() throws(VectorFileError) -> String {
        guard case .string(let text) = node else { throw unexpected("a string") }
        return text
    }

    func integer<Value: FixedWidthInteger>(_ type: Value.Type) throws(VectorFileError) -> Value {
        guard case .integer(let value) = node, value >= 0, value < 1 << 53, let result = Value(exactly: value) else {
            throw unexpected("an integer from 0 to 2^53 - 1")
        }
        return result
    }

    /// Bytes, as lower-case hex of even length.
    func bytes() throws(VectorFileError) -> [UInt8] {
        let digits = Array(try string().utf8)
        guard digits.count % 2 == 0 else { throw error("\(digits.count) hex digits: expected an even number") }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = Self.value(digits[index]), let low = Self.value(digits[index + 1]) else {
                throw error("digits \(index) and \(index + 1) are no lower-case hex digits")
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// One of the values of an enumeration, by its raw value.
    func choice<Value: RawRepresentable & CaseIterable>(
        of type: Value.Type
    ) throws(VectorFileError) -> Value where Value.RawValue == String {
        guard let value = Value(rawValue: try string()) else {
            throw unexpected("one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return value
    }

    /// Turns an error of the types below into one that names this place.
    func check<Value>(_ make: () throws -> Value) throws(VectorFileError) -> Value {
        do {
            return try make()
        } catch {
            throw self.error("\(error)")
        }
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
