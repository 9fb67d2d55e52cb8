import ArgumentParser
import KeyTesting
import SubjectProtocol

/// Speaks the protocol of scenarios.
struct SubjectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subject", abstract: "Be a session for whoever speaks the protocol of data/scenarios.")

    @Option(help: "A planted fault, of those that \"scenarios --mutants\" lists.")
    var fault: KeyMutant?

    func run() {
        var subject = KeySubject(fault: fault)
        subject.run(PipeEnd(input: 0, output: 1))
    }
}

extension KeyMutant: ExpressibleByArgument {}
