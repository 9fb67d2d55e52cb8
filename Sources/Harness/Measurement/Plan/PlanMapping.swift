import RandomAccess
internal import Support

/// A YAML mapping with typed access to its values. Errors name the line.
struct PlanMapping {
    private let members: [(name: String, place: DescriptionPlace, value: YAMLNode)]
    private let file: String
    /// The first line of the mapping.
    let line: Int

    /// - Parameters:
    ///   - node: The mapping.
    ///   - file: The plan's name in errors.
    ///   - expected: The expectation, as words, if the node is not a mapping.
    /// - Throws: `PlanError` for another node, and for a key that occurs twice.
    init(_ node: YAMLNode, file: String, expected: String = "a mapping") throws(PlanError) {
        do throws(DescriptionError) {
            members = try node.members(expected)
        } catch {
            throw PlanError(file: file, error)
        }
        (self.file, line) = (file, node.place.line)
    }

    private subscript(_ key: String) -> YAMLNode? { members.first { $0.name == key }?.value }

    /// The line of a key's value; `nil` if the key is missing.
    func line(of key: String) -> Int? { self[key]?.place.line }

    /// An error at a key of the mapping.
    func error(_ key: String, _ message: String) -> PlanError {
        PlanError(file: file, line: line(of: key) ?? line, message: message)
    }

    /// Refuses all other keys.
    func allow(_ keys: [String]) throws(PlanError) {
        for (key, place, _) in members where !keys.contains(key) {
            throw PlanError(
                file: file, line: place.line,
                message: "unknown key \"\(key)\": expected one of \(keys.joined(separator: ", "))")
        }
    }

    /// Refuses some keys.
    ///
    /// - Parameters:
    ///   - keys: The keys.
    ///   - reason: The reason, as words after the key's name.
    /// - Throws: `PlanError` at the first of the keys that the mapping has.
    func refuse(_ keys: [String], _ reason: String) throws(PlanError) {
        guard let key = keys.first(where: { self[$0] != nil }) else { return }
        throw error(key, "\(key) \(reason): expected none")
    }

    /// The texts under a key: a list of them, or a single one.
    func texts(_ key: String) throws(PlanError) -> [String]? {
        guard let value = self[key] else { return nil }
        var items = [value]
        if case .sequence(let elements) = value.content { items = elements }
        var texts: [String] = []
        for item in items {
            guard case .scalar(let text, _) = item.content, !text.isEmpty else {
                throw PlanError(
                    file: file, line: item.place.line, message: "\(key): expected a text or a list of texts")
            }
            texts.append(text)
        }
        guard !texts.isEmpty else { throw error(key, "\(key): the list is empty") }
        return texts
    }

    /// The mapping under a key; `nil` if the key is missing.
    func mapping(_ key: String) throws(PlanError) -> PlanMapping? {
        guard let value = self[key] else { return nil }
        return try PlanMapping(value, file: file, expected: "a mapping under \(key)")
    }

    /// The mapping's keys in their order.
    var keys: [String] { members.map(\.name) }

    /// The single text under a key.
    func text(_ key: String) throws(PlanError) -> String? {
        guard let texts = try texts(key) else { return nil }
        guard texts.count == 1 else { throw error(key, "\(key): expected a single value, found \(texts.count)") }
        return texts[0]
    }

    /// The mappings in the list under a key.
    func mappings(_ key: String) throws(PlanError) -> [PlanMapping]? {
        guard let value = self[key] else { return nil }
        guard case .sequence(let items) = value.content else { throw error(key, "\(key): expected a list") }
        var mappings: [PlanMapping] = []
        for item in items {
            mappings.append(try PlanMapping(item, file: file, expected: "mappings in the list \(key)"))
        }
        return mappings
    }

    /// The integer under a key.
    func integer(_ key: String, default fallback: Int, _ range: ClosedRange<Int>) throws(PlanError) -> Int {
        guard let text = try text(key) else { return fallback }
        return try integer(text, key: key, range)
    }

    /// Parses a text under a key as an integer.
    func integer(_ text: String, key: String, _ range: ClosedRange<Int>) throws(PlanError) -> Int {
        guard let value = Int(text), range.contains(value) else {
            throw error(key, "\(key) \(text): expected a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    /// The size under a key, in bytes.
    func size(_ key: String, default fallback: UInt64, minimum: UInt64) throws(PlanError) -> UInt64 {
        guard let text = try text(key) else { return fallback }
        return try size(text, key: key, minimum: minimum)
    }

    /// Parses a text under a key as a size in bytes.
    func size(_ text: String, key: String, minimum: UInt64) throws(PlanError) -> UInt64 {
        guard let size = ByteSize(text), size.byteCount >= minimum else {
            throw error(key, "\(key) \(text): expected a size such as 64KiB, 16MB or 100MiB, at least \(minimum) bytes")
        }
        return size.byteCount
    }

    /// The duration under a key, such as `150ms` or `2s`, in nanoseconds.
    func duration(_ key: String, default fallback: UInt64) throws(PlanError) -> UInt64 {
        guard let text = try text(key) else { return fallback }
        if let value = TimeText.nanoseconds(text), value > 0, value <= TimeText.Unit.days.nanoseconds { return value }
        throw error(key, "\(key) \(text): expected \(TimeText.expectation), at most a day")
    }
}
