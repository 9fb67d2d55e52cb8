import ArgumentParser
import CommandOptions
import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// `chunkwise serve`: a program of its own, so that who only measures builds no HTTP stack.
struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serves encrypted files decrypted, range by range, over HTTP.",
        discussion: "Starts chunkwise-serve, which lies beside this program; see chunkwise serve --help.")

    // Whatever is written, help included, is that program's business.
    @Argument(parsing: .captureForPassthrough, help: "What chunkwise-serve is given.")
    var arguments: [String] = []

    /// The corresponding C function is `execv`.
    func run() throws {
        let program = FilePath(Program.path).removingLastComponent().appending("chunkwise-serve").string
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        execv(program, &words)
        let reason = String(cString: strerror(errno))
        words.forEach { free($0) }
        throw CommandFailure(
            .missingInput,
            "start \(program): \(reason): expected it to be built, by swift build -c release --product chunkwise-serve")
    }
}
