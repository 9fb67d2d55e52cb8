import ArgumentParser
import Conformance
import Results
import Support
import Vectors

/// The options of `verify` for programs that speak the subject protocol.
struct ExternalOptions: ParsableArguments {
    @Option(
        help: .taking(
            "command", "A program that speaks the subject protocol, to test instead of the backends. May be repeated."))
    var subject: [String] = []

    @Option(
        help: .taking(
            "time", "How long each answer of a subject may take: seconds, or a time such as 500ms. (default: 10s)"),
        transform: Duration.argument(.seconds, 0.1...3600))
    var timeout: Duration?
    /// How long each answer may take.
    var answerTime: Duration { timeout ?? .seconds(10) }

    @Flag(help: "Run everything: large reads of slow backends too, and a subject not only a choice of 5,000 reads.")
    var all = false

    /// Whether there is a subject.
    var isAsked: Bool { !subject.isEmpty }

    /// The subjects as a differential search takes them.
    func searchSubjects() throws -> [any JudgedSubject] {
        Interruption.ignoreBrokenPipes()
        return try subject.map { command in
            do throws(ExternalVerification.Failure) {
                return try ExternalSubject(command: command, timeout: answerTime)
            } catch {
                throw Self.failure(error, command)
            }
        }
    }

    /// What is said of a subject that does not start.
    static func failure(_ error: ExternalVerification.Failure, _ command: String) -> CommandFailure {
        switch error {
        case .notStarted(let reason):
            CommandFailure(
                .missingInput, "subject \"\(command)\" did not start: \(reason): expected a command for /bin/sh")
        }
    }

    /// Puts every subject to the vectors, one after the other.
    ///
    /// With `checksProtocol`, also to what is of no group: how they speak the protocol.
    func verify(_ groups: [VectorGroup], checksProtocol: Bool = true) throws -> [ConformanceRecord] {
        // Ctrl-C ends the check that is running, and its subject with it.
        Interruption.install()
        defer { Terminal.clearProgress() }
        let tier = all ? nil : VectorTier(of: groups)
        var records: [ConformanceRecord] = []
        for command in subject {
            let verification = ExternalVerification(
                command: command, timeout: answerTime, runsEverything: all, checksProtocol: checksProtocol,
                isInterrupted: { Interruption.wasRequested })
            do throws(ExternalVerification.Failure) {
                let display = ProgressDisplay()
                records.append(
                    try verification.run(groups, tier: tier) { finished, total in
                        display.show(finished, of: total, "groups of vectors", name: command)
                    }.record)
            } catch {
                throw Self.failure(error, command)
            }
        }
        return records
    }
}
