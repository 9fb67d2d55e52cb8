#if Network
import ArgumentParser
import ByteSources
import Glibc
import Measurement
import RandomAccess
import Server
import Support
import SystemPackage

/// `chunkwise serve`
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Decrypts ranges of encrypted files on request, and serves them over HTTP.",
        discussion: helpText(
            """
            serve writes no plaintext to a disk. The printed URLs contain a token, and requests without it are refused;
            a client may also send it as "Authorization: Bearer". SIGINT or SIGTERM ends the server. With --no-token,
            the server refuses pages of other sites: the host must be an address, localhost or the name of --bind.

            A folder is served with its subfolders, without hidden files and links. Its files share the key and the
            options. Without --iv, the IV of each file NAME is in a file NAME.iv beside it.

            The playlists of a folder, *.m3u8, are served with decrypted segments. With --hls-encrypted, the segments
            stay encrypted, and the keys get URIs of the server. --strategy hls-aes128 serves only playlists: those of a
            folder, or the given ones, with the files that they name. --strategy pieces serves the objects of the given
            documents, each under the document's name without .yml.

            EXAMPLES
              chunkwise serve --key-file k film.mp4.enc
              chunkwise serve --key-file k --strategy cbc-chunked:chunk=16MB films
              chunkwise serve --key-file k film.mp4.enc --record trace.json
              chunkwise serve --key-file k film.mp4.enc --port 0 --no-token
              chunkwise serve --strategy hls-aes128 film
              chunkwise serve --strategy hls-aes128 --keys folder --hls-encrypted film/film.m3u8

            EXIT CODES
              0 ended by SIGINT or SIGTERM; 64 usage; 65 a file or the key is wrong; 66 a file is missing; 74 the
              address is taken, or the trace cannot be written
            """))

    @OptionGroup var layout: StrategyOptions

    @OptionGroup var ivOptions: IVOptions
    @OptionGroup var ciphertext: CiphertextOptions
    @OptionGroup var keyOptions: KeyOptions
    @OptionGroup var playlistKeys: PlaylistKeyOptions
    @OptionGroup var ranges: ByteRangeOptions
    @OptionGroup var filmOptions: FilmOptions

    @Flag(help: "Serve the encrypted segments of playlists, and their keys.")
    var hlsEncrypted = false

    @OptionGroup var backendOptions: BackendOptions

    @Option(
        help: .taking("size", "The maximum number of plaintext bytes to decrypt in one step. (default: 256KiB)"),
        transform: ByteSize.argument)
    var window = ByteSize(256 << 10)

    @OptionGroup var listening: ListeningOptions

    @Option(help: "The port, or 0 for any free port.")
    var port = 8080

    @Flag(help: "Serve every client, without a token.")
    var noToken = false

    @Option(
        help: .taking(
            "origin",
            "A site whose pages may read the files, such as http://localhost:3000, or * for all. May be repeated."))
    var allowOrigin: [String] = []

    @Option(help: .taking("file", "Record the requested ranges, with times, as a trace in this file."))
    var record: String?

    @Option(
        help: .taking(
            "time",
            """
            Close a connection that is idle for this long: seconds, or a time such as 500ms. A request must arrive \
            within a quarter of it. (default: 60s)
            """), transform: Duration.argument(.seconds, 0.1...86_400))
    var idleSeconds = Duration.seconds(60)

    @Argument(help: .taking("file-or-folder", "Encrypted files, or one folder of them."))
    var inputs: [String]

    func run() async throws {
        Listening.prepare()
        let limits = try limits()
        let host = try listening.host()
        let token = noToken ? nil : AccessToken()
        let catalogue = try catalogue()
        var server = RangeServer(catalogue: catalogue, token: token, report: Self.report)
        server.limits = limits
        server.allowedOrigins = try allowedOrigins()
        if let record {
            server.recorder = try attempt {
                try TraceRecorder(path: FilePath(record), title: "A client of chunkwise serve")
            }
        }
        let (name, fileNames) = (listening.bind, try attempt { try catalogue.listing() })
        let first = fileNames.prefix(Announcement.maxFiles)
        let shown = first.filter { Self.opens($0, of: catalogue) }
        let fileCount = fileNames.count - (first.count - shown.count)
        let recorder = server.recorder
        try await Listening.run { [server] in
            try await server.run(host: host, port: port) { port in
                // Not earlier: if the port were taken, an existing trace would be lost.
                do { try recorder?.start() } catch { Self.report("\(error)") }
                if !host.address.isLoopback {
                    Self.report(
                        "warning: --bind \(name): what is served, and the token, can be read by others on the network: "
                            + "expected 127.0.0.1, or a proxy with TLS before it")
                }
                Announcement(host: name, port: port, token: token, fileCount: fileCount, shown: shown).show()
            }
        }
        if let failure = server.recorder?.failure { throw CommandFailure(.io, "\(failure)") }
    }

    /// Returns whether a file opens, and reports the reason if it does not, so that a wrong key is found before the
    /// first client comes.
    private static func opens(_ path: [String], of catalogue: any ContentCatalogue) -> Bool {
        do throws(DecryptionError) {
            return try catalogue.content(at: path) != nil
        } catch {
            report("warning: \(path.joined(separator: "/")) is there and cannot be served: \(error)")
            return false
        }
    }

    private func allowedOrigins() throws -> AllowedOrigins {
        try require(
            AllowedOrigins(allowOrigin), .usage,
            "--allow-origin \(allowOrigin.joined(separator: ", ")): expected \(AllowedOrigins.expectation)")
    }

    private func limits() throws -> ServerLimits {
        var limits = ServerLimits()
        try listening.limit(&limits, port: port, Self.report)
        limits.windowByteCount = try Validated.window(window)
        try require(limits.windowByteCount <= 16 << 20, "--window \(window): expected at most 16MiB for a server")
        limits.idleMilliseconds = Int64(idleSeconds / .milliseconds(1))
        return limits
    }
}

