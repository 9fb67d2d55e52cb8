import Results
import Support

extension RunSummary {
    /// The planted faults as JSON, or `null` if they were not part of the run.
    var mutantsJSON: JSONValue {
        guard let mutants = results.mutants else { return .null }
        let outcomes = mutants.outcomes.map { outcome -> JSONValue in
            [
                "name": .string(outcome.name), "flag": .string(outcome.flag),
                "killedBy": JSONValue(strings: outcome.killedBy),
            ]
        }
        return [
            "backend": .string(mutants.backend),
            "planted": JSONValue(count: mutants.outcomes.count),
            "killed": JSONValue(count: mutants.outcomes.count - mutants.survivors.count),
            "survivors": JSONValue(strings: mutants.survivors.map(\.name)),
            "mutants": .array(outcomes),
        ]
    }

    /// The warnings as JSON.
    var warningsJSON: JSONValue {
        .array(
            RunWarning.all(in: self).map(\.warning).map { warning in
                [
                    "title": .string(warning.title), "message": .string(warning.message),
                    "advice": .string(warning.advice), "isSerious": .bool(warning.isSerious),
                ]
            })
    }
}
