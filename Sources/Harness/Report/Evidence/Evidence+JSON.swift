import Results
import Support

extension Evidence {
    /// The evidence as one JSON object.
    var json: JSONValue {
        .object([
            "schema": .string(schema),
            "programVersion": .string(programVersion),
            "command": JSONValue(strings: command),
            "startedAt": .string(startedAt),
            "host": host.json,
            "backends": .array(backends.map(RunSummary.json)),
            "vectorFiles": .array(vectorFiles.map { ["name": .string($0.name), "sha256": .string($0.sha256)] }),
            "flags": .array(
                flags.map {
                    [
                        "flag": .string($0.flag), "explanation": .string($0.explanation),
                        "source": .string($0.source),
                    ]
                }),
            "requirements": .array(requirements.map(json)),
            "subjects": .array(subjects.map(RunSummary.json)),
            // All cases stand in a file of their own.
            "tampering": tampering.map { .array($0.map { $0.json { $0.failure != nil } }) } ?? .null,
            "mutants": mutants.map { .array($0.map(Self.json)) } ?? .null,
        ])
    }

    private func json(_ requirement: Requirement) -> JSONValue {
        let outcomes = subjects.map { record -> JSONValue in
            let outcome = RequirementOutcome(of: record, in: requirement)
            return [
                "subject": .string(record.subject), "verdict": .string(outcome.verdict.rawValue),
                "passed": JSONValue(count: outcome.passed), "failed": JSONValue(count: outcome.failed),
                "unsupported": JSONValue(count: outcome.unsupported), "notRun": JSONValue(count: outcome.notRun),
            ]
        }
        return [
            "id": .string(requirement.id), "text": .string(requirement.text), "source": .string(requirement.source),
            "flags": JSONValue(strings: requirement.flags), "outcomes": .array(outcomes),
        ]
    }

    private static func json(_ mutant: MutantOutcome) -> JSONValue {
        [
            "name": .string(mutant.name), "flag": .string(mutant.flag), "killedBy": JSONValue(strings: mutant.killedBy),
        ]
    }
}
