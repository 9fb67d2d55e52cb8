import ArgumentParser
import BackendRegistry
import ByteSources
import Glibc
import HLS
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
              chunkwise decrypt --key-file k film.enc film.mp4
              chunkwise decrypt --key-file k film.enc - --range 1000000-1000999
              chunkwise decrypt --key-file k --strategy cbc-chunked --chunk-size 16MB film.enc film.mp4
              chunkwise decrypt --strategy hls-aes128 --keys folder film.m3u8 film.ts
              chunkwise decrypt --strategy hls-aes128 --keep-going damaged.m3u8 rest.ts
              chunkwise decrypt --key-file k https://example.org/film.enc film.mp4
              chunkwise decrypt --strategy hls-aes128 https://example.org/film.m3u8 film.ts
              openssl enc -aes-128-cbc -K $KEY -iv $IV -in a -out a.enc   is what the default strategy reads

            EXIT CODES
              0 decrypted; 1 segments are missing, with --keep-going; 64 usage; 65 the ciphertext, the key or the range is wrong; 66 a file is missing; 74 I/O
            """))

    @OptionGroup var layout: StrategyOptions
    @OptionGroup var ivOptions: IVOptions
    @OptionGroup var ciphertext: CiphertextOptions
    @OptionGroup var keyOptions: KeyOptions
    @OptionGroup var playlistKeys: PlaylistKeyOptions
    @OptionGroup var ranges: ByteRangeOptions
    @OptionGroup var playlistOptions: PlaylistOptions

    @Option(
        help: "The crypto library; see chunkwise backends. swift-reference, which is to be compared with, warns.",
        completion: .backends)
    var backend = "libgcrypt"

    @Option(
        help: .taking("size", "Plaintext bytes that a thread decrypts in one step. (default: 256KiB)"),
        completion: .sizes, transform: ByteSize.argument)
    var window = ByteSize(256 << 10)

    @Option(help: "How many threads decrypt windows side by side.")
    var threads = 1

    @Option(
        help: .taking(
            "source",
            "How the file is read, mmap or pread; or the URL of an object on a server, instead of a file. (default: mmap on one thread, pread on more and for a range)"
        ))
    var source: String?

    @OptionGroup var tls: TLSOptions
    @OptionGroup var networkOptions: NetworkOptions

    @Option(
        parsing: .unconditional,
        help: .taking("range", "Plaintext bytes as HTTP counts them: A-B (both included), A-, or -N for the last N."))
    var range: String?

    @Argument(help: "The encrypted file, or the URL of one; none where --source is a URL.", completion: .file())
    var input: String

    @Argument(help: "The decrypted file, or - for standard output.", completion: .file())
    var output: String?

    var network: ServerAccess { ServerAccess(options: networkOptions, tls: tls) }

    func run() throws {
        CoreDumps.disable()
        let (input, output) = try files()
        try require(
            input != "-",
            "decrypt -: expected a file or a URL, which can be read from the middle (a pipe into a file first)")
        var remoteObject: RemoteObject?
        if URLText.isURL(input) {
            try requireReadable(input)
            remoteObject = try network.remoteObject(input, isStrict: keyOptions.strict)
            _ = try Network.required()
        }
        let windowByteCount = try Validated.window(window)
        let threadCount = try Validated.threads(threads, window: window)
        var request: RangeRequest?
        if let range {
            request = RangeRequest(range)
            if request == nil {
                throw CommandFailure(.usage, "--range \"\(range)\": expected A-B with A not above B, A-, or -N")
            }
        }
        if layout.strategy == PlaylistKeyOptions.strategyName {
            return try decryptPlaylist(
                input, at: remoteObject, to: output, request, windowByteCount: windowByteCount, threadCount: threadCount
            )
        }
        try playlistKeys.refuse(with: layout.strategy)
        try ranges.refuse(with: layout.strategy)
        try playlistOptions.refuse(with: layout.strategy)
        let strategy = try layout.strategy(ivOptions, keyOptions) {
            try remoteObject.map(IVOptions.block) ?? IVOptions.block(beside: input)
        }
        let cipher = try Validated.backend(backend)
        let key = try keyOptions.key(for: layout.strategy)
        // Mapping costs more than it saves where only a little is read, or where threads share what it saves: the
        // memory's bandwidth and latency.
        let access = try access() ?? (range == nil && threadCount == 1 ? .mmap : .pread)
        if remoteObject == nil, let replaced = WholeFile.identity(of: output), replaced == WholeFile.identity(of: input)
        {
            throw CommandFailure(
                .usage, "output \(output) is the input: expected another file, for the ciphertext would be lost")
        }
        let source = try remoteObject.map { try Network.open($0.opening(strategy)) } ?? open(input, access)
        let object = try attempt(redactedName(input)) {
            try ciphertext.open(source, strategy) { () throws(DecryptionError) in
                try EncryptedObject(source: source, strategy: strategy, backend: cipher, key: key)
            }
        }
        try transfer(
            object, from: redactedName(input), to: output, request, windowByteCount: windowByteCount,
            threadCount: threadCount)
    }

    /// A file's name, or of a URL what may be seen.
    func redactedName(_ input: String) -> String { URLText.isURL(input) ? URLText.redacted(input) : input }

    /// Refuses URLs that nothing here reads.
    private func requireReadable(_ url: String) throws {
        try require(
            RemoteObject.isURL(url),
            "\(URLText.redacted(url)): expected a file, or a URL that begins with https:// or http://")
    }

    /// What is read, and what is written.
    private func files() throws -> (input: String, output: String) {
        let isURL = source.map(RemoteObject.isURL) ?? false
        if let source, isURL {
            try require(
                output == nil, "--source \(URLText.redacted(source)): expected one name behind it, the decrypted file's"
            )
            return (source, input)
        }
        let output = try require(
            output, .usage, "one name only: expected the encrypted file's and the decrypted file's")
        return (input, output)
    }

    /// How `--source` says that a file is read.
    private func access() throws -> FileAccess? {
        guard let source, !RemoteObject.isURL(source) else { return nil }
        let access = try require(
            FileAccess(rawValue: source), .usage, "--source \(URLText.redacted(source)): expected mmap, pread or a URL")
        try require(!RemoteObject.isURL(input), "--source \(source): expected none with a URL")
        return access
    }

    private func open(_ input: String, _ access: FileAccess) throws -> any ByteSource {
        try network.refuse(input)
        return try attemptInput { try access.open(FilePath(input)) }
    }

    /// Decrypts what was asked for of an open object.
    ///
    /// - Returns: The plaintext that was.
    @discardableResult
    func transfer(
        _ object: any TransferableObject, from input: String, to output: String, _ request: RangeRequest?,
        windowByteCount: Int, threadCount: Int
    ) throws -> Range<UInt64> {
        let length = object.plaintextByteCount
        let wanted = try require(
            request.map({ $0.resolved(plaintextByteCount: length) }) ?? 0..<length,
            .badData, "--range \(range ?? "") starts past the end of \(input): expected a start below \(length)")
        let sink = try attempt { try Output.open(output) }
        let transfer = RangeTransfer(object: object, range: wanted, windowByteCount: windowByteCount)
        try attempt {
            try transfer.run(to: sink, threadCount: threadCount) { done in
                let share = Double(done) / max(1, Double(wanted.upperBound - wanted.lowerBound))
                Terminal.showProgress("\(Int(min(100, share * 100))) % of \(input)")
            }
            try sink.commit()
        }
        Terminal.clearProgress()
        return wanted
    }
}

extension DecryptCommand {
    /// Decrypts the segments of a playlist, or a range of them.
    ///
    /// - Parameters:
    ///   - input: The playlist as it was named.
    ///   - remoteObject: Where it is on a server; `nil` for a file.
    ///   - output: Where the plaintext goes.
    ///   - request: Which part of it; `nil` for all.
    ///   - windowByteCount: How much is decrypted in one step.
    ///   - threadCount: How many threads do that.
    /// - Throws: `CommandFailure`.
    func decryptPlaylist(
        _ input: String, at remoteObject: RemoteObject?, to output: String, _ request: RangeRequest?,
        windowByteCount: Int,
        threadCount: Int
    ) throws {
        try layout.refuseParameters()
        try ciphertext.refuse(with: "the strategy \(layout.strategy)")
        if let iv = ivOptions.iv {
            throw CommandFailure(.usage, "--iv \(iv): expected none with the strategy \(layout.strategy)")
        }
        let cipher = try Validated.backend(backend)
        let choice = playlistOptions.variant.map { VariantChoice.index($0) } ?? .highestBandwidth
        var opened =
            if let remoteObject { try servedPlaylist(remoteObject, choice) } else {
                try playlist(input, choice, output: output)
            }
        opened.playlist = opened.playlist.reading(ranges.readings)
        let key = keyOptions.isGiven ? try keyOptions.key(for: layout.strategy) : nil
        let ring = try playlistKeys.rings(key, isStrict: keyOptions.strict)(opened.keys)
        let shown = redactedName(input)
        let object = try attempt(shown) {
            try HLSObject(
                playlist: opened.playlist, resources: opened.resources, keys: ring, backend: cipher,
                leavesOutBroken: playlistOptions.keepGoing)
        }
        for warning in ring.warnings { Terminal.warn("\(warning)") }
        for note in opened.notes { Terminal.warn("\(shown): \(note)") }
        let hasRest = object.problems.count < object.parts.count
        if !hasRest, !playlistOptions.keepGoing { try attempt(shown) { try object.requireAll() } }
        func requireNone(missing: [DecryptionError]) throws {
            for error in missing { Terminal.warn("missing: \(error)") }
            try require(
                missing.isEmpty, .no,
                "\(missing.count) of \(object.parts.count) parts of \(shown) are missing in \(output)"
                    + (request == nil ? "" : ", and the range counts what is there") + ": expected all of them")
        }
        if !hasRest { try requireNone(missing: object.problems.map(\.error)) }
        let decrypted: Range<UInt64>
        do {
            decrypted = try transfer(
                object, from: shown, to: output, request, windowByteCount: windowByteCount, threadCount: threadCount)
        } catch let failure as CommandFailure where hasRest && !playlistOptions.keepGoing && !object.problems.isEmpty {
            throw CommandFailure(failure.code, "\(failure.message) (--keep-going writes the rest)")
        }
        guard playlistOptions.keepGoing else {
            // What is wrong where nothing was read; an error has said the rest.
            for problem in opened.playlist.problems.prefix(10) { Terminal.warn("\(opened.name): \(problem)") }
            return
        }
        let parts = object.playlist.segments.map(\.problem) + object.playlist.initializationSections.map(\.problem)
        for problem in opened.playlist.problems.filter({ !parts.contains($0) }).prefix(10) {
            Terminal.warn("\(opened.name): \(problem)")
        }
        // What is missing before a range moves it, unless it is counted from the end.
        let isFromEnd = if case .suffix? = request { true } else { false }
        let missing = object.problems.filter { problem in
            let place = problem.range.lowerBound
            return (!isFromEnd || place > decrypted.lowerBound)
                && (place < decrypted.upperBound || decrypted.upperBound == object.plaintextByteCount)
        }
        try requireNone(missing: missing.map(\.error))
    }

    /// A media playlist, wherever it is from.
    private struct OpenedPlaylist {
        var playlist: MediaPlaylist
        /// What lies around it.
        let resources: any SegmentResources
        /// The keys that lie where its URIs say.
        let keys: any KeyProvider
        let name: String
        /// What belongs to it and is elsewhere.
        let notes: [String]
    }

    private func playlist(_ path: String, _ choice: VariantChoice, output: String) throws -> OpenedPlaylist {
        try network.refuse(path)
        let file = try attemptInput {
            try PlaylistFile(path: FilePath(path), root: playlistOptions.root.map { FilePath($0) }, choice: choice)
        }
        try refuseToReplace(file, input: path, output: output)
        return OpenedPlaylist(
            playlist: file.playlist, resources: file.resources, keys: PlaylistKeys(file.resources),
            name: file.path.string, notes: file.notes)
    }

    private func servedPlaylist(_ remoteObject: RemoteObject, _ choice: VariantChoice) throws -> OpenedPlaylist {
        if let root = playlistOptions.root {
            throw CommandFailure(.usage, "--root \(root): expected none with a URL")
        }
        let objects = try PlaylistObjects(around: remoteObject)
        let served = try attemptInput {
            try ServedPlaylist(url: remoteObject.url, choice: choice) { (request) throws(DecryptionError) in
                try objects.open(request)
            }
        }
        return OpenedPlaylist(
            playlist: served.playlist, resources: served.resources, keys: ServedKeys(served.resources),
            name: served.url.redacted, notes: served.notes)
    }

    /// Refuses an output that is the playlist, or what the playlist names: nothing could be decrypted again after it.
    private func refuseToReplace(_ file: PlaylistFile, input: String, output: String) throws {
        guard let replaced = WholeFile.identity(of: output) else { return }
        let playlist = file.playlist
        let uris = playlist.segments.map(\.uri) + playlist.initializationSections.map(\.uri) + playlist.keyURIs
        let paths = [input, file.path.string] + uris.compactMap { try? file.resources.path(for: $0).string }
        try require(
            !paths.contains(where: { WholeFile.identity(of: $0) == replaced }),
            "output \(output) belongs to the playlist: expected another file, for nothing could be read again")
    }
}

/// How a file's ciphertext is reached.
enum FileAccess: String, CaseIterable {
    /// Where the system keeps it.
    case mmap
    /// Copied, window by window.
    case pread

    /// Opens a file.
    func open(_ path: FilePath) throws(DecryptionError) -> any ByteSource {
        switch self {
        case .mmap: try MappedSource(path: path)
        case .pread: try FileSource(path: path)
        }
    }
}
