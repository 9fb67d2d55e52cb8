package import Results
import Subject

/// A program that speaks the subject protocol and is measured where a backend would be, by the name `subject:COMMAND`.
package enum MeasuredProgram {
    /// What such a name begins with, before the command line.
    package static let prefix = "subject:"

    /// The command line for `/bin/sh -c`, or `nil` if the name is of no program.
    package static func command(of name: String) -> String? {
        name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : nil
    }

    /// What keeps a program from being measured as a cell says, or `nil`: the protocol can ask it for a file, and for
    /// nothing of how it reads.
    package static func obstacle(to cell: Cell) -> String? {
        if cell.source != ObjectKind.file.rawValue { return "source \(cell.source): expected file" }
        if cell.isCold == true { return "cold: expected a file in the page cache" }
        if cell.remoteLatencyNanoseconds != nil || cell.remoteBytesPerSecond != nil {
            return "latency or bandwidth: expected neither"
        }
        if cell.threads != 1 { return "threads \(cell.threads): expected 1" }
        if cell.access != AccessPolicy.block.rawValue { return "access \(cell.access): expected block" }
        return nil
    }
}
