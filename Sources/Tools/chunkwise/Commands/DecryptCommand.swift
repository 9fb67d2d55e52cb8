import ArgumentParser
import BackendRegistry
import ByteSources
import Glibc
import HLS
import Measurement
import RandomAccess
import SubjectProtocol
import Support
import SystemPackage

/// `chunkwise decrypt`
struct DecryptCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decrypt",
        abstract: "Decrypts a file, or a range of it.",
        discussion: helpText(
            """
            The output file gets its name only when it is complete.

            EXAMPLES
              chunkwise decrypt --key-file k film.enc film.mp4
              chunkwise decrypt --key-file k film.enc - --range 1000000-1000999
              chunkwise decrypt --key-file k --strategy cbc-chunked:chunk=16MB film.enc film.mp4
              chunkwise decrypt --strategy hls-aes128 --keys folder film.m3u8 film.ts
              chunkwise decrypt --strategy hls-aes128 --keep-going damaged.m3u8 rest.ts
              chunkwise decrypt --key-file k --strategy pieces parts.yml film.mp4
              chunkwise decrypt --key-file keys --strategy film --init init.mp4 segment7.m4s clear7.m4s
              chunkwise decrypt --key-file k https://example.org/film.enc film.mp4
              chunkwise decrypt --strategy hls-aes128 https://example.org/film.m3u8 film.ts
              openssl enc -aes-128-cbc -K $KEY -iv $IV -in a -out a.enc   is what the default strategy reads

            EXIT CODES
              0 decrypted; 1 pieces are missing, with --keep-going; 64 usage; 65 the ciphertext, the key or the range is
              wrong; 66 a file is missing; 74 I/O
            """))

    @OptionGroup var layout: StrategyOptions
    @OptionGroup var ivOptions: IVOptions
    @OptionGroup var ciphertext: CiphertextOptions
    @OptionGroup var keyOptions: KeyOptions
    @OptionGroup var playlistKeys: PlaylistKeyOptions
    @OptionGroup var ranges: ByteRangeOptions
    @OptionGroup var playlistOptions: PlaylistOptions
    @OptionGroup var filmOptions: FilmOptions

    @OptionGroup var backendOptions: BackendOptions

    @Option(
        help: .taking("size", "The number of plaintext bytes that a thread decrypts in one step. (default: 256KiB)"),
        completion: .sizes, transform: ByteSize.argument)
    var window = ByteSize(256 << 10)

    @Option(help: "The number of threads that decrypt windows in parallel.")
    var threads = 1

    @Option(
        help: .taking(
            "source",
            """
            The way to read the file, pread or mmap; or the URL of an object on a server, instead of a file. (default: \
            pread)
            """))
    var source: String?

    @OptionGroup var tls: TLSOptions
    @OptionGroup var networkOptions: NetworkOptions

    @Option(
        parsing: .unconditional,
        help: .taking("range", "The plaintext to decrypt, as in HTTP: A-B (inclusive), A-, or -N for the last N."))
    var range: String?

    @Argument(help: "The encrypted file, or its URL; omitted if --source is a URL.", completion: .file())
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
        try OutputFile.requireOther(
            output, than: [("the key", keyOptions.keyFile), ("the description", layout.descriptionPath)])
        let windowByteCount = try Validated.window(window)
        let threadCount = try Validated.threads(threads, window: window)
        var request: RangeRequest?
        if let range {
            request = RangeRequest(range)
            if request == nil {
                throw CommandFailure(.usage, "--range \"\(range)\": expected A-B with A not above B, A-, or -N")
            }
        }
        let filmStart = try filmOptions.start(with: layout)
        if let list = try openedList(input, filmStart, at: remoteObject, output: output) {
            return try decrypt(
                list, from: redactedName(input), to: output, request, windowByteCount: windowByteCount,
                threadCount: threadCount)
        }
        try playlistKeys.refuse(with: layout.strategy)
        try ranges.refuse(with: layout.strategy)
        try playlistOptions.refuse(with: layout.strategy)
        let file = remoteObject == nil ? input : nil
        try OutputFile.requireOther(
            output,
            than: [("the input", file), ("the input's IV", file.map { IVFile.path(of: FilePath($0)).string })])
        let strategy = try layout.strategy(ivOptions, keyOptions) { iv in
            if let remoteObject { return try IVOptions.bytes(beside: remoteObject, of: iv) }
            return try IVOptions.bytes(beside: input, of: iv)
        }
        let key = try keyOptions.key(for: layout)
        let cipher = try backendOptions.backend(for: strategy, key)
        // A mapping saves a copy and costs page faults, which are many if the file was written in small pieces.
        let access = try access() ?? .pread
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

    /// A file's name, or a URL without its secrets.
    func redactedName(_ input: String) -> String { URLText.isURL(input) ? URLText.redacted(input) : input }

    /// Refuses URLs that this program cannot read.
    private func requireReadable(_ url: String) throws {
        try require(
            RemoteObject.isURL(url),
            "\(URLText.redacted(url)): expected a file, or a URL that begins with https:// or http://")
    }

    /// The names of the input and the output.
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

    /// The file access that `--source` names; `nil` if it names none.
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

    /// Decrypts the requested range of an open object.
    ///
    /// - Returns: The range of the plaintext that was decrypted.
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

