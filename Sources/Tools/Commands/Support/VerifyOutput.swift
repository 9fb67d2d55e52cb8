import ArgumentParser
import CommandOptions
import Results
import Support

/// What `verify` prints of its records, and what they come to.
enum VerifyOutput {
    /// Says whether the records are a pass.
    ///
    /// - Throws: `ExitCode` 1 if a vector failed; `CommandFailure` if nothing was executed at all, or by one subject.
    static func requirePass(_ records: [ConformanceRecord]) throws {
        if records.contains(where: { $0.failed > 0 }) { throw ExitCode(CommandFailure.Code.no.rawValue) }
        if Interruption.wasRequested { throw CommandFailure(.noAnswer, "stopped before the end") }
        guard records.contains(where: { $0.passed > 0 }) else {
            throw CommandFailure(.noAnswer, "no vector was executed: expected at least one")
        }
        // A subject that only ever says "unsupported" has shown nothing.
        if let silent = records.first(where: { $0.passed == 0 && $0.unsupported > 0 }) {
            throw CommandFailure(
                .noAnswer, "\(silent.subject) executed no vector: expected at least one that it supports")
        }
    }

    /// The counts as a table, the flags that failed, and the failures.
    static func text(_ records: [ConformanceRecord]) -> String {
        var rows = [["subject", "passed", "failed", "unsupported", "not run"]]
        for record in records {
            rows.append(
                [record.subject] + [record.passed, record.failed, record.unsupported, record.notRun].map(String.init))
        }
        let flags = records.flatMap { record in
            (record.flags ?? []).filter { $0.failed > 0 }.map {
                "\(record.subject): \($0.flag): \($0.failed) of \($0.passed + $0.failed) failed"
            }
        }
        let failures = records.flatMap { record in
            record.failures.map {
                "FAILED \(record.subject): \($0.id) [\($0.flags.joined(separator: " "))]: \($0.reason)"
            }
        }
        return ([table(rows, rightAligned: [1, 2, 3, 4])] + flags + failures).joined(separator: "\n")
    }

    /// The same as JSON.
    static func json(_ records: [ConformanceRecord], served: ServedVectors? = nil) -> JSONValue {
        func counts(_ records: [ConformanceRecord]) -> [String: JSONValue] {
            [
                "passed": JSONValue(count: records.reduce(0) { $0 + $1.passed }),
                "failed": JSONValue(count: records.reduce(0) { $0 + $1.failed }),
                "unsupported": JSONValue(count: records.reduce(0) { $0 + $1.unsupported }),
                "notRun": JSONValue(count: records.reduce(0) { $0 + $1.notRun }),
            ]
        }
        let subjects = records.map { record -> JSONValue in
            var members = counts([record])
            members["name"] = .string(record.subject)
            members["failures"] = .array(
                record.failures.map {
                    ["id": .string($0.id), "flags": JSONValue(strings: $0.flags), "reason": .string($0.reason)]
                })
            return .object(members)
        }
        var members = counts(records)
        members["subjects"] = .array(subjects)
        if let served {
            members["source"] = .string(served.sourceName)
            members["warnings"] = JSONValue(strings: served.warnings)
        }
        return .object(members)
    }
}
