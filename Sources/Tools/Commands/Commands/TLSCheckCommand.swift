import ArgumentParser

/// `chunkwise tls-check`: a program of its own, so that who only measures builds no TLS stack.
struct TLSCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tls-check",
        abstract: "Says whether a secure connection can be made to a server, and if not, why.",
        discussion: "Starts chunkwise-tls-check, which lies beside this program; see chunkwise tls-check --help.")

    // Whatever is written, help included, is that program's business.
    @Argument(parsing: .captureForPassthrough, help: "What chunkwise-tls-check is given.")
    var arguments: [String] = []

    func run() throws {
        try SiblingProgram.replace("chunkwise-tls-check", arguments: arguments)
    }
}
