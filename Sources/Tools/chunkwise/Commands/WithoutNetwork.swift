#if !Network
import ArgumentParser

// The commands that need an HTTP stack, in a build without the trait `Network`: help lists them, and each says what builds
// it.

/// A command that is not in this build, whatever its arguments are.
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
    static let configuration = missing("serve", "Serves encrypted files decrypted, range by range, over HTTP.")
    @Argument(parsing: .allUnrecognized, help: .hidden) var arguments: [String] = []
}

struct KeyServerCommand: MissingCommand {
    static let configuration = missing(
        "key-server", "Answers requests for keys, each sealed to a key that its client made for it.")
    @Argument(parsing: .allUnrecognized, help: .hidden) var arguments: [String] = []
}

struct TLSCheckCommand: MissingCommand {
    static let configuration = missing(
        "tls-check", "Says whether a secure connection can be made to a server, and if not, why.")
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
    static let configuration = missing("fetch", "Asks a key server for keys and prints their bytes.")
    @Argument(parsing: .allUnrecognized, help: .hidden) var arguments: [String] = []
}

private func missing(_ name: String, _ abstract: String) -> CommandConfiguration {
    CommandConfiguration(
        commandName: name, abstract: abstract,
        discussion: "Not in this build: swift build -c release builds a chunkwise that has it.")
}
#endif
