package import ArgumentParser
package import HLS
package import RandomAccess
import SystemPackage

/// Where the keys of playlists come from.
package struct PlaylistKeyOptions: ParsableArguments {
    /// The name of the strategy that is one of playlists.
    package static let strategyName = "hls-aes128"

    @Option(
        help: ArgumentHelp(
            "hls-aes128: the folder with the keys, each named like the end of its URI. (default: where the URIs say)",
            valueName: "folder"))
    package var keys: String?

    @Option(
        help: ArgumentHelp(
            "hls-aes128: a command that prints the 16 bytes of the key whose URI is added as its last argument.",
            valueName: "command"))
    package var keyCommand: String?

    @OptionGroup package var keyServer: KeyServerOptions

    package init() {}

    /// Refuses options that another strategy has no use for.
    package func refuse(with strategy: String) throws {
        try keyServer.refuse(with: strategy)
        for case (let name, let value?) in [("--keys", keys), ("--key-command", keyCommand)] {
            throw CommandFailure(.usage, "\(name) \(value): expected none with the strategy \(strategy)")
        }
    }

    /// Checks that keys are to come from one place.
    ///
    /// - Parameters:
    ///   - key: The key of all playlists, if there is one.
    ///   - isStrict: Whether key files, and a token, that others can read are refused.
    ///   - warn: Is called with each thing that is worth a warning, once.
    /// - Returns: What makes the keys of a playlist, given those that lie where its URIs say.
    /// - Throws: `CommandFailure`.
    package func rings(
        _ key: SecretKey?, isStrict: Bool, warn: @escaping @Sendable (KeyWarning) -> Void = { _ in }
    ) throws -> @Sendable (any KeyProvider) -> KeyRing {
        let server = try keyServer.command(isStrict: isStrict)
        guard [keys != nil, keyCommand != nil, server != nil, key != nil].count(where: { $0 }) <= 1 else {
            throw CommandFailure(
                .usage, "several places for keys: expected one of --keys, --key-command, --key-server and --key-file")
        }
        // It tries again for a minute, and its time is over before this one is.
        if let server {
            let name = "chunkwise key-client"
            return { _ in KeyRing(BatchCommandKeys(command: server, name: name, deadline: .seconds(90))) }
        }
        if let key { return { _ in KeyRing(HandlerKeys { _ in key }) } }
        if let keys {
            return { _ in KeyRing(FolderKeys(folder: FilePath(keys)), isStrict: isStrict, warn: warn) }
        }
        if let keyCommand {
            return { _ in KeyRing(CommandKeys(command: ["/bin/sh", "-c", keyCommand + " \"$1\"", "sh"])) }
        }
        return { KeyRing($0, isStrict: isStrict, warn: warn) }
    }
}
