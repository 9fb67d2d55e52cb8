import ArgumentParser
import BackendRegistry
import ByteSources
import Measurement
import RandomAccess
import Support
import SystemPackage

/// `chunkwise encrypt`
struct EncryptCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "encrypt",
        abstract: "Encrypts a file so that it can be read from the middle.",
        discussion: helpText(
            """
            The output appears under its name only when it is complete. CBC and CTR need an IV, another one for each
            file: without --iv it is drawn. It is written to a file NAME.iv beside the output NAME, where decrypt, serve
            and measure find it.

            EXAMPLES
              chunkwise encrypt --key-file k film.mp4 film.enc
              chunkwise encrypt --key-file k --strategy cbc-chunked --chunk-size 16MB film.mp4 film.enc
              tar c folder | chunkwise encrypt --key-file k --strategy cobblestone-128 - folder.enc
              chunkwise encrypt --key-file k --strategy cobblestone-128 film.mp4 film.enc

            CBC and CTR hide data, they do not detect changes to it. The strategies cobblestone-128, cobblestone-256 and
            tink-aes-gcm-hkdf do; they need no IV.

            EXIT CODES
              0 encrypted; 64 usage; 65 a key or a length is wrong; 66 a file is missing; 74 I/O
            """))

    @OptionGroup var layout: StrategyOptions
    @OptionGroup var ivOptions: IVOptions
    @OptionGroup var keyOptions: KeyOptions

    @Option(
        help: "The crypto library; see chunkwise backends. swift-reference, which is to be compared with, warns.",
        completion: .backends)
    var backend = "libgcrypt"

    @Option(
        help: .taking("size", "Plaintext bytes that are encrypted in one step. (default: 256KiB)"), completion: .sizes,
        transform: ByteSize.argument)
    var window = ByteSize(256 << 10)

    @Option(help: "Always 1: each block of CBC needs the one before it.")
    var threads = 1

    @Argument(help: "The file to encrypt, or - for standard input.", completion: .file())
    var input: String

    @Argument(help: "The encrypted file, or - for standard output.", completion: .file())
    var output: String

    func run() throws {
        CoreDumps.disable()
        try require(threads == 1, "--threads \(threads): expected 1, since encryption is sequential")
        let windowByteCount = try Validated.window(window)
        let iv = try ivOptions.block() ?? Block(bigEndianValue: .random(in: .min ... .max))
        let strategy = try layout.strategy(ivOptions, keyOptions) { iv }
        let cipher = try Validated.backend(backend)
        let key = try keyOptions.key(for: layout.strategy)
        let source = try attemptInput { try StreamInput(input) }
        let encryptor = try attempt {
            try ObjectEncryptor(strategy: strategy, backend: cipher, key: key, windowByteCount: windowByteCount)
        }
        let sink = try attempt { try Output.open(output) }
        // A pipe or a device has no place beside it.
        let file = layout.hasIV ? sink as? FileSink : nil
        try require(
            file != nil || !layout.hasIV || ivOptions.iv != nil, .usage,
            "output \(output) without --iv: expected it, or a file, beside which the IV that is drawn has its own")
        if file != nil { try requirePlaceOfIV() }
        try attempt(input == "-" ? nil : input) {
            try source.encrypt(with: encryptor, to: sink) { done in
                Terminal.showProgress("\(ByteSize((done >> 20) << 20)) of \(input)")
            }
            if let file { try IVFile.commit(file, at: FilePath(output), iv: iv) } else { try sink.commit() }
        }
        Terminal.clearProgress()
    }

    /// Refuses an output whose IV file would replace the input, the key, or anything else than an IV file.
    private func requirePlaceOfIV() throws {
        let path = IVFile.path(of: FilePath(output))
        if let replaced = WholeFile.identity(of: path.string) {
            try require(
                ![input, keyOptions.keyFile].contains { $0.flatMap(WholeFile.identity) == replaced },
                "output \(output): its IV would replace \(path), which is read: expected another name")
        }
        try attempt { try IVFile.requirePlace(beside: FilePath(output)) }
    }
}
