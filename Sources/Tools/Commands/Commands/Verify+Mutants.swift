import ArgumentParser
import BackendRegistry
import CommandOptions
import Conformance
import RandomAccess
import Results
import Support
import Vectors

/// `chunkwise verify --mutants`: the vectors themselves, put to the test.
enum MutantVerification {
    /// Runs the kill matrix and prints it.
    ///
    /// - Throws: `ExitCode` 1 unless every mutant is killed by the flag that stands for its fault.
    static func run(backend: any CipherBackend, threadCount: Int, format: OutputFormat, color: ColorOptions) throws {
        let matrix = matrix(
            backend: backend, published: try DefaultVectors.publishedGroups(), threadCount: threadCount)
        switch format {
        case .json: print(json(matrix).text)
        case .text: color.show(text(matrix))
        }
        guard matrix.isComplete else { throw ExitCode(CommandFailure.Code.no.rawValue) }
    }

    /// Runs the kill matrix, and returns it as a result file holds it; `nil` if the user stopped it.
    static func record(
        backend: any CipherBackend, published: [VectorGroup], threadCount: Int
    ) -> MutantsRecord? {
        let matrix = matrix(backend: backend, published: published, threadCount: threadCount)
        guard matrix.isFinished else { return nil }
        return MutantsRecord(
            backend: backend.name, outcomes: matrix.outcomes.map(\.evidence),
            controls: matrix.controls.map { .init(name: $0.subject, passed: $0.passed, failed: $0.failed) })
    }

    /// Runs the kill matrix; it ends early if the user stops it.
    static func matrix(backend: any CipherBackend, published: [VectorGroup], threadCount: Int) -> KillMatrix {
        let groups = published + VectorSet.mutation()
        // The mutants, and two readers without a fault.
        let total = Mutant.all.count + 2
        let display = ProgressDisplay()
        let matrix = KillMatrix.run(
            over: backend, groups: groups, threadCount: threadCount,
            shouldStop: { Interruption.wasRequested }
        ) { finished in
            display.show(finished, of: total, "readers", name: "planted faults")
        }
        Terminal.clearProgress()
        return matrix
    }

    private static func text(_ matrix: KillMatrix) -> String {
        let rows = matrix.outcomes.map { outcome in
            let others = outcome.killedBy.filter { $0 != outcome.mutant.flag }.map(\.rawValue)
            return [
                outcome.isKilledByItsFlag ? "killed" : "SURVIVED", outcome.mutant.name, outcome.mutant.flag.rawValue,
                others.isEmpty ? "-" : others.joined(separator: " "),
            ]
        }
        var lines = [table([["", "mutant", "its flag", "other flags that noticed"]] + rows), ""]
        for outcome in matrix.survivors {
            lines.append(
                "SURVIVED \(outcome.mutant.name): \(outcome.mutant.summary) Expected \(outcome.mutant.flag.rawValue) to "
                    + "notice (\(outcome.mutant.source))")
        }
        for control in matrix.controls where control.failed > 0 || control.passed == 0 {
            let reason = control.failures.first.map { "\($0.id): \($0.reason)" } ?? "nothing passed"
            lines.append("FAILED \(control.subject), which has no fault: \(reason)")
        }
        let killed = matrix.outcomes.count - matrix.survivors.count
        lines.append("\(killed) of \(matrix.outcomes.count) planted faults were killed by their own flag")
        return lines.joined(separator: "\n")
    }

    private static func json(_ matrix: KillMatrix) -> JSONValue {
        let mutants = matrix.outcomes.map { outcome -> JSONValue in
            let failure = outcome.record.failures.first { $0.flags.contains(outcome.mutant.flag.rawValue) }
            return [
                "name": .string(outcome.mutant.name), "flag": .string(outcome.mutant.flag.rawValue),
                "killedBy": JSONValue(strings: outcome.killedBy.map(\.rawValue)),
                "summary": .string(outcome.mutant.summary), "source": .string(outcome.mutant.source),
                "vector": JSONValue(failure?.id), "reason": JSONValue(failure?.reason),
            ]
        }
        let controls = matrix.controls.map { record -> JSONValue in
            [
                "name": .string(record.subject), "passed": JSONValue(count: record.passed),
                "failed": JSONValue(count: record.failed),
            ]
        }
        return [
            "planted": JSONValue(count: matrix.outcomes.count),
            "killed": JSONValue(count: matrix.outcomes.count - matrix.survivors.count),
            "survivors": JSONValue(strings: matrix.survivors.map(\.mutant.name)),
            "mutants": .array(mutants), "controls": .array(controls),
        ]
    }
}

extension MutantOutcome {
    /// The outcome as evidence holds it.
    var evidence: Evidence.MutantOutcome {
        Evidence.MutantOutcome(name: mutant.name, flag: mutant.flag.rawValue, killedBy: killedBy.map(\.rawValue))
    }
}
