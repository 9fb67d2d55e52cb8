import ArgumentParser

/// `chunkwise key-server`: a program of its own, so that who only measures builds no HTTP stack.
struct KeyServerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key-server",
        abstract: "Answers requests for keys, each sealed to a key that its client made for it.",
        discussion: "Starts chunkwise-serve, which lies beside this program; see chunkwise key-server --help.")

    // Whatever is written, help included, is that program's business.
    @Argument(parsing: .captureForPassthrough, help: "What chunkwise-serve is given.")
    var arguments: [String] = []

    func run() throws {
        try SiblingProgram.replace("chunkwise-serve", arguments: ["key-server"] + arguments)
    }
}
