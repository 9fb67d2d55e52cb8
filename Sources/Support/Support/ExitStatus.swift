/// The meaning of a command's exit status. The numbers from 64 on are those of sysexits(3).
package enum ExitStatus: Int32, Sendable {
    /// The answer is no.
    case no = 1
    /// There is no answer.
    case noAnswer = 2
    /// The command line is wrong.
    case usage = 64
    /// An input is invalid.
    case badData = 65
    /// An input is missing or cannot be opened.
    case missingInput = 66
    /// Reading or writing failed.
    case io = 74
}

/// An error with the exit status of a command that it ends.
package protocol ExitStatusProviding: Error {
    var exitStatus: ExitStatus { get }
}

extension ExitStatusProviding {
    /// `badData`: most such errors are of an input.
    package var exitStatus: ExitStatus { .badData }
}

/// The version of all programs of this package, for `--version` and in results.
package let programVersion = "0.1.0"
