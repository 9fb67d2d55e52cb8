import ArgumentParser

/// `chunkwise key-client`: a program of its own, so that who only measures builds no HTTP stack.
struct KeyClientCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key-client",
        abstract: "Asks key servers for keys, and measures how long players wait for them.",
        discussion: "Starts chunkwise-key-client, which lies beside this program; see chunkwise key-client --help.")

    // Whatever is written, help included, is that program's business.
    @Argument(parsing: .captureForPassthrough, help: "What chunkwise-key-client is given.")
    var arguments: [String] = []

    func run() throws {
        try SiblingProgram.replace("chunkwise-key-client", arguments: arguments)
    }
}
