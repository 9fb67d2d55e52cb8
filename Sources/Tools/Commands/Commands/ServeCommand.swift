import ArgumentParser

/// `chunkwise serve`: a program of its own, so that who only measures builds no HTTP stack.
struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serves encrypted files decrypted, range by range, over HTTP.",
        discussion: "Starts chunkwise-serve, which lies beside this program; see chunkwise serve --help.")

    // Whatever is written, help included, is that program's business.
    @Argument(parsing: .captureForPassthrough, help: "What chunkwise-serve is given.")
    var arguments: [String] = []

    func run() throws {
        try SiblingProgram.replace("chunkwise-serve", arguments: arguments)
    }
}
