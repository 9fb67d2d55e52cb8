internal import Support
import Yams

/// A YAML mapping with typed access to its values. Errors name the line.
struct PlanMapping {
    private let node: Node
    private let file: String

    /// - Returns: `nil` if the node is not a mapping.
    init?(_ node: Node, file: String) {
        guard node.mapping != nil else { return nil }
        self.node = node
        self.file = file
    }

    /// The first line of the mapping.
    var line: Int? { node.mark?.line }

    /// The line of a key's value; `nil` if the key is missing.
    func line(of key: String) -> Int? { node[key]?.mark?.line }

    /// An error at a key of the mapping.
    func error(_ key: String, _ message: String) -> PlanError {
        PlanError(file: file, line: node[key]?.mark?.line ?? line, message: message)
    }

    /// Refuses all other keys.
    func allow(_ keys: [String]) throws(PlanError) {
        for (key, _) in node.mapping ?? [:] where !keys.contains(key.string ?? "") {
            throw PlanError(
                file: file, line: key.mark?.line,
                message: "unknown key \"\(key.string ?? "?")\": expected one of \(keys.joined(separator: ", "))")
        }
    }

    /// Refuses some keys.
    ///
    /// - Parameters:
    ///   - keys: The keys.
    ///   - reason: The reason, as words after the key's name.
    /// - Throws: `PlanError` at the first of the keys that the mapping has.
    func refuse(_ keys: [String], _ reason: String) throws(PlanError) {
        guard let key = keys.first(where: { node[$0] != nil }) else { return }
        throw error(key, "\(key) \(reason): expected none")
    }

    /// The texts under a key: a list of them, or a single one.
    func texts(_ key: String) throws(PlanError) -> [String]? {
        guard let value = node[key] else { return nil }
        let items = value.sequence.map(Array.init) ?? [value]
        var texts: [String] = []
        for item in items {
            guard let text = item.scalar?.string, !text.isEmpty else {
                throw PlanError(
                    file: file, line: item.mark?.line ?? value.mark?.line,
                    message: "\(key): expected a text or a list of texts")
            }
            texts.append(text)
        }
        guard !texts.isEmpty else { throw error(key, "\(key): the list is empty") }
        return texts
    }

    /// The mapping under a key; `nil` if the key is missing.
    func mapping(_ key: String) throws(PlanError) -> PlanMapping? {
        guard let value = node[key] else { return nil }
        guard let mapping = PlanMapping(value, file: file) else { throw error(key, "\(key): expected a mapping") }
        return mapping
    }

    /// The mapping's keys in their order. YAML does not allow a key twice.
    var keys: [String] { (node.mapping ?? [:]).map { $0.key.string ?? "" } }

    /// The single text under a key.
    func text(_ key: String) throws(PlanError) -> String? {
        guard let texts = try texts(key) else { return nil }
        guard texts.count == 1 else { throw error(key, "\(key): expected a single value, found \(texts.count)") }
        return texts[0]
    }

    /// The mappings in the list under a key.
    func mappings(_ key: String) throws(PlanError) -> [PlanMapping]? {
        guard let value = node[key] else { return nil }
        guard let items = value.sequence else { throw error(key, "\(key): expected a list") }
        var mappings: [PlanMapping] = []
        for item in items {
            guard let mapping = PlanMapping(item, file: file) else {
                throw PlanError(file: file, line: item.mark?.line, message: "\(key): expected a list of mappings")
            }
            mappings.append(mapping)
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
