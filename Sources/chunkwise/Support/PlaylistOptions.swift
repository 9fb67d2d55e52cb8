import ArgumentParser
import CommandOptions
import HLS
import RandomAccess
import SystemPackage
import Transfer

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
    func ring(_ keyOptions: KeyOptions, beside resources: FolderResources) throws -> KeyRing {
        try keyPlaces.rings(keyOptions.isGiven ? keyOptions.key() : nil)(resources)
    }
}

extension DecryptCommand {
    /// Decrypts the segments of a playlist, or a range of them.
    func decryptPlaylist(_ request: RangeRequest?, windowByteCount: Int, threadCount: Int) throws {
        try layout.refuseParameters()
        if let iv = ivOptions.iv {
            throw CommandFailure(.usage, "--iv \(iv): expected none with the strategy \(layout.strategy)")
        }
        let cipher = try Validated.backend(backend)
        let choice = playlistOptions.variant.map { VariantChoice.index($0) } ?? .highestBandwidth
        let file = try attemptInput {
            try PlaylistFile(
                path: FilePath(input), root: playlistOptions.root.map { FilePath($0) }, choice: choice)
        }
        let ring = try playlistOptions.ring(keyOptions, beside: file.resources)
        let object = try attempt(input) {
            try HLSObject(playlist: file.playlist, resources: file.resources, keys: ring, backend: cipher)
        }
        for warning in ring.warnings { warn("\(warning)") }
        try transfer(object, request, windowByteCount: windowByteCount, threadCount: threadCount)
        // What is wrong where nothing was read; an error has said the rest.
        for problem in file.playlist.problems.prefix(10) { warn("\(file.path): \(problem)") }
    }

    private func warn(_ text: String) {
        Terminal.writeError("chunkwise: warning: \(text)")
    }
}
