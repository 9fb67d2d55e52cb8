import CommandOptions
import Glibc

/// Programs of products of their own, which lie beside this one.
enum SiblingProgram {
    /// Replaces this process. The corresponding C function is `execv`.
    ///
    /// - Parameters:
    ///   - name: The program's and its product's name.
    ///   - arguments: What it is given.
    /// - Throws: `CommandFailure` if it cannot be started.
    static func replace(_ name: String, arguments: [String]) throws -> Never {
        let program = RunningProgram.sibling(name)
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        execv(program, &words)
        let failure = RunningProgram.failure(toStart: name)
        words.forEach { free($0) }
        throw failure
    }
}