/// The files that the server serves.
extension ServeCommand {
    /// Reports a problem while the server runs.
    @Sendable static func report(_ text: String) {
        Terminal.sayWithoutWaiting("chunkwise serve: \(text)")
    }

    /// The files that the arguments name.
    func catalogue() throws -> any ContentCatalogue {
        let isOneFolder = inputs.count == 1 && isFolder(inputs[0])
        for input in inputs where !isOneFolder && isFolder(input) {
            throw CommandFailure(.usage, "folder \(input): expected files, or one folder and nothing else")
        }
        let filmStart = try filmOptions.start(with: layout)
        if let list = layout.list {
            try layout.refuseParameters()
            try ciphertext.refuse(with: "the strategy \(layout.strategy)")
            if let iv = ivOptions.iv {
                throw CommandFailure(.usage, "--iv \(iv): expected none with --strategy \(layout.text)")
            }
            return switch list {
            case .playlist: try playlists(isOneFolder: isOneFolder)
            case .pieces, .film: try pieces(list, filmStart, isOneFolder: isOneFolder)
            }
        }
        let format = try format()
        guard isOneFolder else {
            try playlistKeys.refuse(with: "\(layout.strategy) and files")
            try ranges.refuse(with: "\(layout.strategy) and files")
            if hlsEncrypted {
                throw CommandFailure(.usage, "--hls-encrypted: expected a folder, or --strategy hls-aes128")
            }
            let files = try attempt { try EncryptedFiles(files: inputs.map { FilePath($0) }, format: format) }
            try checkFirst(files)
            return files
        }
        let folder = FilePath(inputs[0])
        var options = try playlistOptions(key: nil)
        options.mayBeOthers = true
        return try attemptInput {
            CombinedCatalogue(
                try ServedPlaylists(folder: folder, options: options),
                before: try EncryptedFiles(folder: folder, format: format))
        }
    }

    private func format() throws -> EncryptedFiles.Format {
        // Checks the options now instead of with the first request.
        let example = try layout.strategy(ivOptions)
        let needsIV = try layout.needsIV()
        var fixedIV = ivOptions.iv == nil ? nil : example[Format.Input.ivName]?.bytes?.array
        if !needsIV {
            if let iv = ivOptions.iv {
                throw CommandFailure(.usage, "--iv \(iv): expected none with --strategy \(layout.text)")
            }
            // The format has no IV, and there are no IV files.
            fixedIV = []
        }
        let key = try keyOptions.key(for: layout)
        let cipher = try backendOptions.backend(for: example, key)
        let ciphertext = ciphertext
        // The description of a format may change while its name stays the same.
        let description = "\(example)\n" + String(decoding: example.format.text, as: UTF8.self)
        return EncryptedFiles.Format(
            description: description, iv: fixedIV, ivByteCounts: example.format.ivInput?.byteCounts, key: key
        ) { (source, iv) throws(DecryptionError) in
            let strategy =
                needsIV ? example.replacing(Format.Input.ivName, with: .bytes(ByteString(iv))) : example
            return try ciphertext.open(source, strategy) { () throws(DecryptionError) in
                try EncryptedObject(source: source, strategy: strategy, backend: cipher, key: key)
            }
        }
    }

