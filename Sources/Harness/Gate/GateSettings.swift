package import Measurement
package import Results

/// What a gate compares, and how thoroughly.
package struct GateSettings: Sendable {
    /// The command line of the baseline, for `/bin/sh -c`; it speaks the subject protocol.
    package var baseline: String
    /// The command line of the candidate.
    package var candidate: String
    /// The cells, or `nil` for a few that both sides can do; their backend, access and threads mean nothing here.
    package var cells: [Cell]?
    /// The traces that cells replay, by their names.
    package var traces: [String: PlayerTrace] = [:]
    /// How much slower the candidate may be: 0.02 for 2 %.
    package var tolerance = 0.02
    /// How often all intervals of a phase together hold the truth, at least.
    package var confidence = 0.95
    /// How long a cell may be measured in each phase, in seconds; its control is not counted.
    package var secondsPerCell = 10.0
    /// What all orders, and the random reads, are drawn from; below 2⁵³.
    package var seed: UInt64
    /// How long each answer of a subject may take.
    package var timeout: Duration = .seconds(60)
    /// How much more memory the candidate may take; `nil` if it is not asked for.
    package var memoryLimit: MemoryLimit?
    /// Ratios that were recorded earlier, with which those of this run are compared; `baseline` is then the reference.
    package var stored: StoredRatios?
    /// Whether cells are measured for all of their seconds, for figures and not for a decision.
    package var isRecording = false

    /// Creates settings.
    package init(baseline: String, candidate: String, cells: [Cell]? = nil, seed: UInt64) {
        self.baseline = baseline
        self.candidate = candidate
        self.cells = cells
        self.seed = seed
    }

    /// The error that each end of all intervals together may have, in the blocks of this run: where stored ratios are
    /// compared with, those may have as much.
    var alpha: Double { (1 - confidence) / (stored == nil ? 2 : 4) }

    /// The rule that the tolerance makes.
    package var rule: GateRule { GateRule(tolerance: tolerance) }
}

/// How much more memory a candidate may take than the baseline.
package enum MemoryLimit: Codable, Hashable, Sendable {
    /// This many bytes.
    case byteCount(UInt64)
    /// This part of what the baseline takes: 0.05 for 5 %.
    case share(Double)

    /// The limit in bytes for a baseline.
    package func byteCount(over baselineByteCount: UInt64) -> UInt64 {
        switch self {
        case .byteCount(let count): count
        case .share(let share): UInt64(min(share * Double(baselineByteCount), 0x1p63))
        }
    }
}
