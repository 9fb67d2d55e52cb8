public import ArgumentParser
import ByteSources
import Glibc
import HLS
import RandomAccess
import SubjectProtocol
import Support
import SystemPackage

/// The options for the key.
struct KeyOptions: ParsableArguments {
    @Option(
        help: .taking(
            "file",
            """
            A file with the key, as raw bytes or as hexadecimal digits, of the strategy's key length. For films with \
            several keys, a text with a line KID:KEY for each.
            """),
        completion: .file())
    var keyFile: String?

    @Option(
        help: .taking(
            "encoding",
            "The encoding of the key in its file. Needed if the length fits both encodings. (default: by the length)"
        ))
    var keyEncoding: KeyEncoding?

    @Option(help: .taking("hex", "The key in hexadecimal. Only for tests: every process on this machine can read it."))
    var keyHex: String?

    @Flag(help: "Refuse a file with a key or a token that users other than its owner can read, instead of warning.")
    var strict = false

    init() {}

    /// True if the user gives a key.
    var isGiven: Bool { keyFile != nil || keyHex != nil }

    /// True if the user gives any option about a key.
    var isAnyGiven: Bool { isGiven || keyEncoding != nil }

    /// Reads the key.
    ///
    /// - Parameter layout: The strategy of the key. It determines the possible lengths.
    /// - Returns: The key.
    /// - Throws: `CommandFailure`.
    func key(for layout: StrategyOptions) throws -> SecretKey {
        let keys = try keys(for: layout)
        return try attemptInput { () throws(DecryptionError) in try keys.single(for: layout.strategy) }
    }

    /// Reads the key, or the keys of films.
    ///
    /// - Parameter layout: The strategy of the keys.
    /// - Returns: The key or the keys.
    /// - Throws: `CommandFailure`.
    func keys(for layout: StrategyOptions) throws -> KeySet {
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
            return try attemptInput {
                guard layout.list == .film || layout.list == .pieces else {
                    return .one(try KeyFile.read(file, form, isStrict: strict))
                }
                return try KeyFile.readKeys(file, form, isStrict: strict)
            }
        case (nil, let hex?):
            Terminal.warn("--key-hex shows the key to every process; prefer --key-file")
            guard let bytes = Hexadecimal.decode(hex, allowsUpperCase: true) else {
                let digits = byteCounts.map { "\($0.map { $0 * 2 }.listed("or")) digits" }
                throw CommandFailure(
                    .usage, "--key-hex is not hexadecimal: expected \(digits ?? "an even number of digits")")
            }
            return try attempt("--key-hex") {
                if let byteCounts, !byteCounts.contains(bytes.count) {
                    throw DecryptionError.invalidKeyMaterial(
                        byteCount: bytes.count, expected: "\(byteCounts.listed("or")), for \(layout.strategy)")
                }
                return .one(try SecretKey(material: bytes))
            }
        case (nil, nil):
            throw CommandFailure(.usage, "no key: expected --key-file FILE")
        case (_?, _?):
            throw CommandFailure(.usage, "two keys: expected either --key-file or --key-hex")
        }
    }
}

extension KeyFile {
    /// Reads a key, and warns if others can read its file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - form: The expected encoding and lengths.
    ///   - isStrict: True to throw an error instead of warning.
    ///   - program: The name of the program, for the start of the warning.
    /// - Returns: The key.
    /// - Throws: See `KeyFile.read(_:_:isShared:)`.
    static func read(
        _ path: String, _ form: Form = Form(), isStrict: Bool, program: String = "chunkwise"
    ) throws(DecryptionError) -> SecretKey {
        try read(path, form) { (permissions) throws(DecryptionError) in
            try warn(path, permissions, isStrict: isStrict, program: program)
        }
    }

    /// Reads a key or several, and warns if others can read their file.
    ///
    /// - Throws: See `KeyFile.readKeys(_:_:isShared:)`.
    static func readKeys(_ path: String, _ form: Form, isStrict: Bool) throws(DecryptionError) -> KeySet {
        try readKeys(path, form) { (permissions) throws(DecryptionError) in
            try warn(path, permissions, isStrict: isStrict, program: "chunkwise")
        }
    }

