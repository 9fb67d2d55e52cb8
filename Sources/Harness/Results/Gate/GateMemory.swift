import Statistics
import Support

/// The result of a gate for peak memory.
package struct GateMemory: Codable, Hashable, Sendable {
    /// The verdict on a cell's peak memory.
    package enum Verdict: String, Codable, Hashable, Sendable {
        /// Every run of the candidate took more than the limit allows over every run of the baseline.
        case grew
        /// No run of the candidate took more than the limit allows over any run of the baseline.
        case same
        /// Some runs took more, or there is no figure.
        case inconclusive
    }

    /// The peaks of one side, in bytes, in the order of the runs.
    package struct Peaks: Codable, Hashable, Sendable {
        /// The peaks of all runs.
        package var byteCounts: [UInt64]

        package init(byteCounts: [UInt64]) {
            self.byteCounts = byteCounts
        }

        /// The smallest peak; 0 without runs.
        package var minimum: UInt64 { byteCounts.min() ?? 0 }
        /// The largest peak; 0 without runs.
        package var maximum: UInt64 { byteCounts.max() ?? 0 }
        /// The median peak, the lower one of two; 0 without runs.
        package var median: UInt64 { percentile(tenthsOfPercent: 500, of: byteCounts) ?? 0 }
    }

    /// The peaks of one cell.
    package struct Cell: Codable, Hashable, Sendable {
        /// The cell's name.
        package var name: String
        /// The verdict.
        package var verdict: Verdict
        /// The reason for the verdict, if the figures alone do not give it.
        package var reason: String?
        /// The baseline's peaks.
        package var baseline: Peaks
        /// The candidate's peaks.
        package var candidate: Peaks
        /// The number of bytes by which the candidate may exceed the baseline.
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

    /// Returns the verdict on the runs of both sides: `grew` if every run of the candidate exceeds every run of the
    /// baseline by more than the limit.
    package static func verdict(_ baseline: Peaks, _ candidate: Peaks, limitByteCount: UInt64) -> Verdict {
        if candidate.minimum > baseline.maximum.addingSaturated(limitByteCount) { return .grew }
        return candidate.maximum <= baseline.minimum.addingSaturated(limitByteCount) ? .same : .inconclusive
    }

    /// The worst verdict of the cells: `grew`, then `inconclusive`.
    package var verdict: Verdict
    /// The limit as the user gave it.
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

/// The amount of memory by which a candidate may exceed the baseline.
package enum MemoryLimit: Codable, Hashable, Sendable {
    /// A number of bytes.
    case byteCount(UInt64)
    /// A share of the baseline's memory: 0.05 for 5 %.
    case share(Double)

    /// Returns the limit in bytes for a baseline.
    package func byteCount(over baselineByteCount: UInt64) -> UInt64 {
        switch self {
        case .byteCount(let count): count
        case .share(let share): UInt64(nearest: share * Double(baselineByteCount))
        }
    }
}

extension UInt64 {
    /// Returns the sum, or the largest number if the sum exceeds it.
    fileprivate func addingSaturated(_ other: UInt64) -> UInt64 {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }
}
