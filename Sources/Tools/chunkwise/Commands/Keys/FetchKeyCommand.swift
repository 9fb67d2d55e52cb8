#if Network
import ArgumentParser
import ByteSources
import Glibc
import HTTPSources
import KeyExchanges
import Keys
import RandomAccess
import Support

/// `chunkwise keys fetch`: what `--key-server` of other commands starts, and a key command for any program.
struct FetchKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Asks a key server for keys and prints their bytes, 16 for each, in the order of the URIs.",
        discussion: helpText(
            """
            All keys are asked for in one exchange; what can pass is tried again for a minute. The keys go to a pipe or
            a file, never to a terminal.

            EXAMPLES
              chunkwise keys fetch --server https://keys.example/v1/keys --token-file token mykey://film1

            EXIT CODES
              0 all keys; 64 usage; 65 an answer is wrong; 66 the server has no such key, or refuses; 74 it cannot be asked
            """))

    @OptionGroup var client: KeyClientOptions

    @Option(help: .taking("name", "The name of where plaintext goes, as the server knows it."))
    var route = "local"

    @Argument(help: .taking("uri", "The identifiers of the keys, as playlists have them."))
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
        // All of them, or none: who reads them would take a part for the whole.
        let keys = try uris.map { uri in
            try rethrowing(
                as: { CommandFailure(Self.code($0), "\(ShownIdentifier.text(uri)): \($0)") },
                try (results[uri] ?? .failure(.missing)).get())
        }
        for key in keys { try key.withUnsafeBytes { bytes in try Self.write(bytes) } }
        await session.close()
    }

    /// What could not be asked may be there.
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

/// Which key server is asked, and whom to believe.
struct KeyClientOptions: ParsableArguments {
    @Option(help: .taking("url", "The key server's URL."))
    var server: String

    @Option(help: .taking("file", "A file with the token that the server wants."))
    var tokenFile: String?

    @Flag(help: "Refuse a token file that others than its owner can read, instead of a warning.")
    var strict = false

    @Option(help: .taking("hex", "The server's own public key: 64 hexadecimal digits."))
    var serverKey: String?

    @OptionGroup var tls: TLSOptions

    @Option(
        help: .taking("time", "How long one exchange may take: seconds, or a time such as 500ms. (default: 10s)"),
        transform: Duration.argument(.seconds, 0.1...3600))
    var seconds = Duration.seconds(10)

    /// What asks the server.
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
