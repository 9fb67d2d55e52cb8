import ArgumentParser
import ByteSources
import CommandOptions
import Glibc
import HLS
import RandomAccess
import SystemPackage

/// What the strategy hls-aes128 needs, whose input is a playlist.
struct PlaylistOptions: ParsableArguments {
    @OptionGroup var keyPlaces: PlaylistKeyOptions

    @Option(
        help: ArgumentHelp(
            "hls-aes128: the folder that nothing in the playlist may lead out of.", valueName: "folder"))
    var root: String?

    @Option(
        help: ArgumentHelp(
            "hls-aes128: which variant of a master playlist, from 0. (default: that of the highest bandwidth)",
            valueName: "number"))
    var variant: Int?

    /// Refuses options that another strategy has no use for.
    func refuse(with strategy: String) throws {
        try keyPlaces.refuse(with: strategy)
        for case (let name, let value?) in [("--root", root), ("--variant", variant.map { "\($0)" })] {
            throw CommandFailure(.usage, "\(name) \(value): expected none with the strategy \(strategy)")
        }
    }

    /// Where keys come from.
    ///
    /// - Parameters:
    ///   - keyOptions: The key of the whole playlist, if there is one.
    ///   - inPlace: The keys that lie where the URIs say.
    /// - Returns: The keys.
    /// - Throws: `CommandFailure`.
    func ring(_ keyOptions: KeyOptions, or inPlace: any KeyProvider) throws -> KeyRing {
        try keyPlaces.rings(keyOptions.isGiven ? keyOptions.key() : nil, isStrict: keyOptions.strict)(inPlace)
    }
}

extension DecryptCommand {
    /// Decrypts the segments of a playlist, or a range of them.
    ///
    /// - Parameters:
    ///   - input: The playlist as it was named.
    ///   - place: Where it is on a server; `nil` for a file.
    ///   - output: Where the plaintext goes.
    ///   - request: Which part of it; `nil` for all.
    ///   - windowByteCount: How much is decrypted in one step.
    ///   - threadCount: How many threads do that.
    /// - Throws: `CommandFailure`.
    func decryptPlaylist(
        _ input: String, at place: RemoteObject?, to output: String, _ request: RangeRequest?, windowByteCount: Int,
        threadCount: Int
    ) throws {
        try layout.refuseParameters()
        if let iv = ivOptions.iv {
            throw CommandFailure(.usage, "--iv \(iv): expected none with the strategy \(layout.strategy)")
        }
        let cipher = try Validated.backend(backend)
        let choice = playlistOptions.variant.map { VariantChoice.index($0) } ?? .highestBandwidth
        let opened =
            if let place { try servedPlaylist(place, choice) } else { try playlist(input, choice, output: output) }
        let ring = try playlistOptions.ring(keyOptions, or: opened.keys)
        let shown = shownName(input)
        let object = try attempt(shown) {
            try HLSObject(playlist: opened.playlist, resources: opened.resources, keys: ring, backend: cipher)
        }
        for warning in ring.warnings { warn("\(warning)") }
        try transfer(
            object, from: shown, to: output, request, windowByteCount: windowByteCount, threadCount: threadCount)
        // What is wrong where nothing was read; an error has said the rest.
        for problem in opened.playlist.problems.prefix(10) { warn("\(opened.name): \(problem)") }
    }

    /// A media playlist, wherever it is from.
    private struct OpenedPlaylist {
        let playlist: MediaPlaylist
        /// What lies around it.
        let resources: any SegmentResources
        /// The keys that lie where its URIs say.
        let keys: any KeyProvider
        let name: String
    }

    private func playlist(_ path: String, _ choice: VariantChoice, output: String) throws -> OpenedPlaylist {
        try network.refuse(path)
        let file = try attemptInput {
            try PlaylistFile(path: FilePath(path), root: playlistOptions.root.map { FilePath($0) }, choice: choice)
        }
        try refuseToReplace(file, input: path, output: output)
        return OpenedPlaylist(
            playlist: file.playlist, resources: file.resources, keys: PlaylistKeys(file.resources),
            name: file.path.string)
    }

    private func servedPlaylist(_ place: RemoteObject, _ choice: VariantChoice) throws -> OpenedPlaylist {
        if let root = playlistOptions.root {
            throw CommandFailure(.usage, "--root \(root): expected none with a URL")
        }
        let objects = try PlaylistObjects(around: place)
        let served = try attemptInput {
            try ServedPlaylist(url: place.url, choice: choice) { (request) throws(DecryptionError) in
                try objects.open(request)
            }
        }
        return OpenedPlaylist(
            playlist: served.playlist, resources: served.resources, keys: ServedKeys(served.resources),
            name: served.url.shown)
    }

    /// Refuses an output that is the playlist, or what the playlist names: nothing could be decrypted again after it.
    private func refuseToReplace(_ file: PlaylistFile, input: String, output: String) throws {
        guard let replaced = Self.identity(of: output) else { return }
        let playlist = file.playlist
        let uris = playlist.segments.map(\.uri) + playlist.initializationSections.map(\.uri) + playlist.keyURIs
        let paths = [input, file.path.string] + uris.compactMap { try? file.resources.path(for: $0).string }
        guard !paths.contains(where: { Self.identity(of: $0) == replaced }) else {
            throw CommandFailure(
                .usage,
                "output \(output) belongs to the playlist: expected another file, for nothing could be read again")
        }
    }

    /// What tells a file from others, whatever it is called; `nil` if there is none. The corresponding C function is
    /// `stat`.
    private static func identity(of path: String) -> [UInt64]? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return [UInt64(status.st_dev), UInt64(status.st_ino)]
    }

    private func warn(_ text: String) {
        Terminal.writeError("chunkwise: warning: \(text)")
    }
}
