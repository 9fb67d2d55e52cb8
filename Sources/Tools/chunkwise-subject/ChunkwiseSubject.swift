import BackendRegistry
import ByteSources
import Glibc
import RandomAccess
import Subject
import SubjectProtocol
import Support

/// The measured process: one of our readers, which speaks the protocol of PROTOCOL.md on standard input and output.
///
/// It contains readers, backends and the protocol, but nothing of the harness. So it starts quickly, and its memory is
/// that of the reader.
@main
enum ChunkwiseSubject {
    private static let usage = """
        USAGE: chunkwise-subject [--backend <name>] [--plugin <library>] [--access <policy>] [--window <size>]
                                 [--threads <count>] [--extra-work <share>]

        Speaks the subject protocol on standard input and output, over one of the backends. chunkwise measure, sweep,
        gate and verify start it; the options are those of chunkwise subject, whose --help explains them.
        """

    static func main() {
        ProcessStart.prepare()
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.contains(where: { ["--help", "-h"].contains($0) }) { return print(usage) }
        if arguments.contains("--version") { return print(programVersion) }
        // If the harness closes the pipe, the subject ends normally instead of by a signal.
        signal(SIGPIPE, SIG_IGN)
        do {
            if arguments.first == "--constant-time" { return try printConstantTime(arguments.dropFirst()) }
            let options = try SubjectOptions(arguments: arguments)
            let pipe = PipeEnd.standard(besideForeignCode: BackendRegistry.isForeign(options.backend))
            let subject = ReaderSubject(
                backend: try BackendRegistry.foreignBackend(named: options.backend),
                configuration: try options.configuration(), programVersion: programVersion)
            SubjectServer(pipe: pipe, subject: subject).run()
        } catch {
            PipeEnd(input: 0, output: 2).writeAll("chunkwise-subject: \(PlainText.line("\(error)"))\n")
            exit(((error as? any ExitStatusProviding)?.exitStatus ?? .io).rawValue)
        }
    }

    /// Prints the counts of the constant-time check, one line of JSON each. `verify constant-time` starts this under
    /// valgrind.
    private static func printConstantTime(_ backends: ArraySlice<String>) throws {
        guard ConstantTimeCheck.isWatched else {
            throw DecryptionError.unsupported("this process is not watched: expected it under valgrind on x86-64")
        }
        func show(_ subject: String, _ outcomes: [ConstantTimeCheck.Outcome]) {
            for outcome in outcomes {
                let line: JSONValue = [
                    "subject": .string(subject), "operation": .string(outcome.operation),
                    "count": .init(count: outcome.count), "mayBePublic": .bool(outcome.mayBePublic),
                ]
                print(String(decoding: line.line, as: UTF8.self), terminator: "")
            }
        }
        show("readers", ConstantTimeCheck.runReaders())
        for name in backends { show(name, try ConstantTimeCheck.run(BackendRegistry.backend(named: name))) }
    }
}
