package import ArgumentParser
import Glibc

/// Which key server has the keys of playlists.
package struct KeyServerOptions: ParsableArguments {
    @Option(
        name: .customLong("key-server"),
        help: ArgumentHelp("hls-aes128: the URL of a server that has the keys, without credentials.", valueName: "url"))
    package var url: String?

    @Option(
        name: .customLong("key-server-token"),
        help: ArgumentHelp("A file with the token that the key server wants.", valueName: "file"), completion: .file())
    package var tokenFile: String?

    @Option(
        name: .customLong("key-server-key"),
        help: ArgumentHelp("The key server's own public key: 64 hexadecimal digits.", valueName: "hex"))
    package var publicKey: String?

    @Option(
        name: .customLong("key-server-ca"),
        help: ArgumentHelp(
            "For the key server, trust the certificates in this PEM file, and no others.", valueName: "file"),
        completion: .file())
    package var certificates: String?

    package init() {}

    /// Refuses options that have no use.
    package func refuse(with strategy: String) throws {
        for case (let name, _?) in [("--key-server", url)] + details {
            throw CommandFailure(.usage, "\(name): expected none with the strategy \(strategy)")
        }
    }

    /// The program that asks the server for the key whose URI is its last argument, and prints the key's bytes.
    ///
    /// It lies beside this one, which carries no HTTP client. Tokens go through files: every process of a machine can
    /// read arguments.
    ///
    /// - Parameter isStrict: Whether a token is refused that others can read.
    /// - Returns: `nil` if no server is named.
    /// - Throws: `CommandFailure`.
    package func command(isStrict: Bool) throws -> [String]? {
        guard let url else {
            for case (let name, _?) in details {
                throw CommandFailure(.usage, "\(name): expected --key-server beside it")
            }
            return nil
        }
        // Nobody should find out by asking for the first key; and what may be a password is shown to nobody.
        let authority = url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).dropFirst(2).first
        guard let authority, !authority.prefix(while: { !"/?#".contains($0) }).contains("@") else {
            throw CommandFailure(
                .usage, "--key-server: expected a URL without user name and password (a token goes into a file)")
        }
        let name = "chunkwise-key-client"
        guard access(RunningProgram.sibling(name), X_OK) == 0 else { throw RunningProgram.failure(toStart: name) }
        if isStrict, let tokenFile { _ = try SmallFile.text(tokenFile, "token file", isStrict: true) }
        let names = [
            "--key-server-token": "--token-file", "--key-server-key": "--server-key", "--key-server-ca": "--ca-file",
        ]
        let options = details.flatMap { name, value in value.map { [names[name] ?? name, $0] } ?? [] }
        return [RunningProgram.sibling(name), "fetch", "--server", url] + options + (isStrict ? ["--strict"] : []) + [
            "--"
        ]
    }

    private var details: [(String, String?)] {
        [("--key-server-token", tokenFile), ("--key-server-key", publicKey), ("--key-server-ca", certificates)]
    }
}