/// Strategies whose file is a list of pieces instead of the object.
extension DecryptCommand {
    /// The pieces of a list, from a file or a server.
    private struct OpenedList {
        let object: CompositeObject
        /// The faults of the list itself, without those of its pieces.
        var remarks: [String] = []
    }

    /// Opens the file as a list if the strategy has one; `nil` if the file is the object.
    private func openedList(
        _ input: String, _ filmStart: FilePath?, at remoteObject: RemoteObject?, output: String
    ) throws -> OpenedList? {
        guard let list = layout.list else { return nil }
        try layout.refuseParameters()
        try ciphertext.refuse(with: "the strategy \(layout.strategy)")
        if let iv = ivOptions.iv {
            throw CommandFailure(.usage, "--iv \(iv): expected none with the strategy \(layout.strategy)")
        }
        let cipher = try backendOptions.backend()
        let keys = keyOptions.isGiven ? try keyOptions.keys(for: layout) : nil
        if list == .playlist {
            let key = try attemptInput { () throws(DecryptionError) in try keys?.single(for: layout.strategy) }
            return try openedPlaylist(input, at: remoteObject, output: output, cipher, key)
        }
        try playlistKeys.refuse(with: layout.strategy)
        try ranges.refuse(with: layout.strategy)
        try playlistOptions.refuse(with: layout.strategy, isList: true)
        try require(remoteObject == nil, "\(redactedName(input)): expected a file with --strategy \(layout.strategy)")
        try network.refuse(input)
        let pieces = try attemptInput {
            try PieceFile(list, path: FilePath(input), start: filmStart, keys: keys, isStrict: keyOptions.strict)
        }
        try refuseToReplace(pieces.paths.map(\.string), output: output)
        return OpenedList(
            object: CompositeObject(pieces, backend: cipher, leavesOutBroken: playlistOptions.keepGoing))
    }