    private static func warn(
        _ path: String, _ permissions: UInt32, isStrict: Bool, program: String
    ) throws(DecryptionError) {
        guard !isStrict else {
            throw .openToOthers(path: "key file \(path)", permissions: permissions, expected: 0o600)
        }
        let warning = KeyWarning.readableByOthers(path: path, permissions: permissions)
        Terminal.writeError("\(program): warning: \(warning)")
    }
}

extension KeyEncoding: ExpressibleByArgument {}

extension CommandKeys {
    /// The keys that a user's command line prints. It gets the key's URI as its last argument.
    init(shell line: String) { self.init(command: ["/bin/sh", "-c", line + " \"$1\"", "sh"]) }
}

/// The options for the keys of playlists.
struct PlaylistKeyOptions: ParsableArguments {
    @Option(
        help: .taking(
            "folder",
            "hls-aes128: a folder with the keys, each named after the last part of its URI. (default: at their URIs)"))
    var keys: String?

    @Option(
        help: .taking(
            "command",
            "hls-aes128: a command that prints the 16 bytes of a key. It gets the key's URI as its last argument."))
    var keyCommand: String?

    @Option(
        help: .taking("url", "hls-aes128: the URL of a key server, without credentials."))
    var keyServer: String?

    @Option(
        name: .customLong("key-server-token"),
        help: .taking("file", "A file with the token for the key server."), completion: .file())
    var tokenFile: String?

    @Option(
        name: .customLong("key-server-key"),
        help: .taking("hex", "The public key of the key server: 64 hexadecimal digits."))
    var publicKey: String?

    @Option(
        name: .customLong("key-server-ca"),
        help: .taking("file", "For the key server, trust only the certificates in this PEM file."),
        completion: .file())
    var certificates: String?

    init() {}

    /// Refuses options that do not apply to a strategy.
    func refuse(with strategy: String) throws {
        for case (let name, _?) in [("--key-server", keyServer)] + details {
            throw CommandFailure(.usage, "\(name): expected none with the strategy \(strategy)")
        }
        for case (let name, let value?) in [("--keys", keys), ("--key-command", keyCommand)] {
            throw CommandFailure(.usage, "\(name) \(value): expected none with the strategy \(strategy)")
        }
    }

    /// Returns a function that makes the key ring of a playlist from the provider of the keys at its URIs.
    ///
    /// - Parameters:
    ///   - key: The key of all playlists, if there is one.
    ///   - isStrict: True to refuse key files and a token file that others can read.
    ///   - warn: A function that is called once with each warning.
    /// - Returns: The function.
    /// - Throws: `CommandFailure`, also if the options name several sources of keys.
    func rings(
        _ key: SecretKey?, isStrict: Bool, warn: @escaping @Sendable (KeyWarning) -> Void = { _ in }
    ) throws -> @Sendable (any KeyProvider) -> KeyRing {
        let server = try keyServerCommand(isStrict: isStrict)
        try require(
            [keys != nil, keyCommand != nil, server != nil, key != nil].count(where: { $0 }) <= 1,
            "several sources of keys: expected one of --keys, --key-command, --key-server and --key-file")
        // The command retries for a minute, so that its own deadline ends before this one.
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
    /// The command that requests a key from the server and prints the key's bytes. It is this program, in another
    /// process, and gets the key's URI as its last argument.
    ///
    /// Tokens are passed in files, because every process on a machine can read arguments.
    ///
    /// - Parameter isStrict: True to refuse a token file that others can read.
    /// - Returns: `nil` if no server is named.
    /// - Throws: `CommandFailure`.
    private func keyServerCommand(isStrict: Bool) throws -> [String]? {
        guard let keyServer else {
            for case (let name, _?) in details {
                throw CommandFailure(.usage, "\(name): expected --key-server beside it")
            }
            return nil
        }
        // Checked here, before the first key is needed. The message does not show what may be a password.
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
