import ArgumentParser
import BackendRegistry
import ByteSources
import CommandOptions
import Measurement
import RandomAccess
import SystemPackage
import Transfer

/// `chunkwise decrypt`
struct DecryptCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decrypt",
        abstract: "Decrypts a file, or a range of it.",
        discussion: helpText(
            """
            The output appears under its name only when it is complete.

            EXAMPLES
              chunkwise decrypt --key-file k --iv $IV film.enc film.mp4
              chunkwise decrypt --key-file k --iv $IV film.enc - --range 1000000-1000999
              chunkwise decrypt --key-file k --iv $IV --strategy cbc-chunked --chunk-size 16MB film.enc film.mp4
              chunkwise decrypt --strategy hls-aes128 --keys folder film.m3u8 film.ts
              openssl enc -aes-128-cbc -K $KEY -iv $IV -in a -out a.enc   is what the default strategy reads
            """))

    @OptionGroup var layout: StrategyOptions
    @OptionGroup var ivOptions: IVOptions
    @OptionGroup var keyOptions: KeyOptions
    @OptionGroup var playlistOptions: PlaylistOptions

    @Option(help: "The crypto library; see chunkwise backends.", completion: .backends)
    var backend = "libgcrypt"

    @Option(
        help: ArgumentHelp("Plaintext bytes that a thread decrypts in one step. (default: 256KiB)", valueName: "size"),
        completion: .sizes,
        transform: ByteSize.argument)
    var window = ByteSize(256 << 10)

    @Option(help: "How many threads decrypt windows side by side.")
    var threads = 1

    @Option(help: "How the file is read: mmap or pread. (default: mmap on one thread, pread on more and for a range)")
    var source: FileAccess?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Plaintext bytes as HTTP counts them: A-B (both included), A-, or -N for the last N.", valueName: "range"))
    var range: String?

    @Argument(help: "The encrypted file.", completion: .file())
    var input: String

    @Argument(help: "The decrypted file, or - for standard output.", completion: .file())
    var output: String

    func run() throws {
        let windowByteCount = try Validated.window(window)
        let threadCount = try Validated.threads(threads)
        var request: RangeRequest?
        if let range {
            request = RangeRequest(range)
            if request == nil {
                throw CommandFailure(.usage, "--range \"\(range)\": expected A-B with A not above B, A-, or -N")
            }
        }
        if layout.strategy == PlaylistKeyOptions.strategyName {
            return try decryptPlaylist(request, windowByteCount: windowByteCount, threadCount: threadCount)
        }
        try playlistOptions.refuse(with: layout.strategy)
        let strategy = try layout.strategy(ivOptions)
        let cipher = try Validated.backend(backend)
        let key = try keyOptions.key()
        // Mapping costs more than it saves where only a little is read, or where threads share what it saves: the
        // memory's bandwidth and latency.
        let access = source ?? (range == nil && threadCount == 1 ? .mmap : .pread)
        let source = try attemptInput { try access.open(FilePath(input)) }
        let object = try attempt(input) {
            try EncryptedObject(source: source, strategy: strategy, backend: cipher, key: key)
        }
        try transfer(object, request, windowByteCount: windowByteCount, threadCount: threadCount)
    }

    /// Decrypts what was asked for of an open object.
    func transfer(
        _ object: any TransferableObject, _ request: RangeRequest?, windowByteCount: Int, threadCount: Int
    ) throws {
        let length = object.plaintextByteCount
        guard let wanted = request.map({ $0.resolved(plaintextByteCount: length) }) ?? 0..<length else {
            throw CommandFailure(
                .badData, "--range \(range ?? "") starts past the end of \(input): expected a start below \(length)")
        }
        let sink = try attempt { try Output.open(output) }
        let transfer = RangeTransfer(object: object, range: wanted, windowByteCount: windowByteCount)
        try attempt {
            try transfer.run(to: sink, threadCount: threadCount) { done in
                Terminal.showProgress("\(min(100, done * 100 / max(1, UInt64(wanted.count)))) % of \(input)")
            }
            try sink.commit()
        }
        Terminal.clearProgress()
    }
}