    /// Decrypts the pieces of a list, or a range of them.
    ///
    /// - Parameters:
    ///   - list: The list.
    ///   - shown: Its name in messages.
    ///   - output: The file for the plaintext.
    ///   - request: The range to decrypt; `nil` for all.
    ///   - windowByteCount: The number of plaintext bytes to decrypt in one step.
    ///   - threadCount: The number of threads.
    /// - Throws: `CommandFailure`.
    private func decrypt(
        _ list: OpenedList, from shown: String, to output: String, _ request: RangeRequest?, windowByteCount: Int,
        threadCount: Int
    ) throws {
        let object = list.object
        let hasRest = object.problems.count < object.list.count
        if !hasRest, !playlistOptions.keepGoing { try attempt(shown) { try object.requireAll() } }
        func requireNone(missing: [DecryptionError]) throws {
            for error in missing { Terminal.warn("missing: \(error)") }
            try require(
                missing.isEmpty, .no,
                "\(missing.count) of \(object.list.count) parts of \(shown) are missing in \(output)"
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
        for remark in list.remarks.prefix(10) { Terminal.warn(remark) }
        guard playlistOptions.keepGoing else { return }
        // A missing piece before a range shifts the range, unless the range counts from the end.
        let isFromEnd = if case .suffix? = request { true } else { false }
        let missing = object.problems.filter { problem in
            let place = problem.range.lowerBound
            return (!isFromEnd || place > decrypted.lowerBound)
                && (place < decrypted.upperBound || decrypted.upperBound == object.plaintextByteCount)
        }
        try requireNone(missing: missing.map(\.error))
    }

    /// Refuses an output that is also an input: overwriting it would lose the ciphertext.
    private func refuseToReplace(_ paths: [String], output: String) throws {
        guard let replaced = OutputFile.identity(of: output) else { return }
        try require(
            !paths.contains(where: { OutputFile.identity(of: $0) == replaced }),
            "output \(output) belongs to the \(layout.isPlaylist ? "playlist" : layout.strategy): expected another "
                + "file, for nothing could be read again")
    }
}

/// Playlists.
extension DecryptCommand {
    /// A media playlist, from a file or a server.
    private struct OpenedPlaylist {
        var playlist: MediaPlaylist
        /// The files that its URIs name.
        let resources: any SegmentResources
        /// The keys at its key URIs.
        let keys: any KeyProvider
        let name: String
        /// The renditions that belong to it but have playlists of their own.
        let notes: [String]
    }

    private func openedPlaylist(
        _ input: String, at remoteObject: RemoteObject?, output: String, _ cipher: any CipherBackend, _ key: SecretKey?
    ) throws -> OpenedList {
        let choice = playlistOptions.variant.map { VariantChoice.index($0) } ?? .highestBandwidth
        let opened =
            if let remoteObject { try servedPlaylist(remoteObject, choice) } else {
                try playlist(input, choice, output: output)
            }
        let playlist = opened.playlist.reading(ranges.readings)
        let ring = try playlistKeys.rings(key, isStrict: keyOptions.strict)(opened.keys)
        let object = try attempt(redactedName(input)) {
            try HLSObject(
                playlist: playlist, resources: opened.resources, keys: ring, backend: cipher,
                leavesOutBroken: playlistOptions.keepGoing)
        }
        for warning in ring.warnings { Terminal.warn("\(warning)") }
        for note in opened.notes { Terminal.warn("\(redactedName(input)): \(note)") }
        // Problems in parts that nothing read. Errors, or the list of missing pieces, report the others.
        let told =
            playlistOptions.keepGoing
            ? playlist.segments.map(\.problem) + playlist.initializationSections.map(\.problem) : []
        let remarks = playlist.problems.filter { !told.contains($0) }.map { "\(opened.name): \($0)" }
        return OpenedList(object: object.pieces, remarks: remarks)
    }

    private func playlist(_ path: String, _ choice: VariantChoice, output: String) throws -> OpenedPlaylist {
        try network.refuse(path)
        let file = try attemptInput {
            try PlaylistFile(path: FilePath(path), root: playlistOptions.root.map { FilePath($0) }, choice: choice)
        }
        let uris =
            file.playlist.segments.map(\.uri) + file.playlist.initializationSections.map(\.uri) + file.playlist.keyURIs
        try refuseToReplace(
            [path, file.path.string] + uris.compactMap { try? file.resources.path(for: $0).string }, output: output)
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
}

extension PieceFile {
    /// Opens a film, or reads a document of pieces. Warns of key files that others can read, unless `isAgain` says that
    /// the warning was given before.
    convenience init(
        _ list: ListStrategy, path: FilePath, start: FilePath?, keys: KeySet?, isStrict: Bool, isAgain: Bool = false
    ) throws(DecryptionError) {
        guard list == .pieces else {
            try self.init(film: path, start: start, key: keys)
            return
        }
        try self.init(
            path: path, key: keys,
            strategy: { (text, iv) throws(DecryptionError) in try Strategy(text: text, iv: iv) },
            readKey: { (path, byteCounts) throws(DecryptionError) in
                let form = KeyFile.Form(byteCounts: byteCounts)
                guard isAgain, !isStrict else { return try KeyFile.readKeys(path.string, form, isStrict: isStrict) }
                return try KeyFile.readKeys(path.string, form)
            })
    }
}

/// The way to read a file's ciphertext.
enum FileAccess: String, CaseIterable {
    /// Mapped into memory.
    case mmap
    /// Copied window by window.
    case pread

    /// Opens a file.
    func open(_ path: FilePath) throws(DecryptionError) -> any ByteSource {
        switch self {
        case .mmap: try MappedSource(path: path)
        case .pread: try FileSource(path: path)
        }
    }
}
