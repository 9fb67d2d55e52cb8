import ArgumentParser
import CommandOptions
import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// `chunkwise tls-check`: a program of its own, so that who only measures builds no TLS stack.
struct TLSCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tls-check",
        abstract: "Says whether a secure connection can be made to a server, and if not, why.",
        discussion: "Starts chunkwise-tls-check, which lies beside this program; see chunkwise tls-check --help.")

    // Whatever is written, help included, is that program's business.
    @Argument(parsing: .captureForPassthrough, help: "What chunkwise-tls-check is given.")
    var arguments: [String] = []

    /// The corresponding C function is `execv`.
    func run() throws {
        let program = FilePath(Program.path).removingLastComponent().appending("chunkwise-tls-check").string
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        execv(program, &words)
        let reason = String(cString: strerror(errno))
        words.forEach { free($0) }
        throw CommandFailure(
            .missingInput,
            "start \(program): \(reason): expected it to be built, by swift build -c release --product chunkwise-tls-check"
        )
    }
}
