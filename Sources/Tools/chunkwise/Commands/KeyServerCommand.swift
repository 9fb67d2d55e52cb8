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
        abstract: "Serves keys, each sealed to a public key that the client generates for the request.",
        discussion: helpText(
            """
            Keys are files of 16 bytes in a folder, or the output of a command. The path of a key's file is either its
            whole URI (keys/mykey/film/1.key for mykey://film/1.key) or the last part of its URI (keys/1.key). Keys are
            sealed for transport (HPKE, RFC 9180), and the server stores none. The audit has a line for each requested
            key, with everything but the key. It also has a line for each request that is refused as a whole, with the
            reason as its result: unauthorized, malformed, limited, replayed, untimely or overloaded. The server sends
            no key before its line is on the disk. KEY-PROTOCOL.md describes the messages, so that you can write a
            client.

            The server authenticates itself with a certificate, with a key (--identity, 32 random bytes, whose public
            key is printed for clients), or with both. Without a certificate, it listens on this machine only. The
            server prints a token, or --clients lists the clients: each line has a name, a token of at least 16
            characters, and optionally prefixes of the identifiers that the client may request. mykey://film/ stands for
            everything below it, mykey://film also for that identifier. A client with prefixes gets files only by their
            whole URI. SIGINT or SIGTERM ends the server.

            The server answers no request twice. It remembers request numbers for as long as they are valid, at most
            500,000 in ten minutes (833 per second). It answers further requests with 503, because it could not
            recognize a replay. This limit has no option: run several servers, each with its own clients.

            EXAMPLES
              chunkwise key-server --keys keys
              chunkwise key-server --keys keys --bind 0.0.0.0 --tls-certificate chain.pem --tls-key key.pem
              chunkwise key-server --keys keys --clients clients --audit audit.jsonl --validity 1h

            EXIT CODES
              0 ended by SIGINT or SIGTERM; 64 usage; 65 a file is wrong; 66 a file is missing; 74 the address is taken,
              or the audit cannot be written
            """))

    @Option(help: .taking("folder", "The folder with the keys, each at its whole URI or the last part of its URI."))
    var keys: String?

    @Option(
        help: .taking(
            "command", "A command that prints the 16 bytes of a key. It gets the key's URI as its last argument."))
    var keyCommand: String?

    @Flag(help: "Refuse files with keys or tokens that others can read, instead of warning.")
    var strict = false

    @OptionGroup var listening: ListeningOptions

    @Option(help: "The port, or 0 for any free port.")
    var port = 8081

    @Option(help: .taking("file", "The server's certificate and the intermediate certificates, PEM."))
    var tlsCertificate: String?

    @Option(help: .taking("file", "The certificate's private key, PEM."))
    var tlsKey: String?

    @Option(help: .taking("file", "The server's X25519 private key: 32 raw bytes, or 64 hexadecimal digits."))
    var identity: String?

    @Option(help: .taking("file", "The clients with their tokens. (default: one token, which is printed)"))
    var clients: String?

    @Flag(help: "Serve every client, without a token.")
    var noToken = false

    @Option(help: .taking("file", "Append the audit to this file. (default: standard error)"))
    var audit: String?

    @Option(
        help: .taking(
            "time", "The time for which online keys may be used: seconds, or a time such as 12h. (default: no limit)"),
        transform: Duration.argument(.seconds, 0.001...9e9))
    var validity: Duration?

    @Option(
        help: .taking(
            "time",
            "The time for which an unused key may be stored: seconds, or a time such as 30d. (default: no storage)"),
        transform: Duration.argument(.seconds, 0.001...9e9))
    var storage: Duration?

    @Option(
        help: .taking(
            "time", "The time for which a stored key may be used after its first use: seconds, or a time such as 2d."),
        transform: Duration.argument(.seconds, 0.001...9e9))
    var playback: Duration?

    @Option(help: .taking("count", "The maximum number of keys per client and second."))
    var rate = 100.0

    @Option(help: .taking("count", "The maximum number of keys per client at once."))
    var burst = 200

    @Option(
        help: .taking(
            "time",
            "The time in which the client may open an answer: seconds, or a time such as 500ms. (default: 60s)"),
        transform: Duration.argument(.seconds, 0.001...4e6))
    var answerSeconds = Duration.seconds(60)

    @Option(
        help: .taking(
            "time",
            "Delay each answer by this, for measurements: milliseconds, or a time such as 2s. (default: 0ms)"),
        transform: Duration.argument(.milliseconds, 0...60_000))
    var delay = Duration.zero

    func run() async throws {
        Listening.prepare()
        let host = try listening.host()
        let (provider, exactProvider) = try providers()
        var server = KeyServer(
            provider: provider, exactProvider: exactProvider, clients: .everyone, audit: try auditing())
        let token = try admit(&server)
        try prove(&server, host)
        server.isStrict = strict
        server.report = { Terminal.sayWithoutWaiting("chunkwise key-server: \($0)") }
        try limit(&server)
        let (name, scheme) = (listening.bind, server.certificate == nil ? "http" : "https")
        let publicKey = server.identity.map { Hexadecimal.encode($0.publicKey) }
        try await Listening.run { [server] in
            try await server.run(host: host, port: port) { port in
                print("keys on \(scheme)://\(Listening.authority(name, port))\(KeyServer.path)")
                if let token { print("token: \(token.text)") }
                if let publicKey { print("server key: \(publicKey)") }
                Listening.announce()
            }
        }
        if let failure = server.audit.failure {
            throw CommandFailure(.io, "the audit is not whole: \(failure); keys without a line were not given out")
        }
    }

    /// The provider of keys for clients that may request all keys, and the one for clients with prefixes.
    private func providers() throws -> (any KeyProvider, any KeyProvider) {
        switch (keys, keyCommand) {
        case (let folder?, nil):
            let stream = try require(
                opendir(folder), .missingInput, "--keys \(folder): \(String(cString: strerror(errno)))")
            closedir(stream)
            let path = FilePath(folder)
            return (FolderKeys(folder: path), FolderKeys(folder: path, isExact: true))
        case (nil, let command?):
            let keys = CommandKeys(shell: command)
            return (keys, keys)
        case (nil, nil): throw CommandFailure(.usage, "no keys: expected --keys FOLDER or --key-command COMMAND")
        case (_?, _?): throw CommandFailure(.usage, "two sources of keys: expected either --keys or --key-command")
        }
    }

    private func auditing() throws -> KeyAudit {
        guard let audit else {
            return KeyAudit(LineLog(stream: .standardError, name: "standard error"))
        }
        return try attempt("--audit") { try KeyAudit(path: FilePath(audit)) }
    }

    /// Sets the clients of the server.
    ///
    /// - Returns: The token to print, if there is one.
    private func admit(_ server: inout KeyServer) throws -> AccessToken? {
        if let clients {
            try require(!noToken, "--no-token and --clients \(clients): expected one of them")
            let text = try SmallFile.text(clients, "clients", isStrict: strict)
            server.clients = try attemptData(clients) { try KeyClients(lines: text) }
            return nil
        }
        guard !noToken else { return nil }
        let token = AccessToken()
        server.clients = KeyClients(token)
        return token
    }

    /// Sets the identity and the certificate of the server.
    private func prove(_ server: inout KeyServer, _ host: ListeningHost) throws {
        if let identity {
            let key = try attemptInput {
                try KeyFile.read(
                    identity, KeyFile.Form(byteCounts: [32]), isStrict: strict, program: "chunkwise key-server")
            }
            server.identity = try attempt("--identity") { try ServerIdentity(key) }
        }
        switch (tlsCertificate, tlsKey) {
        case (let certificates?, let key?):
            for file in [certificates, key] { _ = try attemptInput { try FileSource(path: FilePath(file)) } }
            server.certificate = try attemptData { try ServerCertificate(certificates: certificates, key: key) }
        case (nil, nil):
            try require(
                host.address.isLoopback,
                "--bind \(listening.bind) without TLS: expected --tls-certificate and --tls-key, or 127.0.0.1")
        default: throw CommandFailure(.usage, "--tls-certificate and --tls-key: expected both or neither")
        }
    }

    private func limit(_ server: inout KeyServer) throws {
        try listening.limit(&server.limits, port: port, server.report)
        guard rate >= 0.001, rate <= 1e6 else { throw CommandFailure(.usage, "--rate \(rate): expected 0.001 to 1e6") }
        try require((1...1_000_000).contains(burst), "--burst \(burst): expected 1 to 1000000")
        server.answerLifetime = answerSeconds
        server.validity = validity
        switch (storage, playback) {
        case (let storage?, let playback?): server.persistableTerms = (storage, playback)
        case (nil, nil): break
        default: throw CommandFailure(.usage, "--storage and --playback: expected both or neither")
        }
        (server.rate, server.burst, server.delay) = (rate, burst, delay)
    }
}
#endif
