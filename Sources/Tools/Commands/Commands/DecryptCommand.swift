import ArgumentParser
import BackendRegistry
import ByteSources
import CommandOptions
import Measurement
import RandomAccess
import Support
import SystemPackage

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
              chunkwise decrypt --key-file k --iv $IV https://example.org/film.enc film.mp4
              chunkwise decrypt --strategy hls-aes128 https://example.org/film.m3u8 film.ts
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

    @Option(
        help: ArgumentHelp(
            "How the file is read, mmap or pread; or the URL of an object on a server, instead of a file. (default: mmap on one thread, pread on more and for a range)",
            valueName: "source"))
    var source: String?

    @OptionGroup var network: NetworkOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Plaintext bytes as HTTP counts them: A-B (both included), A-, or -N for the last N.", valueName: "range"))
    var range: String?

    @Argument(
        help: "The encrypted file, or the URL of one; none where --source is a URL.", completion: .file())
    var input: String

    @Argument(help: "The decrypted file, or - for standard output.", completion: .file())
    var output: String?

    func run() throws {
        CoreDumps.disable()
        let (input, output) = try files()
        var place: RemoteObject?
        if URLText.isURL(input) {
            try requireReadable(input)
            // Another program may have to go on here, which then says by itself what there is to say of the key.
            place = try network.place(input, isStrict: keyOptions.strict)
            _ = try Network.required()
        }
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
            return try decryptPlaylist(
                input, at: place, to: output, request, windowByteCount: windowByteCount, threadCount: threadCount)
        }
        try playlistOptions.refuse(with: layout.strategy)
        let strategy = try layout.strategy(ivOptions)
        let cipher = try Validated.backend(backend)
        let key = try keyOptions.key()
        // Mapping costs more than it saves where only a little is read, or where threads share what it saves: the
        // memory's bandwidth and latency.
        let access = try access() ?? (range == nil && threadCount == 1 ? .mmap : .pread)
        let source = try place.map(Network.open) ?? open(input, access)
        let object = try attempt(shownName(input)) {
            try EncryptedObject(source: source, strategy: strategy, backend: cipher, key: key)
        }
        try transfer(
            object, from: shownName(input), to: output, request, windowByteCount: windowByteCount,
            threadCount: threadCount)
    }

    /// A file's name, or of a URL what may be seen.
    func shownName(_ input: String) -> String { URLText.isURL(input) ? URLText.shown(input) : input }

    /// Refuses URLs that nothing here reads.
    private func requireReadable(_ url: String) throws {
        guard RemoteObject.isURL(url) else {
            throw CommandFailure(
                .usage, "\(URLText.shown(url)): expected a file, or a URL that begins with https:// or http://")
        }
    }

    /// What is read, and what is written.
    private func files() throws -> (input: String, output: String) {
        let isURL = source.map(RemoteObject.isURL) ?? false
        if let source, isURL {
            guard output == nil else {
                throw CommandFailure(
                    .usage, "--source \(URLText.shown(source)): expected one name behind it, the decrypted file's")
            }
            return (source, input)
        }
        guard let output else {
            throw CommandFailure(.usage, "one name only: expected the encrypted file's and the decrypted file's")
        }
        return (input, output)
    }

    /// How `--source` says that a file is read.
    private func access() throws -> FileAccess? {
        guard let source, !RemoteObject.isURL(source) else { return nil }
        guard let access = FileAccess(rawValue: source) else {
            throw CommandFailure(.usage, "--source \(URLText.shown(source)): expected mmap, pread or a URL")
        }
        guard !RemoteObject.isURL(input) else {
            throw CommandFailure(.usage, "--source \(source): expected none with a URL")
        }
        return access
    }

    private func open(_ input: String, _ access: FileAccess) throws -> any ByteSource {
        try network.refuse(input)
        return try attemptInput { try access.open(FilePath(input)) }
    }

    /// Decrypts what was asked for of an open object.
    func transfer(
        _ object: any TransferableObject, from input: String, to output: String, _ request: RangeRequest?,
        windowByteCount: Int, threadCount: Int
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
