import ArgumentParser
import Conformance
import Report
import Results
import Support

/// The output of `verify`: its records as text and as JSON, and its exit code.
enum VerifyOutput {
    /// Checks that the records are a pass.
    ///
    /// - Parameters:
    ///   - records: The records.
    ///   - mayBeSilent: True if the user named no subject: those that lack the ciphers are listed, and no failure.
    /// - Throws: `ExitCode` 1 if a vector failed; `CommandFailure` if no vector was executed at all, or by a subject
    ///   that the user named.
    static func requirePass(_ records: [ConformanceRecord], mayBeSilent: Bool = false) throws {
        // A program that did not answer the greeting has no result.
        let answering = records.filter { $0.passed > 0 || $0.vectorCount != 0 }
        if answering.contains(where: { $0.failed > 0 }) { throw ExitCode(CommandFailure.Code.no.rawValue) }
        if Interruption.wasRequested { throw CommandFailure(.noAnswer, "stopped before the end") }
        try require(
            records.contains(where: { $0.passed > 0 }), .noAnswer, "no vector was executed: expected at least one")
        // A subject that only answers "unsupported" proves nothing.
        if !mayBeSilent,
            let silent = records.first(where: { $0.passed == 0 && $0.unsupported > 0 || $0.vectorCount == 0 })
        {
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
        let causes = records.flatMap { record in
            record.explanations.map { "\(record.subject): \($0)" }
        }
        let failures = records.flatMap { record in
            record.failures.map {
                "FAILED \(record.subject): \($0.id) [\($0.flags.joined(separator: " "))]: \($0.reason)"
            } + more(record.failed, listed: record.failures.count, of: record.subject)
        }
        let findings = records.flatMap { record -> [String] in
            guard let adapter = record.adapter, !adapter.isEmpty else { return [] }
            let mendings = ExternalFlag.allCases.compactMap { flag -> String? in
                let own = adapter.filter { $0.flags.contains(flag.rawValue) }
                guard !own.isEmpty, let mending = flag.mending else { return nil }
                return "\(record.subject): adapter: \(own.count) of \(flag.rawValue); to mend them: \(mending)"
            }
            return mendings + adapter.map { "ADAPTER \(record.subject): \($0.id) [\($0.flags[0])]: \($0.reason)" } + [
                "\(record.subject): what is wrong with the adapter is no failure of what it adapts; with "
                    + "--strict-protocol it is one"
            ]
        }
        let counts = records.compactMap { record in
            record.vectorCount.map { _ in "\(record.subject): executed \(record.executedText)" }
        }
        let versions = records.compactMap { record in record.version.map { "\(record.subject): version \($0)" } }
        let choices = records.compactMap { record in record.choice.map { "\(record.subject): \($0.text)" } }
        // A subject's texts are escaped, because they may contain control characters.
        let shown = rows.map { $0.map(PlainText.line) }
        return
            ([table(shown, rightAligned: [1, 2, 3, 4])]
            + (versions + counts + choices + flags + causes + failures + findings).map(PlainText.line))
            .joined(separator: "\n")
    }

    /// Says how many failures the list leaves out; nothing if it has all.
    static func more(_ failedCount: Int, listed: Int, of name: String) -> [String] {
        failedCount > listed ? ["\(name): and \(RatioText.count(failedCount - listed, "more failure"))"] : []
    }

    /// The records as JSON.
    static func json(_ records: [ConformanceRecord], served: ServedVectors? = nil) -> JSONValue {
        func counts(_ records: [ConformanceRecord]) -> [String: any Encodable] {
            [
                "passed": records.reduce(0) { $0 + $1.passed }, "failed": records.reduce(0) { $0 + $1.failed },
                "unsupported": records.reduce(0) { $0 + $1.unsupported },
                "notRun": records.reduce(0) { $0 + $1.notRun },
            ]
        }
        let subjects = records.map { record -> JSONValue in
            var members = counts([record])
            members["name"] = record.subject
            members["version"] = record.version
            members["failures"] = record.failures
            members["cause"] = record.cause.map { JSONValue(encoding: $0, nullable: .all) }
            members["kinds"] = record.kinds
            members["commonTrait"] = record.commonTrait
            members["choice"] = record.choice
            members["adapter"] = record.adapter
            return JSONValue(members: members)
        }
        var members = counts(records)
        members["subjects"] = subjects
        members["source"] = served?.sourceName
        members["warnings"] = served?.warnings
        return JSONValue(members: members)
    }
}
