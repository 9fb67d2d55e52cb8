/// One combination of the values of an entry's lists.
struct PlanChoice {
    /// The members that the entry has, with one of its values each.
    let values: [(key: String, value: String)]

    subscript(key: String) -> String? { values.first { $0.key == key }?.value }

    /// Makes all combinations, the last list's values next to each other; one without values where there are no lists.
    static func all(of lists: [(key: String, values: [String])]) -> [PlanChoice] {
        lists.reduce([PlanChoice(values: [])]) { choices, list in
            choices.flatMap { choice in list.values.map { PlanChoice(values: choice.values + [(list.key, $0)]) } }
        }
    }
}

/// The places that the values of an entry's lists have in its cells: each value must have one.
struct PlanPlaces {
    private let lists: [(key: String, values: [String])]
    private var filled: Set<Value> = []
    private var errors: [Value: PlanError] = [:]
    private var firstError: PlanError?

    private struct Value: Hashable {
        var key: String
        var value: String
    }

    init(_ lists: [(key: String, values: [String])]) {
        self.lists = lists
    }

    /// Notes that values occur in a cell.
    mutating func fill(_ values: [(key: String, value: String)]) {
        for (key, value) in values { filled.insert(Value(key: key, value: value)) }
    }

    /// Notes the reason why values have no place in a cell; the first one counts.
    mutating func note(_ error: PlanError, at values: [(key: String, value: String)]) {
        firstError = firstError ?? error
        for (key, value) in values where errors[Value(key: key, value: value)] == nil {
            errors[Value(key: key, value: value)] = error
        }
    }

    /// Throws the reason of the first value that has no place; without values, that of the only combination.
    func requireAll() throws(PlanError) {
        for (key, values) in lists {
            for value in values where !filled.contains(Value(key: key, value: value)) {
                if let error = errors[Value(key: key, value: value)] ?? firstError { throw error }
            }
        }
    }
}
