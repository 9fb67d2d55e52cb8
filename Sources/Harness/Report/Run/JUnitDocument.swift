import Results
import Support

/// Test results as JUnit XML, the format that CI systems show.
///
/// - Source: junit-10.xsd of jenkinsci/xunit-plugin, the schema that Jenkins, GitLab and others read.
struct JUnitDocument {
    /// The suites. They are made twice, for the counts and for the text, so that not all are in memory at once.
    var suites: any Sequence<Suite>

    struct Suite {
        var name: String
        /// The facts that hold for all its cases.
        var properties: [(name: String, value: String)] = []
        var cases: [Case]
        /// The start time in ISO 8601; `nil` if unknown.
        var timestamp: String?
        var output: String?
    }

    struct Case {
        var className: String
        var name: String
        /// The number of things it checked; `nil` if unknown.
        var assertionCount: Int?
        /// The duration; `nil` if unknown.
        var seconds: Double?
        var outcome: Outcome
    }

    enum Outcome {
        case passed
        /// There is no result, and that is not a fault.
        case skipped(String)
        case failed(message: String, type: String?, text: String)
        case errored(message: String, type: String, text: String)
    }

    /// Passes the text to `part`, part by part.
    func write(to part: ([UInt8]) throws -> Void) rethrows {
        let counts = suites.reduce(into: Counts()) { $0.add($1.cases) }
        try part(Array(#"<?xml version="1.0" encoding="UTF-8"?>\#n"#.utf8))
        try part(Array("<testsuites name=\"chunkwise\" \(counts.attributes())>\n".utf8))
        for suite in suites { try part(Array(Self.text(suite).utf8)) }
        try part(Array("</testsuites>\n".utf8))
    }

    var text: String {
        var bytes: [UInt8] = []
        write { bytes += $0 }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func text(_ suite: Suite) -> String {
        var counts = Counts()
        counts.add(suite.cases)
        var text = "<testsuite name=\"\(MarkupText.markup(suite.name))\" \(counts.attributes(withSkipped: true))"
        let seconds = suite.cases.compactMap(\.seconds)
        if !seconds.isEmpty { text += " time=\"\(decimal(seconds.reduce(0, +)))\"" }
        // The schema's time of day has no zone.
        if let timestamp = suite.timestamp {
            text += " timestamp=\"\(MarkupText.markup(String(timestamp.prefix(19))))\""
        }
        text += ">\n"
        if !suite.properties.isEmpty {
            let lines = suite.properties.map {
                "<property name=\"\(MarkupText.markup($0.name))\" value=\"\(MarkupText.markup($0.value))\"/>\n"
            }
            text += "<properties>\n\(lines.joined())</properties>\n"
        }
        text += suite.cases.map(self.text).joined()
        if let output = suite.output { text += "<system-out>\(MarkupText.markup(output))</system-out>\n" }
        return text + "</testsuite>\n"
    }

    private static func text(_ testCase: Case) -> String {
        var text = "<testcase classname=\"\(MarkupText.markup(testCase.className))\""
        text += " name=\"\(MarkupText.markup(testCase.name))\""
        if let count = testCase.assertionCount { text += " assertions=\"\(count)\"" }
        if let seconds = testCase.seconds { text += " time=\"\(decimal(seconds))\"" }
        text += ">"
        switch testCase.outcome {
        case .passed: break
        case .skipped(let message): text += "<skipped message=\"\(MarkupText.markup(message))\"/>"
        case .failed(let message, let type, let detail): text += element("failure", message, type, detail)
        case .errored(let message, let type, let detail): text += element("error", message, type, detail)
        }
        return text + "</testcase>\n"
    }

    private static func element(_ name: String, _ message: String, _ type: String?, _ detail: String) -> String {
        let type = type.map { " type=\"\(MarkupText.markup($0))\"" } ?? ""
        return "<\(name) message=\"\(MarkupText.markup(message))\"\(type)>\(MarkupText.markup(detail))</\(name)>"
    }

    private struct Counts {
        private var all = 0, failed = 0, errored = 0, skipped = 0

        mutating func add(_ cases: [Case]) {
            all += cases.count
            for testCase in cases {
                switch testCase.outcome {
                case .passed: break
                case .skipped: skipped += 1
                case .failed: failed += 1
                case .errored: errored += 1
                }
            }
        }

        func attributes(withSkipped: Bool = false) -> String {
            let skips = withSkipped ? " skipped=\"\(skipped)\"" : ""
            return "tests=\"\(all)\" failures=\"\(failed)\"\(skips) errors=\"\(errored)\""
        }
    }

    private static func decimal(_ seconds: Double) -> String { SignificantDigits.fixed(max(0, seconds), places: 3) }
}

extension RunSummary {
    /// Returns the run as JUnit XML: one case for the run itself, one per subject of the vectors, one per cell.
    ///
    /// Cells that failed or were not checked are failures. A run that was broken off is an error, since it has no
    /// answer yet.
    ///
    /// - Parameter prefix: A prefix for the names of its suites.
    /// - Returns: The suites.
    func junit(prefix: String = "") -> [JUnitDocument.Suite] {
        let header = results.header
        let properties = [
            ("host", header.host.name), ("cpu", header.host.cpuModel), ("chunkwise", header.programVersion),
            ("seed", "\(header.seed)"), ("command", ShellText.joined(header.command)),
        ]
        return [
            JUnitDocument.Suite(
                name: prefix + "chunkwise run", properties: properties.map { (name: $0.0, value: $0.1) },
                cases: [runCase],
                timestamp: header.startedAt.isEmpty ? nil : header.startedAt),
            JUnitDocument.Suite(name: prefix + "chunkwise vectors", cases: results.conformance.map(Self.testCase)),
            JUnitDocument.Suite(name: prefix + "chunkwise cells", cases: cells.map(Self.testCase)),
        ]
    }

    private var runCase: JUnitDocument.Case {
        var outcome = JUnitDocument.Outcome.passed
        if !results.isComplete {
            outcome = .errored(
                message: "the run did not come to its end", type: "incomplete",
                text: omittedTexts.joined(separator: "\n"))
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
                text: (record.cause.map { "\($0.text)\n" } ?? "")
                    + record.failures.prefix(3).map { "\($0.id): \($0.reason)\n" }.joined())
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
    /// The total time of all timed iterations.
    fileprivate var timedSeconds: Double {
        rounds.reduce(0.0) { $0 + $1.reduce(0.0) { $0 + Double($1) } } / 1e9
    }
}
