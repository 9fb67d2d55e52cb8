import Results
internal import Support

extension RunSummary {
    /// The run as JUnit XML: a case for the run itself, one a subject of the vectors, one a cell.
    ///
    /// What failed, and what nobody checked, is a failure. A run that was broken off is an error: there is no answer yet.
    ///
    /// - Parameter prefix: What stands before the names of its suites.
    /// - Returns: The document.
    func junit(prefix: String = "") -> JUnitDocument {
        let header = results.header
        let properties = [
            ("host", header.host.name), ("cpu", header.host.cpuModel), ("chunkwise", header.programVersion),
            ("seed", "\(header.seed)"), ("command", ShellText.joined(header.command)),
        ]
        return JUnitDocument(suites: [
            JUnitDocument.Suite(
                name: prefix + "chunkwise run", properties: properties.map { (name: $0.0, value: $0.1) },
                cases: [runCase],
                timestamp: header.startedAt.isEmpty ? nil : header.startedAt),
            JUnitDocument.Suite(name: prefix + "chunkwise vectors", cases: results.conformance.map(Self.testCase)),
            JUnitDocument.Suite(name: prefix + "chunkwise cells", cases: cells.map(Self.testCase)),
        ])
    }

    private var runCase: JUnitDocument.Case {
        var outcome = JUnitDocument.Outcome.passed
        if !results.isComplete {
            outcome = .errored(
                message: "the run did not come to its end", type: "incomplete",
                text: leftOutTexts.joined(separator: "\n"))
        } else if cells.isEmpty {
            outcome = .skipped("no cell was measured")
        }
        return JUnitDocument.Case(className: "chunkwise.run", name: "came to its end", outcome: outcome)
    }

    private static func testCase(_ record: ConformanceRecord) -> JUnitDocument.Case {
        let executed = record.passed + record.failed
        var outcome = JUnitDocument.Outcome.passed
        if record.failed > 0 {
            outcome = .failed(
                message: "\(record.failed) of \(executed) vector reads", type: "vectors",
                text: record.failures.prefix(3).map { "\($0.id): \($0.reason)\n" }.joined())
        } else if record.passed == 0 {
            outcome = .skipped("\(record.unsupported) unsupported, \(record.notRun) not run")
        }
        return JUnitDocument.Case(
            className: "chunkwise.vectors", name: record.subject, assertionCount: executed, outcome: outcome)
    }

    private static func testCase(_ summary: CellSummary) -> JUnitDocument.Case {
        let reason = summary.missingReason ?? ""
        let outcome: JUnitDocument.Outcome =
            switch summary.outcome {
            case .measured: .passed
            case .untimed: .skipped(reason)
            case .failed, .unchecked: .failed(message: reason, type: summary.status, text: reason)
            }
        return JUnitDocument.Case(
            className: "chunkwise.cells.\(summary.cell.backend)", name: summary.cell.id,
            seconds: summary.speed == nil ? nil : summary.timedSeconds, outcome: outcome)
    }
}

extension CellSummary {
    /// How long all timed iterations took together.
    fileprivate var timedSeconds: Double {
        rounds.reduce(0.0) { $0 + $1.reduce(0.0) { $0 + Double($1) } } / 1e9
    }
}
