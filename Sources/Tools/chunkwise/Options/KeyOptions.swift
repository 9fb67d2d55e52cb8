public import ArgumentParser
import ByteSources
import Glibc
import HLS
import RandomAccess
import SubjectProtocol
import Support
import SystemPackage

/// Where the key comes from.
struct KeyOptions: ParsableArguments {
    @Option(
        help: .taking(
            "file",
            "A file with the key: as many raw bytes as the strategy takes, or twice as many hexadecimal digits."),
        completion: .file())
    var keyFile: String?

    @Option(
        help: .taking(
            "encoding",
            "How the key stands in its file: needed for text that may be either. (default: by the length)"
        ))
    var keyEncoding: KeyEncoding?

    @Option(help: .taking("hex", "The key in hexadecimal. For tests: every process of this machine can read it."))
    var keyHex: String?

    @Flag(help: "Refuse a file with a key or a token that others than its owner can read, instead of a warning.")
    var strict = false

    init() {}

    /// Whether one of the options is there.
    var isGiven: Bool { keyFile != nil || keyHex != nil }

    /// True if an option says anything about a key.
    var isAnyGiven: Bool { isGiven || keyEncoding != nil }

    /// Reads the key.
    ///
    /// - Parameter layout: The strategy that it is for, which says the lengths.
    /// - Returns: The key.
    /// - Throws: `CommandFailure`.
    func key(for layout: StrategyOptions) throws -> SecretKey {
        try require(
            keyEncoding == nil || keyFile != nil, "--key-encoding: expected it with --key-file, which has the key")
        let byteCounts = try layout.keyByteCounts
        switch (keyFile, keyHex) {
        case (let file?, nil):
            let usual = Cipher.allCases.flatMap(\.keyByteCounts)
            if Hexadecimal.decode(file, allowsUpperCase: true) != nil,
                (usual + (byteCounts ?? [])).contains(file.utf8.count / 2)
            {
                throw CommandFailure(
                    .usage, "--key-file was given what looks like a key, not shown here: expected a file's name")
            }
            let form = KeyFile.Form(
                encoding: keyEncoding, byteCounts: byteCounts, choice: "--key-encoding hex or raw")
            return try attemptInput { try KeyFile.read(file, form, isStrict: strict) }
        case (nil, let hex?):
            Terminal.warn("--key-hex shows the key to every process; prefer --key-file")
            guard let bytes = Hexadecimal.decode(hex, allowsUpperCase: true) else {
                let digits = byteCounts.map { "\(KeyFile.text($0.map { $0 * 2 })) digits" }
                throw CommandFailure(
                    .usage, "--key-hex is not hexadecimal: expected \(digits ?? "an even number of digits")")
            }
            return try attempt("--key-hex") {
                if let byteCounts, !byteCounts.contains(bytes.count) {
                    throw DecryptionError.invalidKeyMaterial(
                        byteCount: bytes.count, expected: "\(KeyFile.text(byteCounts)), for \(layout.strategy)")
                }
                return try SecretKey(material: bytes)
            }
        case (nil, nil):
            throw CommandFailure(.usage, "no key: expected --key-file FILE")
        case (_?, _?):
            throw CommandFailure(.usage, "two keys: expected either --key-file or --key-hex")
        }
    }
}

extension KeyFile {
    /// Reads a key; that others can read its file is worth a warning.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - form: What is known of it.
    ///   - isStrict: Whether it is an error instead.
    ///   - program: What the warning begins with.
    /// - Returns: The key.
    /// - Throws: See `KeyFile.read(_:_:isShared:)`.
    static func read(
        _ path: String, _ form: Form = Form(), isStrict: Bool, program: String = "chunkwise"
    ) throws(DecryptionError) -> SecretKey {
        try read(path, form) { (permissions) throws(DecryptionError) in
            guard !isStrict else {
                throw .openToOthers(path: "key file \(path)", permissions: permissions, expected: 0o600)
            }
            let warning = KeyWarning.readableByOthers(path: path, permissions: permissions)
            Terminal.writeError("\(program): warning: \(warning)")
        }
    }
}

extension KeyEncoding: ExpressibleByArgument {}

extension CommandKeys {
    /// A command line of the user's, to which the key's URI is added as its last argument.
    init(shell line: String) { self.init(command: ["/bin/sh", "-c", line + " \"$1\"", "sh"]) }
}

