import Support

/// An object of a scenario, whose members are read with errors that say where they are.
struct ScenarioObject {
    private let json: JSONValue
    private let place: String
    private let unit: Unit

    /// What times are whole numbers of.
    enum Unit {
        case milliseconds
        case microseconds
    }

    /// Begins with an object.
    ///
    /// - Parameters:
    ///   - json: The object.
    ///   - place: What errors call it.
    ///   - known: The names that members may have; any, if there is no such list.
    ///   - unit: What times are whole numbers of.
    /// - Throws: `KeyScenarioError`.
    init(
        _ json: JSONValue?, _ place: String, members known: [String]? = nil, unit: Unit = .milliseconds
    ) throws(KeyScenarioError) {
        guard let json, case .object(let members) = json else {
            throw KeyScenarioError(place, "expected a JSON object")
        }
        if let known, let name = members.keys.sorted().first(where: { !known.contains($0) }) {
            throw KeyScenarioError(place, "member \"\(name)\": expected one of \(known.joined(separator: ", "))")
        }
        self.json = json
        self.place = place
        self.unit = unit
    }

    func text(_ name: String) throws(KeyScenarioError) -> String {
        guard let text = json[name]?.string, !text.isEmpty else {
            throw KeyScenarioError(place, "\(name): expected a text")
        }
        return text
    }

    func number(_ name: String, maximum: UInt64 = 1 << 53) throws(KeyScenarioError) -> UInt64 {
        guard let number = json[name]?.integer, number <= maximum else {
            throw KeyScenarioError(place, "\(name): expected a whole number up to \(maximum)")
        }
        return number
    }

    func bool(_ name: String) throws(KeyScenarioError) -> Bool {
        guard let bool = json[name]?.bool else { throw KeyScenarioError(place, "\(name): expected true or false") }
        return bool
    }

    /// A time, if the member is there.
    func time(_ name: String) throws(KeyScenarioError) -> Duration? {
        guard json[name] != nil else { return nil }
        return switch unit {
        case .milliseconds: .milliseconds(Int64(try number(name, maximum: 1 << 42)))
        case .microseconds: .microseconds(Int64(try number(name, maximum: 1 << 53)))
        }
    }

    /// A time.
    func requiredTime(_ name: String) throws(KeyScenarioError) -> Duration {
        guard let time = try time(name) else { throw KeyScenarioError(place, "\(name): expected \(unit)") }
        return time
    }

    func texts(_ name: String) throws(KeyScenarioError) -> [String] {
        guard let list = json[name]?.array, !list.isEmpty else {
            throw KeyScenarioError(place, "\(name): expected a list of texts")
        }
        var texts: [String] = []
        for element in list {
            guard let text = element.string else { throw KeyScenarioError(place, "\(name): expected texts") }
            texts.append(text)
        }
        return texts
    }
}
