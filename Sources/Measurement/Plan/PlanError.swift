/// What is wrong with a plan, and where.
package struct PlanError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file.
    package let file: String
    /// The line, counted from 1, or `nil` where it is not one line's fault.
    package let line: Int?
    /// What failed, the value, what was expected.
    package let message: String

    /// Where and what.
    package var description: String {
        line.map { "\(file):\($0): \(message)" } ?? "\(file): \(message)"
    }
}
