import ArgumentParser
import BackendRegistry
import Conformance
import Measurement
import Subject
import SubjectProtocol
import Support

/// `chunkwise subject`
struct SubjectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subject",
        abstract: "Speaks the subject protocol on standard input and output, over one of the backends.",
        discussion: helpText(
            """
            subject is an example for your own implementations. It can also inject faults (--mutant) and slowdowns
            (--extra-work). Measurements use chunkwise-subject instead, the same reader in a smaller program, if it is
            beside this one.

            EXAMPLES
              echo '{"op":"hello","protocol":1}' | chunkwise subject --backend openssl
              chunkwise verify --subject 'chunkwise subject --mutant iv-zero'
              chunkwise gate --baseline 'chunkwise subject' --candidate 'chunkwise subject --extra-work 0.05'

            EXIT CODES
              0 the harness said goodbye, or closed the pipe; 64 usage
            """))

    @Option(help: "The crypto library; see chunkwise backends.", completion: .backends)
    var backend = "libgcrypt"

    @Option(help: "How the reader reads a range; chunkwise measure --help explains the values.")
    var access = AccessPolicy.block

    @Option(
        help: .taking("size", "The number of plaintext bytes to decrypt in one step. (default: 256KiB)"),
        completion: .sizes, transform: ByteSize.argument)
    var window = ByteSize(256 << 10)

    @Option(help: "The number of threads that read in parallel in measurements.")
    var threads = 1

    @Option(
        help: .taking(
            "share",
            """
            Decrypt this many extra bytes for each delivered byte, 0 to 10, into a buffer that is not used. This is a \
            real slowdown, for chunkwise gate self-test. The delivered bytes stay the same.
            """))
    var extraWork = 0.0

    @Option(
        help: .taking("name", "Read with this injected fault; chunkwise verify mutants lists the names."),
        completion: .mutants)
    var mutant: String?

    func run() throws {
        // If the harness closes the pipe, the subject ends normally instead of by a signal.
        Interruption.ignoreBrokenPipes()
        let work = try require(
            ExtraWork(share: extraWork), .usage, "--extra-work \(extraWork): expected 0 to 10, such as 0.05")
        if let mutant {
            try require(work.millionths == 0, "--extra-work \(extraWork): expected it without --mutant")
            let injected = try require(
                Mutant.named(mutant), .usage, "--mutant \(mutant): expected one that chunkwise verify mutants lists")
            let pipe = PipeEnd.standard(besideForeignCode: BackendRegistry.isForeign(backend))
            let subject = MutantSubject(
                injected, over: try attempt { try BackendRegistry.foreignBackend(named: backend) })
            return SubjectServer(pipe: pipe, subject: subject).run()
        }
        let configuration = ReaderConfiguration(
            access: access, windowByteCount: try Validated.window(window),
            threadCount: try Validated.threads(threads, window: window), extraWork: work)
        let pipe = PipeEnd.standard(besideForeignCode: BackendRegistry.isForeign(backend))
        let subject = ReaderSubject(
            backend: try attempt { try BackendRegistry.foreignBackend(named: backend) }, configuration: configuration,
            programVersion: Program.version, network: Network.client())
        SubjectServer(pipe: pipe, subject: subject).run()
    }
}
