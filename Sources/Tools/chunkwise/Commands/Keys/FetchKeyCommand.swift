#if Network
import ArgumentParser
import ByteSources
import Glibc
import HTTPSources
import KeyExchanges
import Keys
import RandomAccess
import Support

/// `chunkwise keys fetch`: the command that `--key-server` of other commands starts, and a key command for any program.
struct FetchKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Requests keys from a key server and prints their bytes, 16 per key, in the order of the URIs.",
        discussion: helpText(
            """
            fetch requests all keys in one exchange, and retries temporary failures for a minute. It writes the keys to
            a pipe or a file, never to a terminal.

            EXAMPLES
              chunkwise keys fetch --server https://keys.example/v1/keys --token-file token mykey://film1

            EXIT CODES
              0 all keys; 64 usage; 65 an answer is wrong; 66 the server has no such key, or refuses; 74 no connection
            """))

    @OptionGroup var client: KeyClientOptions

    @Option(help: .taking("name", "The route of the plaintext, by the name that the server knows."))
    var route = "local"

    @Argument(help: .taking("uri", "The identifiers of the keys, as in playlists."))
    var uris: [String]

    func run() async throws {
        CoreDumps.disable()
        try require(isatty(1) == 0, "standard output is a terminal: expected a pipe or a file for the key")
        let exchange = try client.exchange()
        for warning in exchange.warnings { Self.say("warning: \(warning)") }
        let session = KeySession(
            exchange: exchange, policy: KeyPolicy(deadline: client.seconds), device: "",
            seed: .random(in: .min ... .max), clock: SystemKeyClock(),
            route: KeyRoute(route, acceptsPersistable: false),
            reporter: { Self.say("\(ShownIdentifier.text($0)): \($1)") })
        let results = await session.keys(for: uris)
        // All keys or no key: the receiver would mistake a part for the whole.
        let keys = try uris.map { uri in
            try rethrowing(
                as: { CommandFailure(Self.code($0), "\(ShownIdentifier.text(uri)): \($0)") },
                try (results[uri] ?? .failure(.missing)).get())
        }
        for key in keys { try key.withUnsafeBytes { bytes in try Self.write(bytes) } }
        await session.close()
    }

    /// The exit code of a failure. A key that could not be requested is not a missing key.
    private static func code(_ failure: KeyFailure) -> CommandFailure.Code {
        switch failure {
        case .gaveUp(_, let last): code(last)
        case .missing, .refused: .missingInput
        default: failure.isPassing ? .io : .badData
        }
    }

    @Sendable private static func say(_ text: String) {
        Terminal.writeError("chunkwise: \(text)")
    }

    private static func write(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(1, rest.baseAddress, rest.count)
            try require(count > 0 || errno == EINTR, .io, "write a key: \(String(cString: strerror(errno)))")
            rest = UnsafeRawBufferPointer(rebasing: rest[max(count, 0)...])
        }
    }
}

/// The options for the key server and the trust in it.
struct KeyClientOptions: ParsableArguments {
    @Option(help: .taking("url", "The key server's URL."))
    var server: String

    @Option(help: .taking("file", "A file with the token for the server."))
    var tokenFile: String?

    @Flag(help: "Refuse a token file that users other than its owner can read, instead of warning.")
    var strict = false

    @Option(help: .taking("hex", "The public key of the server: 64 hexadecimal digits."))
    var serverKey: String?

    @OptionGroup var tls: TLSOptions

    @Option(
        help: .taking("time", "The timeout for one exchange: seconds, or a time such as 500ms. (default: 10s)"),
        transform: Duration.argument(.seconds, 0.1...3600))
    var seconds = Duration.seconds(10)

    /// The exchange with the server.
    func exchange() throws -> KeyServerExchange {
        var options = KeyServerExchange.Options()
        if let tokenFile {
            let text = try SmallFile.text(tokenFile, "token file", isStrict: strict)
            options.token = text.split { $0.isWhitespace }.first.map(String.init)
            try require(options.token != nil, .badData, "token file \(tokenFile): expected one")
        }
        if let serverKey {
            guard let key = Hexadecimal.decode(serverKey, allowsUpperCase: true), key.count == 32 else {
                throw CommandFailure(.usage, "--server-key \(serverKey): expected 64 hexadecimal digits")
            }
            options.serverKey = key
        }
        options.policy = try attempt { try TLSPolicy(tls.switches) }
        options.deadline = seconds
        return try attempt { try KeyServerExchange(server, options: options) }
    }
}
#endif
