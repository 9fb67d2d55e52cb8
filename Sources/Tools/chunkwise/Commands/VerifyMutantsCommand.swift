import ArgumentParser
import BackendRegistry
import Conformance
import Measurement
import RandomAccess
import Report
import Results
import SubjectProtocol
import Support
import Vectors

extension VerifyCommand {
    /// `chunkwise verify mutants`
    struct Mutants: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "mutants",
            abstract: "Runs the vectors on readers with injected faults.",
            discussion: helpText(
                """
                A mutant is a reader with one injected fault. The vectors with its own flag must notice it, with
                --strategy any vector, and so must the selection of vectors that programs get. Readers without a fault
                must pass.

                EXAMPLES
                  chunkwise verify mutants
                  chunkwise verify mutants --strategy ./mine.yml
                  chunkwise verify mutants --plugin /absolute/lib.so --format json

                EXIT CODES
                  0 every fault was noticed; 1 a mutant survived, or a reader without a fault failed
                """))

        @Option(
            help: "The backend of the readers. (default: for each cipher the first that has it)",
            completion: .backends)
        var backend: String?

        @Option(
            help: .taking("library", "The plug-in of the readers, given by the absolute path of its shared library."),
            completion: .file(extensions: ["so"]))
        var plugin: String?

        @Flag(help: ArgumentHelp("Load the plug-in or provider into this process.", visibility: .private))
        var hosted = false

        @OptionGroup var formats: TestedFormats
        @OptionGroup var threads: VerifyThreads
        @OptionGroup var output: VerifyOutputOptions

        /// The name of the plug-in or provider.
        private var foreign: String? {
            plugin.map { BackendRegistry.pluginPrefix + $0 }
                ?? backend.flatMap { BackendRegistry.isForeign($0) ? $0 : nil }
        }

        func validate() throws {
            try requireValid(plugin == nil || backend == nil, "--plugin with --backend: expected one of them")
            try requireValid(
                foreign == nil || formats.names.isEmpty,
                "--strategy with a plug-in or provider: expected a backend of this program")
        }

        func run() throws {
            if let foreign, !hosted { return try host(foreign) }
            // Keeps the output of a library in this process out of the result.
            let pipe = foreign.map { _ in PipeEnd.standard(besideForeignCode: true) }
            let (backend, formats) = (try usedBackend(), try formats.formats())
            let mutants = formats?.mutants ?? Mutant.all
            let names = self.formats.names.joined(separator: " ")
            try require(
                !mutants.isEmpty, .noAnswer,
                "--strategy \(names): no rule there becomes a fault if it is changed; expected a format with tags or "
                    + "numbers, or no --strategy, for faults in the code of readers")
            let matrix = try MutantVerification.matrix(
                mutants, backend: backend,
                groups: formats?.chosenGroups() ?? DefaultVectors.publishedGroups() + VectorSet.mutation(),
                anyFlagKills: formats != nil, threadCount: threads.count)
            let choice = try MutantVerification.choice(
                mutants, backend: backend, groups: formats?.groups() ?? VectorSet.standard(),
                threadCount: threads.count)
            if let pipe {
                pipe.writeAll((output.isJSON ? json(matrix, choice).text : text(matrix, choice)) + "\n")
            } else {
                output.show(text(matrix, choice), json: json(matrix, choice))
            }
            // Every mutant is killed, also by the selection that programs get.
            guard matrix.isComplete, choice?.survivors.isEmpty == true else {
                throw ExitCode(CommandFailure.Code.no.rawValue)
            }
        }

        /// The backend that the user names, or all: no single one has all ciphers.
        private func usedBackend() throws -> any CipherBackend {
            if let foreign {
                return try attempt { try BackendRegistry.foreignBackend(named: foreign, isGuarded: false) }
            }
            if let backend { return try Validated.backend(backend, isForData: false) }
            return CombinedBackend()
        }

        /// Runs this command for a plug-in or a provider in another process, and prints that process's output.
        private func host(_ name: String) throws {
            // A library that does not load is an error, and no failed test.
            _ = try ForeignBackend(name, timeout: .seconds(60))
            Interruption.install()
            Terminal.showProgress("verify: injected faults over \(name)")
            let captured = try attempt(name) {
                try CapturedCommand(
                    [Program.path, "verify", "mutants", "--hosted", "--backend", name]
                        + ["--threads", "\(try threads.count)", "--format", output.isJSON ? "json" : "text"],
                    isInterrupted: { Interruption.wasRequested })
            }
            Terminal.clearProgress()
            try require(!Interruption.wasRequested, .noAnswer, "stopped before the end")
            let codes = [0, CommandFailure.Code.no.rawValue].map { $0 << 8 }
            // A library may end the process, even with status 0.
            guard codes.contains(captured.status), !captured.output.isEmpty else {
                let reason = SubjectError.died(status: captured.status, log: captured.log)
                throw CommandFailure(.no, "\(name) with injected faults: \(reason): expected it to answer to the end")
            }
            let text = String(decoding: captured.output.dropLast(), as: UTF8.self)
            if output.isJSON { print(text) } else { output.color.show(text) }
            guard captured.status == 0 else { throw ExitCode(CommandFailure.Code.no.rawValue) }
        }

        private func text(_ matrix: KillMatrix, _ choice: ChoiceMatrix?) -> String {
            let rows = matrix.outcomes.map { outcome in
                let others = outcome.killedBy.filter { $0 != outcome.mutant.flag }.map(\.rawValue)
                return [
                    outcome.isKilled ? "killed" : "SURVIVED", outcome.mutant.name,
                    outcome.mutant.flag.rawValue,
                    others.isEmpty ? "-" : others.joined(separator: " "),
                ]
            }
            var lines = [table([["", "mutant", "its flag", "other flags that noticed"]] + rows), ""]
            for outcome in matrix.survivors {
                lines.append(
                    "SURVIVED \(outcome.mutant.name): \(outcome.mutant.summary) Expected "
                        + "\(outcome.anyFlagKills ? "a vector" : outcome.mutant.flag.rawValue) to notice "
                        + "(\(outcome.mutant.source))")
            }
            for control in matrix.controls where control.failed > 0 || control.passed == 0 {
                let reason = control.failures.first.map { "\($0.id): \($0.reason)" } ?? "nothing passed"
                lines.append("FAILED \(control.subject), which has no fault: \(reason)")
            }
            let killed = matrix.outcomes.count - matrix.survivors.count
            lines.append(
                "\(killed) of \(matrix.outcomes.count) injected faults were killed"
                    + (formats.names.isEmpty ? " by their own flag" : ""))
            for outcome in choice?.survivors ?? [] {
                lines.append(
                    "SURVIVED the choice \(outcome.mutant.name): \(outcome.mutant.summary) \(outcome.failedCount) "
                        + "vectors noticed: expected \(ChoiceMatrix.minCount) at least")
            }
            if let choice {
                lines.append(
                    "\(choice.outcomes.count - choice.survivors.count) of \(choice.outcomes.count) that a program can "
                        + "have were noticed by \(ChoiceMatrix.minCount) vectors at least of the choice that programs "
                        + "get")
            }
            return lines.joined(separator: "\n")
        }

        private func json(_ matrix: KillMatrix, _ choice: ChoiceMatrix?) -> JSONValue {
            let mutants = matrix.outcomes.map { outcome in
                JSONValue(
                    encoding: outcome.evidence,
                    adding: [
                        "summary": outcome.mutant.summary, "source": outcome.mutant.source,
                        "vector": outcome.killer?.id, "reason": outcome.killer?.reason,
                    ])
            }
            return JSONValue(members: [
                "injected": matrix.outcomes.count, "killed": matrix.outcomes.count - matrix.survivors.count,
                "survivors": matrix.survivors.map(\.mutant.name),
                "choiceSurvivors": choice?.survivors.map(\.mutant.name), "mutants": mutants,
                "controls": matrix.controls.map(\.control),
            ])
        }
    }
}

