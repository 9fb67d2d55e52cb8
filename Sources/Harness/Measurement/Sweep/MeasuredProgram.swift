package import Results
import Subject

/// A program that speaks the subject protocol and takes the place of a backend, with the name `subject:COMMAND`.
package enum MeasuredProgram {
    /// The start of such a name, before the command line.
    package static let prefix = "subject:"

    /// The command line for `/bin/sh -c`; `nil` if the name is not that of a program.
    package static func command(of name: String) -> String? {
        name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : nil
    }

    /// The reason for which a program cannot be measured in a cell; `nil` if there is none. The protocol can name a
    /// file, but cannot determine the way in which the program reads it.
    package static func obstacle(to cell: Cell) -> String? {
        if cell.source != ObjectKind.file.rawValue { return "source \(cell.source): expected file" }
        if cell.isCold == true { return "cold: expected a file in the page cache" }
        if cell.remoteLatencyNanoseconds != nil || cell.remoteBytesPerSecond != nil {
            return "latency or bandwidth: expected neither"
        }
        if cell.threads != 1 { return "threads \(cell.threads): expected 1" }
        if cell.access != .block { return "access \(cell.access): expected block" }
        return nil
    }
}
