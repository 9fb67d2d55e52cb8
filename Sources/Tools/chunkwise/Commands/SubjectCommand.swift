import ArgumentParser
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
            What every measured process runs, and an example for implementations of your own.

            EXAMPLES
              echo '{"op":"hello","protocol":1}' | chunkwise subject --backend openssl
              chunkwise verify --subject 'chunkwise subject --mutant iv-zero'
              chunkwise gate --baseline 'chunkwise subject' --candidate 'chunkwise subject --extra-work 0.05'
            """))

    @Option(help: "The crypto library; see chunkwise backends.", completion: .backends)
    var backend = "libgcrypt"

    @Option(help: "How ranges are read: block, whole-chunk, chunk-cache or fresh-buffers.")
    var access = AccessPolicy.block

    @Option(
        help: ArgumentHelp("Plaintext bytes that are decrypted in one step. (default: 256KiB)", valueName: "size"),
        completion: .sizes,
        transform: ByteSize.argument)
    var window = ByteSize(256 << 10)

    @Option(help: "How many threads read side by side in measurements.")
    var threads = 1

    @Option(
        help: ArgumentHelp(
            "Decrypt this many further bytes for each byte delivered, 0 to 10, into a buffer that is not read: a real slowdown, which chunkwise gate --self-test plants. What is delivered stays the same.",
            valueName: "share"))
    var extraWork = 0.0

    @Option(
        help: ArgumentHelp(
            "Be a reader with this planted fault instead; chunkwise verify --mutants names them.", valueName: "name"),
        completion: .mutants)
    var mutant: String?

    func run() throws {
        // A harness that goes away is an end of input, not a crash.
        Interruption.ignoreBrokenPipes()
        guard let work = ExtraWork(share: extraWork) else {
            throw CommandFailure(.usage, "--extra-work \(extraWork): expected 0 to 10, such as 0.05")
        }
        if let mutant {
            guard work.millionths == 0 else {
                throw CommandFailure(.usage, "--extra-work \(extraWork): expected it without --mutant")
            }
            guard let planted = Mutant.named(mutant) else {
                throw CommandFailure(
                    .usage, "--mutant \(mutant): expected one that chunkwise verify --mutants lists")
            }
            let subject = MutantSubject(planted, over: try Validated.backend(backend))
            return SubjectServer(pipe: PipeEnd(input: 0, output: 1), subject: subject).run()
        }
        let configuration = ReaderConfiguration(
            access: access, windowByteCount: try Validated.window(window), threadCount: try Validated.threads(threads),
            extraWork: work)
        let subject = ReaderSubject(
            backend: try Validated.backend(backend), configuration: configuration, programVersion: Program.version,
            network: Network.client())
        SubjectServer(pipe: PipeEnd(input: 0, output: 1), subject: subject).run()
    }
}

extension AccessPolicy: ExpressibleByArgument {}
