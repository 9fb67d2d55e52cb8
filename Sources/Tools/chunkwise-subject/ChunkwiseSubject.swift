import BackendRegistry
import ByteSources
import Glibc
import RandomAccess
import Subject
import SubjectProtocol
import Support

/// The measured process: one of our readers, which speaks PROTOCOL.md on standard input and output.
///
/// It has readers, backends and the protocol, and nothing of the harness, so that it starts quickly and what it holds
/// in memory is what it reads with.
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
        // A harness that goes away is an end of input, not a crash.
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

    /// What `verify --constant-time` starts under valgrind: prints what was counted, a line of JSON each.
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
