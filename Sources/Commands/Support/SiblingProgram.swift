import CommandOptions
import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Programs of products of their own, which lie beside this one.
enum SiblingProgram {
    /// Replaces this process. The corresponding C function is `execv`.
    ///
    /// - Parameters:
    ///   - name: The program's and its product's name.
    ///   - arguments: What it is given.
    /// - Throws: `CommandFailure` if it cannot be started.
    static func replace(_ name: String, arguments: [String]) throws -> Never {
        let program = FilePath(Program.path).removingLastComponent().appending(name).string
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        execv(program, &words)
        let reason = String(cString: strerror(errno))
        words.forEach { free($0) }
        throw CommandFailure(
            .missingInput,
            "start \(program): \(reason): expected it to be built, by swift build -c release --product \(name)")
    }
}
