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
            abstract: "Tests the vectors: every reader with an injected fault must fail.",
            discussion: helpText(
                """
                A mutant is a reader with one injected fault. The vectors with its own flag have to notice it, and so
                does the selection of vectors that programs get. Two readers without a fault have to pass.

                EXAMPLES
                  chunkwise verify mutants
                  chunkwise verify mutants --strategy ./mine.yml
                  chunkwise verify mutants --plugin /absolute/lib.so --format json

                EXIT CODES
                  0 every fault was noticed; 1 a mutant survived, or a reader without a fault failed
                """))

        @Option(help: "The backend of the readers. (default: the first that is available)", completion: .backends)
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
                ?? backend.flatMap {
                    BackendRegistry.isForeign($0) ? $0 : nil
                }
        }

        func validate() throws {
            try requireValid(plugin == nil || backend == nil, "--plugin with --backend: expected one of them")
            try requireValid(
                foreign == nil || formats.names.isEmpty,
                "--strategy with a plug-in or provider: expected a backend of this program")
        }

        func run() throws {
            if let foreign {
                guard !hosted else {
                    return try MutantVerification.run(
                        loading: foreign, threadCount: threads.count, format: output.format.format)
                }
                // A plug-in that does not load is an error, and no failed test.
                _ = try ForeignBackend(foreign, timeout: .seconds(60))
                return try MutantVerification.run(hosting: foreign, threadCount: threads.count, output)
            }
            let formats = try formats.formats()
            let named = try backend.map { try Validated.backend($0, isForData: false) }
            let usual = formats == nil ? Backends.available().first : nil
            try MutantVerification.run(
                backend: named ?? usual ?? CombinedBackend(), formats: formats, threadCount: threads.count, output)
        }
    }
}

/// The mutation test of the vectors.
enum MutantVerification {
    /// Runs the kill matrix and prints it.
    ///
    /// - Throws: `ExitCode` 1 unless the vectors with its own flag kill every mutant.
    fileprivate static func run(
        backend: any CipherBackend, formats: FormatVerification?, threadCount: Int, _ output: VerifyOutputOptions
    ) throws {
        let (matrix, choice): (KillMatrix, ChoiceMatrix?)
        if let formats {
            matrix = self.matrix(
                formats.mutants, backend: backend, groups: try formats.chosenGroups(), threadCount: threadCount)
            choice = self.choice(
                formats.mutants, backend: backend, groups: try formats.groups(), threadCount: threadCount)
        } else {
            matrix = self.matrix(
                backend: backend, published: try DefaultVectors.publishedGroups(), threadCount: threadCount)
            choice = self.choice(backend: backend, threadCount: threadCount)
        }
        output.show(text(matrix, choice), json: json(matrix, choice))
        try requireComplete(matrix, choice)
    }

    /// Checks that every mutant was killed by its own class of vectors, and by the selection that programs get.
    ///
    /// - Throws: `ExitCode` 1 otherwise.
    private static func requireComplete(_ matrix: KillMatrix, _ choice: ChoiceMatrix?) throws {
        guard matrix.isComplete, choice?.survivors.isEmpty == true else {
            throw ExitCode(CommandFailure.Code.no.rawValue)
        }
    }

    /// Runs the selection of vectors that programs get on the mutants. Returns `nil` if the user stopped it.
    private static func choice(
        _ mutants: [Mutant] = Mutant.all, backend: any CipherBackend, groups: [VectorGroup] = VectorSet.standard(),
        threadCount: Int
    ) -> ChoiceMatrix? {
        Terminal.showProgress("injected faults in programs")
        defer { Terminal.clearProgress() }
        return ChoiceMatrix.run(
            mutants, over: backend, groups: groups, threadCount: threadCount,
            shouldStop: { Interruption.wasRequested })
    }

    /// Runs the kill matrix over a plug-in or a provider, which is loaded into this process.
    ///
    /// - Throws: The errors of `run(backend:)`, and of loading.
    fileprivate static func run(loading name: String, threadCount: Int, format: OutputFormat) throws {
        // Keeps the library's own output out of the result.
        let output = PipeEnd.standard(besideForeignCode: true)
        let backend = try attempt { try BackendRegistry.foreignBackend(named: name, isGuarded: false) }
        let matrix = matrix(
            backend: backend, published: try DefaultVectors.publishedGroups(), threadCount: threadCount)
        let choice = choice(backend: backend, threadCount: threadCount)
        output.writeAll((format == .json ? json(matrix, choice).text : text(matrix, choice)) + "\n")
        try requireComplete(matrix, choice)
    }

