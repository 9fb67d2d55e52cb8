#if !Network
import ArgumentParser

// The commands that need an HTTP stack, in a build without the trait `Network`. Help lists them, and each prints how to
// build it.

/// A command that is not in this build. It accepts any arguments.
protocol MissingCommand: ParsableCommand {
    var arguments: [String] { get }
    /// The group that the command is in, such as `keys`; `nil` for none.
    static var group: String? { get }
}

extension MissingCommand {
    static var group: String? { nil }

    func run() throws {
        throw Network.missing(["chunkwise", Self.group, Self._commandName].compactMap(\.self).joined(separator: " "))
    }
}

struct ServeCommand: MissingCommand {
    static let configuration = missing(
        "serve", "Decrypts ranges of encrypted files on request, and serves them over HTTP.")
    @Argument(parsing: .allUnrecognized, help: .hidden) var arguments: [String] = []
}

struct KeyServerCommand: MissingCommand {
    static let configuration = missing(
        "key-server", "Serves keys, each sealed to a public key that the client generates for the request.")
    @Argument(parsing: .allUnrecognized, help: .hidden) var arguments: [String] = []
}

struct TLSCheckCommand: MissingCommand {
    static let configuration = missing(
        "tls-check", "Checks that a secure connection to a server is possible, or explains why it is not.")
    @Argument(parsing: .allUnrecognized, help: .hidden) var arguments: [String] = []
}

struct MeasureKeysCommand: MissingCommand {
    static let group: String? = "keys"
    static let configuration = missing(
        "measure", "Measures the time from opening an encrypted playlist to its first plaintext byte.")
    @Argument(parsing: .allUnrecognized, help: .hidden) var arguments: [String] = []
}

struct FetchKeyCommand: MissingCommand {
    static let group: String? = "keys"
    static let configuration = missing("fetch", "Requests keys from a key server and prints their bytes.")
    @Argument(parsing: .allUnrecognized, help: .hidden) var arguments: [String] = []
}

private func missing(_ name: String, _ abstract: String) -> CommandConfiguration {
    CommandConfiguration(
        commandName: name, abstract: abstract,
        discussion: "Not in this build. scripts/build --all builds a chunkwise that has it.")
}
#endif
