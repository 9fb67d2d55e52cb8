package import Support

/// What is wrong with a plan, and where.
package struct PlanError: Error, Hashable, Sendable, CustomStringConvertible, ExitStatusProviding {
    /// The file.
    package let file: String
    /// The line, counted from 1, or `nil` where it is not one line's fault.
    package let line: Int?
    /// What failed, the value, what was expected.
    package let message: String

    /// Creates an error.
    package init(file: String, line: Int?, message: String) {
        self.file = file
        self.line = line
        self.message = message
    }

    /// Where and what.
    package var description: String {
        line.map { "\(file):\($0): \(message)" } ?? "\(file): \(message)"
    }

    /// A plan is an input.
    package var exitStatus: ExitStatus { .badData }
}
