package import Results

extension GateResult {
    /// The result as JUnit XML: a case a cell, one for the control, one for the memory of each cell.
    ///
    /// What is slower, wrong or has grown is a failure. What nothing can be said of is an error, since the gate then gives
    /// no answer, or skipped where that is allowed.
    package func junit(allowsInconclusive: Bool) -> String {
        var cases = cells.map { testCase($0, allowsInconclusive) }
        if let control { cases.append(controlCase(control)) }
        cases += (memory?.cells ?? []).map { memoryCase($0, allowsInconclusive) }
        cases += notCompared.map {
            JUnitDocument.Case(
                className: Self.className, name: $0.name, outcome: .skipped("not compared: \($0.reason)"))
        }
        if cells.isEmpty {
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
        let finding = GateWords.finding(cell)
        let outcome: JUnitDocument.Outcome
        switch cell.verdict {
        case .wrong: outcome = .failed(message: finding, type: cell.verdict.rawValue, text: finding)
        case _ where verdict == .noisyHost: outcome = .skipped("noisy host, not judged; \(finding)")
        case .slower: outcome = .failed(message: finding, type: cell.verdict.rawValue, text: finding)
        case .inconclusive where !allowsInconclusive:
            outcome = .errored(message: finding, type: cell.verdict.rawValue, text: finding)
        case .inconclusive, .noisyHost: outcome = .skipped(finding)
        case .same, .faster: outcome = .passed
        }
        return .init(className: Self.className, name: cell.name, seconds: cell.seconds, outcome: outcome)
    }

    private func controlCase(_ control: GateCell) -> JUnitDocument.Case {
        let finding = GateWords.finding(control)
        let outcome: JUnitDocument.Outcome =
            switch control.verdict {
            case .wrong: .failed(message: finding, type: "wrong", text: finding)
            case .noisyHost: .errored(message: finding, type: "noisyHost", text: finding)
            default: .passed
            }
        return .init(className: Self.className, name: control.name, seconds: control.seconds, outcome: outcome)
    }

    private func memoryCase(_ cell: GateMemory.Cell, _ allowsInconclusive: Bool) -> JUnitDocument.Case {
        let finding = GateWords.finding(cell)
        let outcome: JUnitDocument.Outcome =
            switch cell.verdict {
            case .same: .passed
            case .grew: .failed(message: finding, type: "memory", text: finding)
            case .inconclusive:
                allowsInconclusive
                    ? .skipped(finding) : .errored(message: finding, type: "inconclusive", text: finding)
            }
        return .init(className: Self.className, name: "memory: \(cell.name)", outcome: outcome)
    }
}
