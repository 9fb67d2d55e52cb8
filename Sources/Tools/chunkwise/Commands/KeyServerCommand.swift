#if Network
import ArgumentParser
import ByteSources
import Glibc
import HLS
import Keys
import RandomAccess
import Server
import Support
import SystemPackage

/// `chunkwise key-server`
struct KeyServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key-server",
        abstract: "Answers requests for keys, each sealed to a key that its client made for it.",
        discussion: helpText(
            """
            Keys are files of 16 bytes in a folder, each named like the end of its URI, or what a command prints. They
            travel sealed (HPKE, RFC 9180) and are written nowhere. Each key that is asked for is a line of the audit,
            which has everything but the key; so is each request that is refused as a whole, with the reason as its
            result: unauthorized, malformed, limited, replayed, untimely or overloaded. KEY-PROTOCOL.md has the
            messages, so that any client can be written.

            The server proves itself by a certificate, by a key of its own (--identity, 32 random bytes, of which
            clients know the public half that is printed), or by both. Without a certificate it listens on this machine
            only. A token is printed, or --clients names who has which: lines with a name, a token of at least 16
            characters, and beginnings of the identifiers that the client may have, if not all. SIGINT or SIGTERM ends
            the server.

            No request is answered twice: the server remembers their numbers for as long as they could come again, at
            most 500,000 in ten minutes (833 a second). What is more is answered with 503, since it could not be told
            from a repetition. There is no option for it: put several servers side by side, each with clients of its
            own.

            EXAMPLES
              chunkwise key-server --keys keys
              chunkwise key-server --keys keys --bind 0.0.0.0 --tls-certificate chain.pem --tls-key key.pem
              chunkwise key-server --keys keys --clients clients --audit audit.jsonl --validity 3600
            """))

    @Option(help: ArgumentHelp("The folder with the keys, each named like the end of its URI.", valueName: "folder"))
    var keys: String?

    @Option(
        help: ArgumentHelp(
            "A command that prints the 16 bytes of the key whose URI is added as its last argument.",
            valueName: "command"))
    var keyCommand: String?

    @Flag(help: "Refuse files with keys or tokens that others can read, instead of a warning.")
    var strict = false

    @Option(help: ArgumentHelp("The address to listen on.", valueName: "address"))
    var bind = "127.0.0.1"

    @Option(help: "The port, or 0 for any that is free.")
    var port = 8081

    @Option(help: ArgumentHelp("The server's certificate and those between it and a root, PEM.", valueName: "file"))
    var tlsCertificate: String?

    @Option(help: ArgumentHelp("The certificate's private key, PEM.", valueName: "file"))
    var tlsKey: String?

    @Option(
        help: ArgumentHelp(
            "The server's own X25519 private key: 32 raw bytes, or 64 hexadecimal digits.", valueName: "file"))
    var identity: String?

    @Option(help: ArgumentHelp("Who has which token. (default: one token, which is printed)", valueName: "file"))
    var clients: String?

    @Flag(help: "Serve everyone who can connect.")
    var noToken = false

    @Option(help: ArgumentHelp("Where lines of the audit are added. (default: standard error)", valueName: "file"))
    var audit: String?

    @Option(help: ArgumentHelp("Seconds that online keys may be used. (default: no limit)", valueName: "s"))
    var validity: Double?

    @Option(
        help: ArgumentHelp("Seconds that a stored key may be kept unused. (default: none is stored)", valueName: "s"))
    var storage: Double?

    @Option(help: ArgumentHelp("Seconds that a stored key may be used from its first use on.", valueName: "s"))
    var playback: Double?

    @Option(help: ArgumentHelp("The most keys of one client a second.", valueName: "count"))
    var rate = 100.0

    @Option(help: ArgumentHelp("The most keys of one client at once.", valueName: "count"))
    var burst = 200

    @Option(help: ArgumentHelp("Seconds after its request that an answer may be opened.", valueName: "s"))
    var answerSeconds = 60.0

    @Option(help: ArgumentHelp("Milliseconds that each answer is held back, for measurements.", valueName: "ms"))
    var delay = 0.0

    @Option(help: ArgumentHelp("The most connections at once.", valueName: "count"))
    var maxConnections = 256

    func run() async throws {
        Listening.prepare()
        var server = KeyServer(provider: try provider(), clients: .everyone, audit: try auditing())
        let token = try admit(&server)
        try prove(&server)
        try limit(&server)
        server.isStrict = strict
        server.report = { Terminal.writeError("chunkwise key-server: \($0)") }
        let (host, scheme) = (bind, server.certificate == nil ? "http" : "https")
        let publicKey = server.identity.map { Hexadecimal.encode($0.publicKey) }
        try await Listening.run {
            try await server.run(host: host, port: port) { port in
                print("keys on \(scheme)://\(Listening.authority(host, port))\(KeyServer.path)")
                if let token { print("token: \(token.text)") }
                if let publicKey { print("server key: \(publicKey)") }
                fflush(nil)
            }
        }
    }

    private func provider() throws -> any KeyProvider {
        switch (keys, keyCommand) {
        case (let folder?, nil):
            guard let stream = opendir(folder) else {
                throw CommandFailure(.missingInput, "--keys \(folder): \(String(cString: strerror(errno)))")
            }
            closedir(stream)
            return FolderKeys(folder: FilePath(folder))
        case (nil, let command?): return CommandKeys(shell: command)
        case (nil, nil): throw CommandFailure(.usage, "no keys: expected --keys FOLDER or --key-command COMMAND")
        case (_?, _?): throw CommandFailure(.usage, "two sources of keys: expected either --keys or --key-command")
        }
    }

    private func auditing() throws -> KeyAudit {
        guard let audit else {
            return KeyAudit { line in
                line.split(separator: "\n").forEach { Terminal.writeError(String($0)) }
                return true
            }
        }
        do {
            return try KeyAudit(path: FilePath(audit))
        } catch {
            throw CommandFailure(.io, "open the audit \(audit): \(error)")
        }
    }

    /// Says who may ask.
    ///
    /// - Returns: The token to print, if there is one.
    private func admit(_ server: inout KeyServer) throws -> AccessToken? {
        if let clients {
            guard !noToken else {
                throw CommandFailure(.usage, "--no-token and --clients \(clients): expected one of them")
            }
            let text = try SmallFile.text(clients, "clients", isStrict: strict)
            server.clients = try attempt(clients) { try KeyClients(lines: text) }
            return nil
        }
        guard !noToken else { return nil }
        let token = AccessToken()
        server.clients = KeyClients(token)
        return token
    }

    /// Gives the server what it proves itself by.
    private func prove(_ server: inout KeyServer) throws {
        if let identity {
            let key = try attemptInput {
                try KeyFile.read(identity, isStrict: strict, program: "chunkwise key-server")
            }
            server.identity = try attempt("--identity") { try ServerIdentity(key) }
        }
        switch (tlsCertificate, tlsKey) {
        case (let certificates?, let key?):
            server.certificate = try attempt { try ServerCertificate(certificates: certificates, key: key) }
        case (nil, nil):
            guard bind.hasPrefix("127.") || ["::1", "localhost"].contains(bind) else {
                throw CommandFailure(
                    .usage, "--bind \(bind) without TLS: expected --tls-certificate and --tls-key, or 127.0.0.1")
            }
        default: throw CommandFailure(.usage, "half of what TLS takes: expected --tls-certificate and --tls-key")
        }
    }

    private func limit(_ server: inout KeyServer) throws {
        try Listening.check(port: port, maxConnections: maxConnections)
        guard rate >= 0.001, rate <= 1e6 else { throw CommandFailure(.usage, "--rate \(rate): expected 0.001 to 1e6") }
        guard (1...1_000_000).contains(burst) else {
            throw CommandFailure(.usage, "--burst \(burst): expected 1 to 1000000")
        }
        guard delay >= 0, delay <= 60_000 else { throw CommandFailure(.usage, "--delay \(delay): expected 0 to 60000") }
        guard answerSeconds >= 0.001, answerSeconds <= 4e6 else {
            throw CommandFailure(.usage, "--answer-seconds \(answerSeconds): expected 0.001 to 4e6")
        }
        server.answerLifetime = .seconds(answerSeconds)
        server.validity = try Self.seconds("--validity", validity)
        switch (try Self.seconds("--storage", storage), try Self.seconds("--playback", playback)) {
        case (let storage?, let playback?): server.persistableTerms = (storage, playback)
        case (nil, nil): break
        default: throw CommandFailure(.usage, "half of a stored key's terms: expected --storage and --playback")
        }
        (server.rate, server.burst, server.delay) = (rate, burst, .milliseconds(delay))
        server.limits.connectionCount = maxConnections
    }

    private static func seconds(_ name: String, _ value: Double?) throws -> Duration? {
        guard let value else { return nil }
        guard value >= 0.001, value <= 1e10 else {
            throw CommandFailure(.usage, "\(name) \(value): expected 0.001 to 1e10")
        }
        return .seconds(value)
    }
}
#endif