/// Where the keys of playlists come from.
struct PlaylistKeyOptions: ParsableArguments {
    @Option(
        help: .taking(
            "folder",
            "hls-aes128: the folder with the keys, each named like the end of its URI. (default: where the URIs say)"))
    var keys: String?

    @Option(
        help: .taking(
            "command",
            "hls-aes128: a command that prints the 16 bytes of the key whose URI is added as its last argument."))
    var keyCommand: String?

    @Option(
        help: .taking("url", "hls-aes128: the URL of a server that has the keys, without credentials."))
    var keyServer: String?

    @Option(
        name: .customLong("key-server-token"),
        help: .taking("file", "A file with the token that the key server wants."), completion: .file())
    var tokenFile: String?

    @Option(
        name: .customLong("key-server-key"),
        help: .taking("hex", "The key server's own public key: 64 hexadecimal digits."))
    var publicKey: String?

    @Option(
        name: .customLong("key-server-ca"),
        help: .taking("file", "For the key server, trust the certificates in this PEM file, and no others."),
        completion: .file())
    var certificates: String?

    init() {}

    /// Refuses options that another strategy has no use for.
    func refuse(with strategy: String) throws {
        for case (let name, _?) in [("--key-server", keyServer)] + details {
            throw CommandFailure(.usage, "\(name): expected none with the strategy \(strategy)")
        }
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
    func rings(
        _ key: SecretKey?, isStrict: Bool, warn: @escaping @Sendable (KeyWarning) -> Void = { _ in }
    ) throws -> @Sendable (any KeyProvider) -> KeyRing {
        let server = try keyServerCommand(isStrict: isStrict)
        try require(
            [keys != nil, keyCommand != nil, server != nil, key != nil].count(where: { $0 }) <= 1,
            "several sources of keys: expected one of --keys, --key-command, --key-server and --key-file")
        // It tries again for a minute, and its time is over before this one is.
        if let server {
            let name = "chunkwise keys fetch"
            return { _ in
                KeyRing(
                    SchemeKeys(dataBefore: BatchCommandKeys(command: server, name: name, deadline: .seconds(90))))
            }
        }
        if let key { return { _ in KeyRing(HandlerKeys { _ in key }) } }
        if let keys {
            return { _ in
                KeyRing(SchemeKeys(dataBefore: FolderKeys(folder: FilePath(keys))), isStrict: isStrict, warn: warn)
            }
        }
        if let keyCommand {
            return { _ in KeyRing(SchemeKeys(dataBefore: CommandKeys(shell: keyCommand))) }
        }
        return { KeyRing(SchemeKeys(dataBefore: $0), isStrict: isStrict, warn: warn) }
    }
}

extension PlaylistKeyOptions {
    /// The command that asks the server for the key whose URI is its last argument, and prints the key's bytes: this
    /// program, in a process of its own.
    ///
    /// Tokens go through files: every process of a machine can read arguments.
    ///
    /// - Parameter isStrict: Whether a token is refused that others can read.
    /// - Returns: `nil` if no server is named.
    /// - Throws: `CommandFailure`.
    private func keyServerCommand(isStrict: Bool) throws -> [String]? {
        guard let keyServer else {
            for case (let name, _?) in details {
                throw CommandFailure(.usage, "\(name): expected --key-server beside it")
            }
            return nil
        }
        // Noticed here, and not with the first key; what may be a password is not shown.
        let authority = keyServer.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).dropFirst(2)
            .first
        guard let authority, !authority.prefix(while: { !"/?#".contains($0) }).contains("@") else {
            throw CommandFailure(
                .usage, "--key-server: expected a URL without user name and password (a token goes into a file)")
        }
        guard Network.isBuiltIn else { throw Network.missing("--key-server") }
        if isStrict, let tokenFile { _ = try SmallFile.text(tokenFile, "token file", isStrict: true) }
        let names = [
            "--key-server-token": "--token-file", "--key-server-key": "--server-key", "--key-server-ca": "--ca-file",
        ]
        let options = details.flatMap { name, value in value.map { [names[name] ?? name, $0] } ?? [] }
        return [Program.path, "keys", "fetch", "--server", keyServer] + options + (isStrict ? ["--strict"] : []) + [
            "--"
        ]
    }

    private var details: [(String, String?)] {
        [("--key-server-token", tokenFile), ("--key-server-key", publicKey), ("--key-server-ca", certificates)]
    }
}
