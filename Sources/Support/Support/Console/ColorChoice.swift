/// Whether output is coloured, as the user says it.
package enum ColorChoice: String, CaseIterable, Sendable {
    /// On a terminal, unless the environment says otherwise.
    case auto
    /// Also in a pipe.
    case always
    /// Never.
    case never

    /// Whether to write colours.
    ///
    /// - Parameters:
    ///   - isTerminal: Whether the output is a terminal.
    ///   - variable: Reads the environment.
    /// - Returns: The answer. `NO_COLOR` counts when it is set to anything but the empty string, and gives way to
    ///   ``always``; a terminal that calls itself `dumb` has no colours.
    /// - Source: https://no-color.org.
    package func isColored(isTerminal: Bool, variable: (String) -> String?) -> Bool {
        switch self {
        case .always: true
        case .never: false
        case .auto: isTerminal && (variable("NO_COLOR") ?? "").isEmpty && variable("TERM") != "dumb"
        }
    }
}
