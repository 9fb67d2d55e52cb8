/// What a command's exit status says. The numbers from 64 on are those of sysexits(3).
package enum ExitStatus: Int32, Sendable {
    /// The answer is no.
    case no = 1
    /// There is no answer.
    case noAnswer = 2
    /// The command line is wrong.
    case usage = 64
    /// An input is not what it should be.
    case badData = 65
    /// An input is missing or cannot be opened.
    case missingInput = 66
    /// Reading or writing failed.
    case io = 74
}

/// An error that knows which exit status a command ends with that it stops.
package protocol ExitStatusProviding: Error {
    var exitStatus: ExitStatus { get }
}

/// The version of all programs of this package, as `--version` prints it and results keep it.
package let programVersion = "0.1.0"