/// The mutation test of the vectors.
enum MutantVerification {
    /// Runs the selection of vectors that programs get on the mutants. Returns `nil` if the user stopped it.
    fileprivate static func choice(
        _ mutants: [Mutant], backend: any CipherBackend, groups: [VectorGroup], threadCount: Int
    ) -> ChoiceMatrix? {
        Terminal.showProgress("injected faults in programs")
        defer { Terminal.clearProgress() }
        return ChoiceMatrix.run(
            mutants, over: backend, groups: groups, threadCount: threadCount,
            shouldStop: { Interruption.wasRequested })
    }

    /// Runs the kill matrix, and returns its record for a result file; `nil` if the user stopped it.
    static func record(
        backend: any CipherBackend, published: [VectorGroup], threadCount: Int
    ) -> MutantsRecord? {
        let matrix = matrix(backend: backend, published: published, threadCount: threadCount)
        guard matrix.isFinished else { return nil }
        return MutantsRecord(
            backend: backend.name, outcomes: matrix.outcomes.map(\.evidence),
            controls: matrix.controls.map(\.control))
    }

    /// Runs the kill matrix. It ends early if the user stops it.
    static func matrix(backend: any CipherBackend, published: [VectorGroup], threadCount: Int) -> KillMatrix {
        matrix(Mutant.all, backend: backend, groups: published + VectorSet.mutation(), threadCount: threadCount)
    }

    fileprivate static func matrix(
        _ mutants: [Mutant], backend: any CipherBackend, groups: [VectorGroup], anyFlagKills: Bool = false,
        threadCount: Int
    ) -> KillMatrix {
        let display = ProgressDisplay()
        let matrix = KillMatrix.run(
            mutants, over: backend, groups: groups, anyFlagKills: anyFlagKills, threadCount: threadCount,
            shouldStop: { Interruption.wasRequested }
        ) { done, total in
            display.show(done, of: total, "parts", name: "injected faults")
        }
        Terminal.clearProgress()
        return matrix
    }
}

extension ConformanceRecord {
    /// The counts of a reader without a fault.
    fileprivate var control: MutantsRecord.Control { .init(name: subject, passed: passed, failed: failed) }
}

extension MutantOutcome {
    /// The outcome for the evidence.
    var evidence: Evidence.MutantOutcome {
        Evidence.MutantOutcome(name: mutant.name, flag: mutant.flag.rawValue, killedBy: killedBy.map(\.rawValue))
    }
}
