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
            An example for implementations of your own, and what planted faults and --extra-work are for. Measured
            processes are chunkwise-subject, the same reader in a smaller program, where it lies beside this one.

            EXAMPLES
              echo '{"op":"hello","protocol":1}' | chunkwise subject --backend openssl
              chunkwise verify --subject 'chunkwise subject --mutant iv-zero'
              chunkwise gate --baseline 'chunkwise subject' --candidate 'chunkwise subject --extra-work 0.05'

            EXIT CODES
              0 the harness said goodbye, or went away; 64 usage
            """))

    @Option(help: "The crypto library; see chunkwise backends.", completion: .backends)
    var backend = "libgcrypt"

    @Option(help: "How ranges are read, as chunkwise measure --help explains.")
    var access = AccessPolicy.block

    @Option(
        help: .taking("size", "Plaintext bytes that are decrypted in one step. (default: 256KiB)"), completion: .sizes,
        transform: ByteSize.argument)
    var window = ByteSize(256 << 10)

    @Option(help: "How many threads read side by side in measurements.")
    var threads = 1

    @Option(
        help: .taking(
            "share",
            "Decrypt this many further bytes for each byte delivered, 0 to 10, into a buffer that is not read: a real slowdown, which chunkwise gate --self-test plants. What is delivered stays the same."
        ))
    var extraWork = 0.0

    @Option(
        help: .taking("name", "Be a reader with this planted fault instead; chunkwise verify --mutants names them."),
        completion: .mutants)
    var mutant: String?

    func run() throws {
        // A harness that goes away is an end of input, not a crash.
        Interruption.ignoreBrokenPipes()
        let work = try require(
            ExtraWork(share: extraWork), .usage, "--extra-work \(extraWork): expected 0 to 10, such as 0.05")
        if let mutant {
            try require(work.millionths == 0, "--extra-work \(extraWork): expected it without --mutant")
            let planted = try require(
                Mutant.named(mutant), .usage, "--mutant \(mutant): expected one that chunkwise verify --mutants lists")
            let pipe = PipeEnd.standard(besideForeignCode: BackendRegistry.isForeign(backend))
            let subject = MutantSubject(
                planted, over: try attempt { try BackendRegistry.foreignBackend(named: backend) })
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

extension AccessPolicy: ExpressibleByArgument {}
