import Support

/// An object of a scenario or of the protocol. Errors about its members name their location.
struct ScenarioObject {
    /// The unit of times, which are whole numbers.
    enum Unit {
        case milliseconds
        case microseconds
    }

    private let members: [String: JSONValue]
    private let location: String
    private let unit: Unit

    /// - Parameters:
    ///   - json: The object.
    ///   - location: The object's name in errors.
    ///   - known: The permitted names of members; `nil` for any.
    ///   - unit: The unit of times.
    /// - Throws: `KeyScenarioError`.
    init(
        _ json: JSONValue?, _ location: String, members known: [String]? = nil, unit: Unit = .milliseconds
    ) throws(KeyScenarioError) {
        guard let json, case .object(let members) = json else {
            throw KeyScenarioError("\(location): expected a JSON object")
        }
        self.members = members
        self.location = location
        self.unit = unit
        if let known, let name = members.keys.sorted().first(where: { !known.contains($0) }) {
            throw error("member \"\(name)\": expected one of \(known.joined(separator: ", "))")
        }
    }

    /// A member's value.
    subscript(_ name: String) -> JSONValue? { members[name] }

    /// The object without one of its members.
    func json(without name: String) -> JSONValue { .object(members.filter { $0.key != name }) }

    /// Returns an error about this object.
    func error(_ message: String) -> KeyScenarioError { KeyScenarioError("\(location): \(message)") }

    func text(_ name: String) throws(KeyScenarioError) -> String {
        guard let text = members[name]?.string, !text.isEmpty else { throw error("\(name): expected a text") }
        return text
    }

    func number(_ name: String, maximum: UInt64 = 1 << 53) throws(KeyScenarioError) -> UInt64 {
        guard let number = members[name]?.integer, number <= maximum else {
            throw error("\(name): expected a whole number up to \(maximum)")
        }
        return number
    }

    func count(_ name: String, maximum: UInt64 = 1 << 53) throws(KeyScenarioError) -> Int {
        Int(try number(name, maximum: maximum))
    }

    func bool(_ name: String) throws(KeyScenarioError) -> Bool {
        guard let bool = members[name]?.bool else { throw error("\(name): expected true or false") }
        return bool
    }

    /// Reads a time; `nil` if the member is absent.
    func time(_ name: String) throws(KeyScenarioError) -> Duration? {
        guard members[name] != nil else { return nil }
        return switch unit {
        case .milliseconds: .milliseconds(try count(name, maximum: 1 << 42))
        case .microseconds: .microseconds(try count(name))
        }
    }

    /// Reads a time.
    func requiredTime(_ name: String) throws(KeyScenarioError) -> Duration {
        guard let time = try time(name) else { throw error("\(name): expected \(unit)") }
        return time
    }

    func texts(_ name: String) throws(KeyScenarioError) -> [String] {
        guard let list = members[name]?.array, !list.isEmpty else { throw error("\(name): expected a list of texts") }
        let texts = list.compactMap(\.string)
        guard texts.count == list.count else { throw error("\(name): expected texts") }
        return texts
    }

    /// Reads the objects of a list. An absent list is empty.
    ///
    /// - Parameters:
    ///   - name: The list's name.
    ///   - word: The name of an element in errors.
    ///   - known: The permitted names of the objects' members; `nil` for any.
    /// - Returns: The objects, in order.
    /// - Throws: `KeyScenarioError` for an element that is not an object.
    func objects(
        _ name: String, each word: String, members known: [String]? = nil
    ) throws(KeyScenarioError) -> [ScenarioObject] {
        var objects: [ScenarioObject] = []
        for element in members[name]?.array ?? [] {
            objects.append(
                try ScenarioObject(element, "\(location): \(word) \(objects.count + 1)", members: known, unit: unit))
        }
        return objects
    }
}
