import Support

/// What a gate found of peak memory.
package struct GateMemory: Codable, Hashable, Sendable {
    /// What is said of a cell's peak memory.
    package enum Verdict: String, Codable, Hashable, Sendable {
        /// Every run of the candidate took more than the limit allows over every run of the baseline.
        case grew
        /// None did.
        case same
        /// Some did, or it could not be told.
        case inconclusive
    }

    /// The peaks of one side, in bytes, in the order of the runs.
    package struct Peaks: Codable, Hashable, Sendable {
        /// All of them.
        package var byteCounts: [UInt64]

        /// Creates a list.
        package init(byteCounts: [UInt64]) {
            self.byteCounts = byteCounts
        }

        /// The smallest; 0 without any.
        package var minimum: UInt64 { byteCounts.min() ?? 0 }
        /// The largest; 0 without any.
        package var maximum: UInt64 { byteCounts.max() ?? 0 }
        /// The middle one, the lower of two; 0 without any.
        package var median: UInt64 {
            byteCounts.isEmpty ? 0 : byteCounts.sorted()[(byteCounts.count - 1) / 2]
        }
    }

    /// One cell.
    package struct Cell: Codable, Hashable, Sendable {
        /// The cell's name.
        package var name: String
        /// The verdict.
        package var verdict: Verdict
        /// Why, where the figures alone do not say it.
        package var reason: String?
        /// The baseline's peaks.
        package var baseline: Peaks
        /// The candidate's peaks.
        package var candidate: Peaks
        /// How many bytes more the candidate may take.
        package var limitByteCount: UInt64

        package init(
            name: String, verdict: Verdict, reason: String? = nil, baseline: Peaks, candidate: Peaks,
            limitByteCount: UInt64
        ) {
            self.name = name
            self.verdict = verdict
            self.reason = reason
            self.baseline = baseline
            self.candidate = candidate
            self.limitByteCount = limitByteCount
        }
    }

    /// Judges by the spreads: whether every run of the candidate took more than any run of the baseline allows.
    package static func verdict(_ baseline: Peaks, _ candidate: Peaks, limitByteCount: UInt64) -> Verdict {
        if candidate.minimum > baseline.maximum.addingSaturated(limitByteCount) { return .grew }
        return candidate.maximum <= baseline.minimum.addingSaturated(limitByteCount) ? .same : .inconclusive
    }

    /// The worst of the cells' verdicts: grew, then inconclusive.
    package var verdict: Verdict
    /// The limit as it was asked for.
    package var limit: MemoryLimit
    /// The cells.
    package var cells: [Cell]

    package init(
        verdict: Verdict, limit: MemoryLimit, cells: [Cell]
    ) {
        self.verdict = verdict
        self.limit = limit
        self.cells = cells
    }
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
        case .share(let share): UInt64(nearest: share * Double(baselineByteCount))
        }
    }
}

extension UInt64 {
    /// The sum, or the largest number if that is too large.
    fileprivate func addingSaturated(_ other: UInt64) -> UInt64 {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }
}
