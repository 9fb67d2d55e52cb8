import ArgumentParser
import CommandOptions
import HTTPSources
import KeyExchanges
import Support

/// Which key server is asked, and whom to believe.
struct KeyClientOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The key server's URL.", valueName: "url"))
    var server: String

    @Option(help: ArgumentHelp("A file with the token that the server wants.", valueName: "file"))
    var tokenFile: String?

    @Flag(help: "Refuse a token file that others than its owner can read, instead of a warning.")
    var strict = false

    @Option(help: ArgumentHelp("The server's own public key: 64 hexadecimal digits.", valueName: "hex"))
    var serverKey: String?

    @Option(help: ArgumentHelp("Trust the certificates in this PEM file, and no others.", valueName: "file"))
    var caFile: String?

    @Option(
        help: ArgumentHelp(
            "A public key of the chain: sha256// and base64, or 64 hexadecimal digits. May be repeated.",
            valueName: "pin"))
    var pin: [String] = []

    @Option(help: ArgumentHelp("Seconds that one exchange may take.", valueName: "s"))
    var seconds = 10.0

    /// What asks the server.
    func exchange() throws -> KeyServerExchange {
        var options = KeyServerExchange.Options()
        if let tokenFile {
            let text = try SmallFile.text(tokenFile, "token file", isStrict: strict)
            options.token = text.split { $0.isWhitespace }.first.map(String.init)
            guard options.token != nil else { throw CommandFailure(.badData, "token file \(tokenFile): expected one") }
        }
        if let serverKey {
            guard let key = Hexadecimal.decode(serverKey, allowsUpperCase: true), key.count == 32 else {
                throw CommandFailure(.usage, "--server-key \(serverKey): expected 64 hexadecimal digits")
            }
            options.serverKey = key
        }
        options.policy.roots = caFile.map { .file($0) } ?? .system
        for text in pin {
            guard let pin = PublicKeyPin(text) else {
                throw CommandFailure(
                    .usage, "--pin \(text): expected sha256// and 44 characters of base64, or 64 hexadecimal digits")
            }
            options.policy.pins.insert(pin)
        }
        guard seconds >= 0.1, seconds <= 3600 else {
            throw CommandFailure(.usage, "--seconds \(seconds): expected 0.1 to 3600")
        }
        options.deadline = .seconds(seconds)
        return try attempt { try KeyServerExchange(server, options: options) }
    }
}
