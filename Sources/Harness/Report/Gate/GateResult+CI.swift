package import Results

extension GateResult {
    /// The result as annotations of a GitHub workflow, one per line. Cells that are slower or wrong, or whose memory
    /// has grown, are errors. Undecided cells are warnings. The overall verdict is a notice.
    ///
    /// GitHub shows ten annotations of each kind per step; the last of them counts the rest.
    package var githubAnnotations: String {
        var errors: [(title: String, message: String)] = []
        var warnings: [(title: String, message: String)] = []
        for cell in cells {
            let entry = (title: "\(GateText.word(cell)): \(cell.name)", message: GateText.finding(cell))
            if isBlamed(cell) {
                errors.append(entry)
            } else if cell.verdict == .inconclusive {
                warnings.append(entry)
            }
        }
        if let failedVectors { errors.insert(("wrong bytes", failedVectors), at: 0) }
        if let control, control.verdict.isBroken {
            errors.append(("wrong: \(control.name)", GateText.finding(control)))
        }
        for finding in findingsBesideTime {
            switch finding.verdict {
            case .grew: errors.append(("\(finding.kind) grew: \(finding.name)", finding.words))
            case .inconclusive: warnings.append(("\(finding.kind) undecided: \(finding.name)", finding.words))
            case .same: break
            }
        }
        for anchor in anchors ?? [] {
            for cell in anchor.cells where ![.same, .faster].contains(cell.verdict) {
                errors.append(("beyond the budget, or not shown to be within: \(cell.name)", GateText.finding(cell)))
            }
        }
        if verdict == .noisyHost {
            warnings.insert(
                ("noisy host", control.map(GateText.finding) ?? reason ?? "no slowdown could be injected"), at: 0)
        }
        if cells.isEmpty, failedVectors == nil {
            warnings.insert(("no cell was compared", reason ?? "expected at least one"), at: 0)
        }
        let lines =
            Self.annotations("error", errors) + Self.annotations("warning", warnings)
            + [GitHubCommand.line("notice", title: "gate: \(title)", message: headline)]
        return lines.joined(separator: "\n")
    }

    /// The findings for the cells' memory, and for their counts.
    private var findingsBesideTime: [(kind: String, name: String, verdict: GateMemory.Verdict, words: String)] {
        (memory?.cells ?? []).map { ("memory", $0.name, $0.verdict, GateText.finding($0)) }
            + (counts?.cells ?? []).map { ("counts", $0.name, $0.verdict, GateText.finding($0)) }
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

/// Workflow commands for a GitHub runner, which reads them from a step's standard output.
enum GitHubCommand {
    /// Returns the line of a command, without a line break.
    ///
    /// - Source: GitHub's "Workflow commands", and `command.ts` of actions/toolkit for the escaped characters.
    static func line(_ level: String, title: String, message: String) -> String {
        "::\(level) title=\(property(title))::\(data(message))"
    }

    /// Escapes percent signs and line breaks in a message.
    static func data(_ text: String) -> String { escaped(text, ["%": "%25", "\r": "%0D", "\n": "%0A"]) }

    /// Escapes a property. Colons and commas would end it, so they are escaped, too.
    static func property(_ text: String) -> String {
        escaped(text, ["%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"])
    }

    /// Works on scalars, because "\r\n" is one character in Swift. Other control characters could control the terminal
    /// or page that shows the log.
    private static func escaped(_ text: String, _ escapes: [Unicode.Scalar: String]) -> String {
        text.unicodeScalars.map { scalar in
            if let escape = escapes[scalar] { return escape }
            return scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) ? "\u{FFFD}" : String(scalar)
        }.joined()
    }
}

extension GateResult {
    /// Returns the result as JUnit XML: one case per cell, one for the control, and one for the memory of each cell.
    ///
    /// Cells that are slower or wrong, or whose memory has grown, are failures. Undecided cells are errors, since the
    /// gate then has no answer, or skipped if that is allowed.
    package func junit(allowsInconclusive: Bool) -> String {
        var cases = cells.map { testCase($0, allowsInconclusive) }
        if let vectors {
            let outcome: JUnitDocument.Outcome =
                failedVectors.map { .failed(message: $0, type: "wrong", text: $0) }
                ?? (vectors.passed > 0 ? .passed : .errored(message: "none was run", type: "nothingCompared", text: ""))
            cases.insert(.init(className: Self.className, name: "vectors", outcome: outcome), at: 0)
        }
        if let control { cases.append(controlCase(control)) }
        cases += findingsBesideTime.map { finding in
            let outcome: JUnitDocument.Outcome =
                switch finding.verdict {
                case .same: .passed
                case .grew: .failed(message: finding.words, type: finding.kind, text: finding.words)
                case .inconclusive where allowsInconclusive: .skipped(finding.words)
                case .inconclusive: .errored(message: finding.words, type: "inconclusive", text: finding.words)
                }
            return .init(className: Self.className, name: "\(finding.kind): \(finding.name)", outcome: outcome)
        }
        for anchor in anchors ?? [] {
            cases += anchor.cells.map { cell in
                var shown = cell
                shown.name = "anchor: \(cell.name)"
                return anchor.testCase(shown, false)
            }
        }
        cases += notCompared.map {
            JUnitDocument.Case(
                className: Self.className, name: $0.name, outcome: .skipped("not compared: \($0.reason)"))
        }
        if cells.isEmpty, failedVectors == nil {
            cases.append(
                .init(
                    className: Self.className, name: "cells",
                    outcome: .errored(message: "no cell was compared", type: "nothingCompared", text: reason ?? "")))
        }
        let properties = [
            ("verdict", verdict.rawValue), ("tolerance", "\(tolerance)"), ("confidence", "\(confidence)"),
            ("seed", "\(seed)"), ("baseline", "\(baseline.command) (\(baseline.name) \(baseline.version))"),
            ("candidate", "\(candidate.command) (\(candidate.name) \(candidate.version))"),
            ("cpu", host.cpuModel), ("command", commandLine),
        ]
        let suite = JUnitDocument.Suite(
            name: Self.className, properties: properties.map { (name: $0.0, value: $0.1) }, cases: cases,
            timestamp: startedAt.isEmpty ? nil : startedAt, output: "\(headline)\n\(forestPlot)\n")
        return JUnitDocument(suites: [suite]).text
    }

    private static let className = "chunkwise gate"

    private func testCase(_ cell: GateCell, _ allowsInconclusive: Bool) -> JUnitDocument.Case {
        let finding = GateText.finding(cell)
        let outcome: JUnitDocument.Outcome
        switch cell.verdict {
        case .wrong, .failed, .slower: outcome = .failed(message: finding, type: cell.verdict.rawValue, text: finding)
        case .inconclusive where !allowsInconclusive:
            outcome = .errored(message: finding, type: cell.verdict.rawValue, text: finding)
        case .inconclusive, .noisyHost: outcome = .skipped(finding)
        case .same, .faster: outcome = .passed
        }
        return .init(className: Self.className, name: cell.name, seconds: cell.seconds, outcome: outcome)
    }

    private func controlCase(_ control: GateCell) -> JUnitDocument.Case {
        let finding = GateText.finding(control)
        let outcome: JUnitDocument.Outcome =
            switch control.verdict {
            case .wrong, .failed: .failed(message: finding, type: control.verdict.rawValue, text: finding)
            case .slower: .passed
            default: .errored(message: finding, type: "noisyHost", text: finding)
            }
        return .init(className: Self.className, name: control.name, seconds: control.seconds, outcome: outcome)
    }
}