    private func playlistOptions(key: SecretKey?) throws -> ServedPlaylists.Options {
        var options = ServedPlaylists.Options(
            backend: try backendOptions.backend(),
            keys: try playlistKeys.rings(key, isStrict: keyOptions.strict) { Self.report("warning: \($0)") })
        options.keepsEncryption = hlsEncrypted
        options.ranges = ranges.readings
        options.isRecorded = record != nil
        options.report = Self.report
        return options
    }

    /// The objects of the documents or films that the arguments name. Opens each of them once.
    private func pieces(
        _ list: ListStrategy, _ filmStart: FilePath?, isOneFolder: Bool
    ) throws -> ServedPieces {
        try playlistKeys.refuse(with: layout.strategy)
        try ranges.refuse(with: layout.strategy)
        try require(!hlsEncrypted, "--hls-encrypted: expected a folder, or --strategy hls-aes128")
        try require(!isOneFolder, "folder \(inputs[0]): expected documents with --strategy \(layout.strategy)")
        let (isStrict, keys) = (keyOptions.strict, keyOptions.isGiven ? try keyOptions.keys(for: layout) : nil)
        let documents = inputs.map { FilePath($0) }
        let cipher = try backendOptions.backend()
        let pieces = try attempt {
            try ServedPieces(documents: documents, backend: cipher) { (path) throws(DecryptionError) in
                try PieceFile(list, path: path, start: filmStart, keys: keys, isStrict: isStrict, isAgain: true)
            }
        }
        for document in documents {
            try attemptInput {
                _ = try PieceFile(list, path: document, start: filmStart, keys: keys, isStrict: isStrict)
                _ = try pieces.content(at: [ServedPieces.name(of: document)])
            }
        }
        return pieces
    }

    /// The playlists of a folder, or the playlists that the arguments name, all in one folder.
    private func playlists(isOneFolder: Bool) throws -> ServedPlaylists {
        var options = try playlistOptions(key: keyOptions.isGiven ? keyOptions.key(for: layout) : nil)
        if isOneFolder {
            return try attemptInput { try ServedPlaylists(folder: FilePath(inputs[0]), options: options) }
        }
        let paths = inputs.map { FilePath($0) }
        let folders = Set(paths.map { $0.removingLastComponent() })
        guard let folder = folders.first, folders.count == 1 else {
            throw CommandFailure(.usage, "playlists in several folders: expected one folder for all")
        }
        options.named = paths.compactMap { $0.lastComponent?.string }
        let playlists = try attemptInput {
            try ServedPlaylists(folder: folder.isEmpty ? "." : folder, options: options)
        }
        for (input, name) in zip(inputs, options.named) {
            let content = try attempt { try playlists.content(at: [name]) }
            try require(content != nil, .missingInput, "\(input): expected a playlist, whose name ends in .m3u8")
        }
        return playlists
    }

    /// Opens the files that the arguments name once, so that a wrong key is found before the first client comes.
    private func checkFirst(_ files: EncryptedFiles) throws {
        for input in inputs {
            let name = FilePath(input).lastComponent?.string ?? input
            let content = try attempt(name) { try files.content(at: [name]) }
            try require(content != nil, .missingInput, "\(input): expected a file that can be read")
        }
    }

    /// The corresponding C function is `opendir`.
    private func isFolder(_ path: String) -> Bool {
        guard let stream = opendir(path) else { return false }
        closedir(stream)
        return true
    }
}

/// The text that is printed when clients can connect: a URL for each file.
struct Announcement {
    let host: String
    let port: Int
    let token: AccessToken?
    let fileCount: Int
    /// The paths of the files that are listed.
    let shown: [[String]]

    /// The maximum number of listed files. The start page has all of them.
    static let maxFiles = 20

    /// Prints the text without buffering, because a program behind a pipe may wait for it.
    func show() {
        let root = "http://\(Listening.authority(host, port))/" + (token.map { $0.text + "/" } ?? "")
        print("serving \(fileCount == 1 ? "1 file" : "\(fileCount) files") on \(root)")
        for path in shown { print(root + RequestTarget.encoded(path)) }
        Listening.announce()
    }
}
#endif