    /// Runs the kill matrix over a plug-in or a provider in another process, and prints that process's output.
    ///
    /// - Throws: The errors of `run(backend:)`; `CommandFailure` if the process does not end by itself.
    fileprivate static func run(hosting name: String, threadCount: Int, _ output: VerifyOutputOptions) throws {
        Interruption.install()
        Terminal.showProgress("verify: injected faults over \(name)")
        let captured = try attempt(name) {
            try CapturedCommand(
                [Program.path, "verify", "mutants", "--hosted", "--backend", name, "--threads", "\(threadCount)"]
                    + ["--format", output.format.format.rawValue], isInterrupted: { Interruption.wasRequested })
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
        switch output.format.format {
        case .json: print(text)
        case .text: output.color.show(text)
        }
        guard captured.status == 0 else { throw ExitCode(CommandFailure.Code.no.rawValue) }
    }

    /// Runs the kill matrix, and returns its record for a result file; `nil` if the user stopped it.
    static func record(
        backend: any CipherBackend, published: [VectorGroup], threadCount: Int
    ) -> MutantsRecord? {
        let matrix = matrix(backend: backend, published: published, threadCount: threadCount)
        guard matrix.isFinished else { return nil }
        return MutantsRecord(
            backend: backend.name, outcomes: matrix.outcomes.map(\.evidence),
            controls: matrix.controls.map { .init(name: $0.subject, passed: $0.passed, failed: $0.failed) })
    }

    /// Runs the kill matrix. It ends early if the user stops it.
    static func matrix(backend: any CipherBackend, published: [VectorGroup], threadCount: Int) -> KillMatrix {
        matrix(backend: backend, groups: published + VectorSet.mutation(), threadCount: threadCount)
    }

    private static func matrix(
        _ mutants: [Mutant] = Mutant.all, backend: any CipherBackend, groups: [VectorGroup], threadCount: Int
    ) -> KillMatrix {
        let display = ProgressDisplay()
        let matrix = KillMatrix.run(
            mutants, over: backend, groups: groups, threadCount: threadCount,
            shouldStop: { Interruption.wasRequested }
        ) { done, total in
            display.show(done, of: total, "parts", name: "injected faults")
        }
        Terminal.clearProgress()
        return matrix
    }

    private static func text(_ matrix: KillMatrix, _ choice: ChoiceMatrix?) -> String {
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
                "SURVIVED \(outcome.mutant.name): \(outcome.mutant.summary) Expected \(outcome.mutant.flag.rawValue) "
                    + "to notice (\(outcome.mutant.source))")
        }
        for control in matrix.controls where control.failed > 0 || control.passed == 0 {
            let reason = control.failures.first.map { "\($0.id): \($0.reason)" } ?? "nothing passed"
            lines.append("FAILED \(control.subject), which has no fault: \(reason)")
        }
        let killed = matrix.outcomes.count - matrix.survivors.count
        lines.append("\(killed) of \(matrix.outcomes.count) injected faults were killed by their own flag")
        for outcome in choice?.survivors ?? [] {
            lines.append(
                "SURVIVED the choice \(outcome.mutant.name): \(outcome.mutant.summary) \(outcome.failedCount) vectors "
                    + "noticed: expected \(ChoiceMatrix.minCount) at least")
        }
        if let choice {
            lines.append(
                "\(choice.outcomes.count - choice.survivors.count) of \(choice.outcomes.count) that a program can have "
                    + "were noticed by \(ChoiceMatrix.minCount) vectors at least of the choice that programs get")
        }
        return lines.joined(separator: "\n")
    }

    private static func json(_ matrix: KillMatrix, _ choice: ChoiceMatrix?) -> JSONValue {
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
            "choiceSurvivors": choice.map { JSONValue(strings: $0.survivors.map(\.mutant.name)) } ?? .null,
            "mutants": .array(mutants), "controls": .array(controls),
        ]
    }
}

extension MutantOutcome {
    /// The outcome for the evidence.
    var evidence: Evidence.MutantOutcome {
        Evidence.MutantOutcome(name: mutant.name, flag: mutant.flag.rawValue, killedBy: killedBy.map(\.rawValue))
    }
}
