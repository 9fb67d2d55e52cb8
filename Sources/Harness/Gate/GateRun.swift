import Measurement
package import RandomAccess
package import Results
import Statistics

/// One complete run of a gate.
package struct GateRun {
    /// The programs and cells to compare, and the options.
    package let settings: GateSettings
    private let encryption: any CipherBackend
    private let programVersion: String
    private let command: [String]
    private let startedAt: String

    /// A gate that has not started any process yet.
    ///
    /// - Parameters:
    ///   - settings: The programs and cells to compare, and the options.
    ///   - encryption: The backend that encrypts the objects.
    ///   - programVersion: The version of this program, for the record.
    ///   - command: The command line that repeats the run, for the record.
    ///   - startedAt: The time, in ISO 8601, for the record.
    package init(
        settings: GateSettings, encryption: any CipherBackend, programVersion: String, command: [String] = [],
        startedAt: String = ""
    ) {
        self.settings = settings
        self.encryption = encryption
        self.programVersion = programVersion
        self.command = command
        self.startedAt = startedAt
    }

    /// Runs the gate in a temporary folder, which is removed in any case; prints nothing.
    ///
    /// - Parameters:
    ///   - vectors: The outcome of the candidate's vectors; if one failed, nothing is timed.
    ///   - progress: Called before each block with a message for the user.
    ///   - shouldStop: Called before each round of a block; `true` stops the run.
    /// - Returns: The result.
    /// - Throws: `GateError`.
    package func run(
        vectors: ConformanceRecord? = nil, progress: @escaping (String) -> Void = { _ in },
        shouldStop: @escaping () -> Bool = { false }
    ) throws(GateError) -> GateResult {
        let start = monotonicSeconds()
        let folder: RunFolder
        do {
            folder = try RunFolder.temporary()
        } catch {
            throw .io(error.cause)
        }
        defer { folder.removeTemporary() }
        do { try folder.createObjects() } catch { throw .io(error.cause) }
        let sides = try SidePair(settings, shouldStop: shouldStop)
        var result = GateResult(
            programVersion: programVersion, command: command, startedAt: startedAt, host: ThisHost.describe(),
            baseline: sides.baseline, candidate: sides.candidate, tolerance: settings.tolerance,
            confidence: settings.confidence, secondsPerCell: settings.secondsPerCell, seed: settings.seed,
            verdict: .inconclusive, cells: [], notCompared: [], seconds: 0)
        result.buildCount = settings.buildCount
        result.vectors = vectors
        if let vectors, vectors.failed > 0 {
            result.verdict = .wrong
            result.seconds = monotonicSeconds() - start
            return result
        }
        if let vectors, vectors.passed == 0 {
            result.reason = "nothing was compared: the candidate runs none of the vectors"
            return result
        }
        if let stored = settings.stored, let difference = stored.difference(from: sides, host: result.host) {
            result.notCompared = stored.ratios.map { .init(name: $0.name, reason: difference) }
            result.reason = "nothing was compared: \(difference)"
            return result
        }
        let store = ObjectStore(
            folder: folder.objectFolder, encryption: encryption, strategies: settings.strategies)
        let preparation = CellPreparation(
            pair: ProcessPair(sides, timeout: settings.timeout, shouldStop: shouldStop), store: store,
            settings: settings)
        var prepared: [PreparedCell] = []
        for cell in cells(for: sides) {
            if shouldStop() { throw .interrupted }
            let name = cell.gateName
            progress("comparing digests: \(name)")
            switch try preparation.prepare(cell, name: name) {
            case .notCompared(let reason): result.notCompared.append(.init(name: name, reason: reason))
            case .wrong(let reason):
                result.cells.append(GateCell(name: name, cell: cell, verdict: .wrong, reason: reason))
            case .failed(let reason):
                result.cells.append(GateCell(name: name, cell: cell, verdict: .failed, reason: reason))
            case .ready(let ready):
                let reason = settings.stored?.shortage(of: name, settings: settings)
                if reason == nil { prepared.append(ready) }
                result.cells.append(GateCell(name: name, cell: cell, reason: reason))
            }
        }
        let comparison = Comparison(sides: sides, settings: settings, progress: progress, shouldStop: shouldStop)
        // The shortest cell is the cheapest, and it shows as well as any other whether this host reveals an injected
        // slowdown.
        if let shortest = prepared.min(by: { $0.blockSeconds < $1.blockSeconds }) {
            // A recording needs no control: its ratios have intervals, and it makes no claims.
            let control =
                settings.isRecording
                ? nil : try preparation.prepareControl(beside: shortest, share: settings.rule.injectedShare)
            preparation.pair.end()
            try comparison.run(prepared, control: control, into: &result)
        }
        if let limit = settings.memoryLimit {
            let comparison = MemoryComparison(sides: sides, settings: settings, limit: limit, shouldStop: shouldStop)
            result.memory = try comparison.run(prepared, progress: progress)
        }
        if let limit = settings.countLimit {
            let comparison = CountComparison(
                sides: sides, settings: settings, limit: limit, folder: folder.objectFolder, shouldStop: shouldStop)
            let counts = try comparison.run(prepared, progress: progress)
            if settings.buildCount == nil { result.doubtTimeAlone(counts) }
            result.counts = counts
        }
        result.verdict = GateVerdict.overall(result.cells.map(\.verdict)) ?? .inconclusive
        if let control = result.control?.verdict, control.isBroken { result.verdict = control }
        if result.cells.isEmpty { result.reason = "nothing was compared: expected a cell that both sides support" }
        result.seconds = monotonicSeconds() - start
        return result
    }

    private func cells(for sides: SidePair) -> [Cell] {
        if let stored = settings.stored { return stored.ratios.map(\.cell) }
        if let cells = settings.cells { return DefaultCells.distinct(cells) }
        let common = [16, 32, 24].first { length in sides.both.allSatisfy { $0.keyByteCounts.contains(length) } }
        return DefaultCells.cells(
            keyByteCount: common ?? 16, beyondCaches: DefaultCells.beyondCaches(of: ThisHost.describe()))
    }
}

extension SweepError {
    /// The underlying error of this machine.
    fileprivate var cause: DecryptionError {
        switch self {
        case .io(let error): error
        default: .io(operation: "make a temporary folder", code: 0, reason: "\(self)")
        }
    }
}
