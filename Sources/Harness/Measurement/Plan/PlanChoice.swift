/// One combination of the values of an entry's lists.
struct PlanChoice {
    /// The members of the entry, each with one of its values.
    let values: [(key: String, value: String)]

    subscript(key: String) -> String? { values.first { $0.key == key }?.value }

    /// Returns all combinations. The values of the last list change fastest. Without lists, there is one combination
    /// without values.
    static func all(of lists: [(key: String, values: [String])]) -> [PlanChoice] {
        lists.reduce([PlanChoice(values: [])]) { choices, list in
            choices.flatMap { choice in list.values.map { PlanChoice(values: choice.values + [(list.key, $0)]) } }
        }
    }
}

/// A record of the values of an entry's lists that occur in its cells. Each value must occur in at least one cell.
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

    /// Notes the reason for which values cannot occur in a cell. The first reason counts.
    mutating func note(_ error: PlanError, at values: [(key: String, value: String)]) {
        firstError = firstError ?? error
        for (key, value) in values where errors[Value(key: key, value: value)] == nil {
            errors[Value(key: key, value: value)] = error
        }
    }

    /// Throws the reason of the first value that occurs in no cell; without a reason of its own, the first reason of
    /// all.
    func requireAll() throws(PlanError) {
        for (key, values) in lists {
            for value in values where !filled.contains(Value(key: key, value: value)) {
                if let error = errors[Value(key: key, value: value)] ?? firstError { throw error }
            }
        }
    }
}
