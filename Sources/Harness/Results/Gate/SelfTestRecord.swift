import Support

/// One line of a self-test's file.
package enum SelfTestRecord: Sendable {
    /// The facts of the whole self-test; the first line.
    case header(SelfTestHeader)
    /// The relation between extra work and slowdown.
    case calibration(SelfTestCalibration)
    /// One whole gate.
    case run(SelfTestRun)
}

/// The facts of a whole self-test.
package struct SelfTestHeader: Codable, Hashable, Sendable {
    /// The version of the format; files of another version are refused.
    package static let currentSchema = "chunkwise-gate-self-test-1"

    /// The schema of the file.
    package var schema = currentSchema
    /// The version of `chunkwise` that measured.
    package var programVersion: String
    /// The command line that repeats the self-test.
    package var command: [String]
    /// The start of the self-test, in ISO 8601.
    package var startedAt: String
    /// The machine.
    package var host: RunHeader.Host
    /// The baseline's command, without this machine's folders.
    package var baseline: String
    /// The cells of each gate.
    package var cells: [Cell]
    /// The tolerance.
    package var tolerance: Double
    /// The confidence of each gate.
    package var confidence: Double
    /// The max time to measure a cell, in seconds.
    package var secondsPerCell: Double
    /// True if all other cores were kept busy.
    package var isBusy: Bool
    /// The seed from which the runs' seeds are drawn.
    package var seed: UInt64

    package init(
        programVersion: String, command: [String], startedAt: String, host: RunHeader.Host, baseline: String,
        cells: [Cell], tolerance: Double, confidence: Double, secondsPerCell: Double, isBusy: Bool,
        seed: UInt64
    ) {
        self.programVersion = programVersion
        self.command = command
        self.startedAt = startedAt
        self.host = host
        self.baseline = baseline
        self.cells = cells
        self.tolerance = tolerance
        self.confidence = confidence
        self.secondsPerCell = secondsPerCell
        self.isBusy = isBusy
        self.seed = seed
    }

    /// Returns the first difference that keeps two self-tests from being one; `nil` if there is none.
    package func difference(from other: SelfTestHeader) -> String? {
        let members: [(String, String, String)] = [
            ("schema", schema, other.schema), ("chunkwise", programVersion, other.programVersion),
            ("CPU", host.cpuModel, other.host.cpuModel), ("baseline", baseline, other.baseline),
            ("cells", "\(cells.map(\.id))", "\(other.cells.map(\.id))"),
            ("tolerance", "\(tolerance)", "\(other.tolerance)"), ("confidence", "\(confidence)", "\(other.confidence)"),
            ("seconds a cell", "\(secondsPerCell)", "\(other.secondsPerCell)"),
            ("busy", "\(isBusy)", "\(other.isBusy)"),
        ]
        return members.first { $0.1 != $0.2 }.map { "its \($0.0) is \($0.1), and not \($0.2)" }
    }
}

/// One whole gate of a self-test.
package struct SelfTestRun: Codable, Hashable, Sendable {
    /// The injected slowdown; 0 for none.
    package var injected: Double
    /// The share of extra work that causes the slowdown.
    package var extraWork: Double
    /// The gate's seed.
    package var seed: UInt64
    /// The gate's verdict.
    package var verdict: GateVerdict
    /// The reason for the verdict, if the cells do not give it.
    package var reason: String?
    /// The duration of the gate in seconds.
    package var seconds: Double
    /// The gate's cells.
    package var cells: [Cell]
    /// The gate's control.
    package var control: Cell?

    /// A cell of a run.
    package struct Cell: Codable, Hashable, Sendable {
        /// The cell's name.
        package var name: String
        /// The verdict on the cell.
        package var verdict: GateVerdict
        /// The reason for the verdict, if the figures do not give it.
        package var reason: String?
        /// The candidate's time over the baseline's.
        package var slowdown: Double?
        /// The lower end of the slowdown's interval.
        package var low: Double?
        /// The upper end of the slowdown's interval.
        package var high: Double?
        /// The time for which the cell was measured, in all phases, in seconds.
        package var seconds: Double
        /// The blocks' log-ratios, a list a phase.
        package var logRatios: [[Double]]

        /// Takes the members that a self-test keeps of a gate's cell.
        package init(_ cell: GateCell) {
            name = cell.name
            verdict = cell.verdict
            reason = cell.reason
            slowdown = cell.slowdown
            low = cell.low
            high = cell.high
            seconds = cell.seconds
            // Rounded to a hundred-millionth, which is far below a block's noise.
            logRatios = cell.phases.map { $0.blocks.map { ($0.logRatio * 1e8).rounded() / 1e8 } }
        }
    }

    /// Takes the members that a self-test keeps of a gate's result.
    package init(injected: Double, extraWork: Double, result: GateResult) {
        self.injected = injected
        self.extraWork = extraWork
        seed = result.seed
        verdict = result.verdict
        reason = result.reason
        seconds = result.seconds
        cells = result.cells.map(Cell.init)
        control = result.control.map(Cell.init)
    }
}

extension SelfTestRecord: Codable {
    /// The only member of a line's object; its name is the kind of the record.
    private enum Key: String, CodingKey {
        case header
        case calibration
        case run
    }

    /// Reads a record: an object with one member, whose name is the kind of the record.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        if let header = try members.decodeIfPresent(SelfTestHeader.self, forKey: .header) {
            self = .header(header)
        } else if let calibration = try members.decodeIfPresent(SelfTestCalibration.self, forKey: .calibration) {
            self = .calibration(calibration)
        } else {
            self = .run(try members.decode(SelfTestRun.self, forKey: .run))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        switch self {
        case .header(let header): try members.encode(header, forKey: .header)
        case .calibration(let calibration): try members.encode(calibration, forKey: .calibration)
        case .run(let run): try members.encode(run, forKey: .run)
        }
    }

    /// The record as one line of JSON, with the newline.
    package var line: [UInt8] { JSONValue(encoding: self).line }
}
