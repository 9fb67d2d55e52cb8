import Support

/// A value in a JSON file that knows where it stands, so that what is wrong with it can be said exactly.
struct JSONCursor {
    let value: JSONValue
    let file: String
    let pointer: String

    func error(_ reason: String) -> VectorFileError {
        VectorFileError(kind: .malformed, file: file, pointer: pointer, reason: reason)
    }

    func unexpected(_ expected: String) -> VectorFileError {
        error("\(shown): expected \(expected)")
    }

    /// A member of an object.
    func member(_ name: String) throws(VectorFileError) -> JSONCursor {
        guard let place = try optionalMember(name) else { throw error("member \"\(name)\" is missing") }
        return place
    }

    func optionalMember(_ name: String) throws(VectorFileError) -> JSONCursor? {
        guard case .object(let members) = value else { throw unexpected("an object") }
        guard let member = members[name] else { return nil }
        let escaped = name.split(separator: "~", omittingEmptySubsequences: false).joined(separator: "~0")
            .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "~1")
        return JSONCursor(value: member, file: file, pointer: "\(pointer)/\(escaped)")
    }

    /// The elements of an array that must have one at least.
    func elements() throws(VectorFileError) -> [JSONCursor] {
        guard case .array(let values) = value else { throw unexpected("an array") }
        guard !values.isEmpty else { throw unexpected("at least one element") }
        return values.enumerated().map { JSONCursor(value: $1, file: file, pointer: "\(pointer)/\($0)") }
    }

    func string() throws(VectorFileError) -> String {
        guard case .string(let text) = value else { throw unexpected("a string") }
        return text
    }

    func integer<Value: FixedWidthInteger>(_ type: Value.Type) throws(VectorFileError) -> Value {
        guard case .integer(let number) = value, number < 1 << 53, let result = Value(exactly: number) else {
            throw unexpected("an integer from 0 to 2^53 - 1")
        }
        return result
    }

    /// An integer that lies in a range.
    func integer(in range: ClosedRange<Int>) throws(VectorFileError) -> Int {
        let number = try integer(Int.self)
        guard range.contains(number) else {
            throw unexpected("an integer from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Checks that a count is what was counted.
    func expect(_ name: String, _ count: Int) throws(VectorFileError) {
        let place = try member(name)
        guard try place.integer(Int.self) == count else { throw place.unexpected("\(count), which were counted") }
    }

    /// An object's members: their names and values, each at its own place, in the order of their names.
    func members() throws(VectorFileError) -> [(name: JSONCursor, value: JSONCursor)] {
        guard case .object(let members) = value else { throw unexpected("an object") }
        var places: [(JSONCursor, JSONCursor)] = []
        for name in members.keys.sorted() {
            let place = try member(name)
            places.append((JSONCursor(value: .string(name), file: file, pointer: place.pointer), place))
        }
        return places
    }

    /// Checks that an object has no members but these.
    func allow(_ names: Set<String>) throws(VectorFileError) {
        guard case .object(let members) = value else { throw unexpected("an object") }
        if let name = members.keys.sorted().first(where: { !names.contains($0) }) {
            throw error("member \"\(name)\" is unknown: expected one of \(names.sorted().joined(separator: ", "))")
        }
    }

    /// Bytes, as lower-case hex of even length.
    func bytes() throws(VectorFileError) -> [UInt8] {
        let text = try string()
        guard let bytes = Hexadecimal.decode(text) else {
            throw error("\(text.utf8.count) characters: expected lower-case hex digits, an even number of them")
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

    /// The value as an error message shows it; long ones are cut.
    private var shown: String {
        switch value {
        case .object: "an object"
        case .array(let values): "an array of \(values.count)"
        case .string(let text): text.count <= 40 ? "\"\(text)\"" : "\"\(text.prefix(40))…\""
        case .integer, .number, .bool, .null: value.text
        }
    }
}
