package import Results

extension GateResult {
    /// The result as annotations of a GitHub workflow, a line each: what is slower, wrong or has grown is an error, what
    /// nothing can be said of a warning, the verdict as a whole a notice.
    ///
    /// GitHub shows ten of each kind a step; what is beyond that is counted in the last one.
    package var githubAnnotations: String {
        var errors: [(title: String, message: String)] = []
        var warnings: [(title: String, message: String)] = []
        for cell in cells {
            let entry = (title: "\(GateWords.word(cell.verdict)): \(cell.name)", message: GateWords.finding(cell))
            if isBlamed(cell) {
                errors.append(entry)
            } else if cell.verdict == .inconclusive, verdict != .noisyHost {
                warnings.append(entry)
            }
        }
        if let control, control.verdict == .wrong {
            errors.append(("wrong: \(control.name)", GateWords.finding(control)))
        }
        for cell in memory?.cells ?? [] where cell.verdict != .same {
            let isGrown = cell.verdict == .grew
            let title = isGrown ? "peak memory grew: \(cell.name)" : "peak memory undecided: \(cell.name)"
            if isGrown {
                errors.append((title, GateWords.finding(cell)))
            } else {
                warnings.append((title, GateWords.finding(cell)))
            }
        }
        if verdict == .noisyHost {
            warnings.insert(("noisy host", control.map(GateWords.finding) ?? reason ?? "the control moved"), at: 0)
        }
        if cells.isEmpty { warnings.insert(("no cell was compared", reason ?? "expected at least one"), at: 0) }
        let lines =
            Self.annotations("error", errors) + Self.annotations("warning", warnings)
            + [GitHubCommand.line("notice", title: "gate: \(title)", message: headline)]
        return lines.joined(separator: "\n")
    }

    private static let maxAnnotations = 10

    private static func annotations(_ level: String, _ entries: [(title: String, message: String)]) -> [String] {
        guard entries.count > maxAnnotations else {
            return entries.map { GitHubCommand.line(level, title: $0.title, message: $0.message) }
        }
        let shown = entries.prefix(maxAnnotations - 1)
        return shown.map { GitHubCommand.line(level, title: $0.title, message: $0.message) } + [
            GitHubCommand.line(
                level, title: "and \(entries.count - shown.count) more",
                message: entries.dropFirst(shown.count).map(\.title).joined(separator: "\n"))
        ]
    }
}

/// Commands to a GitHub runner, which reads them from a step's standard output.
enum GitHubCommand {
    /// Returns a command's line, without its end.
    ///
    /// - Source: GitHub's "Workflow commands", and `command.ts` of actions/toolkit for what is escaped.
    static func line(_ level: String, title: String, message: String) -> String {
        "::\(level) title=\(property(title))::\(data(message))"
    }

    /// Escapes a message: percent signs and line breaks.
    static func data(_ text: String) -> String { escaped(text, ["%": "%25", "\r": "%0D", "\n": "%0A"]) }

    /// Escapes a property: colons and commas as well, which end it.
    static func property(_ text: String) -> String {
        escaped(text, ["%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"])
    }

    /// By scalars: in Swift "\r\n" is one character. Other control characters would drive whatever shows the log.
    private static func escaped(_ text: String, _ escapes: [Unicode.Scalar: String]) -> String {
        text.unicodeScalars.map { scalar in
            if let escape = escapes[scalar] { return escape }
            return scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) ? "\u{FFFD}" : String(scalar)
        }.joined()
    }
}
